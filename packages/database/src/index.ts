export { auditProtection } from './audit-protection.ts';
export { containing, escapeLike } from './like.ts';
export { migrate, migrationDrift, newMigration } from './migrations/migrate.ts';
export { migrateDatabase, prepareDatabase, schemaMismatch } from './migrations/prepare.ts';
export { type MigrationState, migrationState, type Query } from './migrations/state.ts';
export { type Subscription, subscribe } from './notifications.ts';
export { type PoolSettings, poolOptions } from './pool.ts';
export { type ConstraintProblems, translateDatabaseError } from './translate-error.ts';
export { translatingClient } from './translating-client.ts';
