// For development and tests only: the schema engine of Prisma is not installed in production.
export { migrationDrift, newMigration } from './development/drift.ts';
export { differencesOf, readExpectedObjects, readObjects } from './migrations/objects.ts';
