export { ageOfAuditEntries, endOfAuditExport, type StatementQuery, settledAuditNumber } from './audit-order.ts';
export { auditProtection } from './audit-protection.ts';
export { databaseChecks } from './doctor.ts';
export { databaseFacts } from './facts.ts';
export { containing, escapeLike } from './like.ts';
export { migrate } from './migrations/migrate.ts';
export { migrateDatabase, prepareDatabase, schemaMismatch } from './migrations/prepare.ts';
export { type MigrationState, migrationState, type Query } from './migrations/state.ts';
export { type Subscription, subscribe } from './notifications.ts';
export {
  COMMAND_TIMEOUTS,
  createPool,
  type PoolSettings,
  poolOptions,
  type TransactionLimits,
  transactionLimits,
} from './pool.ts';
export { createReader, type Reader, type SnapshotReader } from './reader.ts';
export { createStatementNames, type StatementNames } from './statement-names.ts';
export { type DatabaseTarget, readReplacement, readTarget, retarget } from './target.ts';
export {
  asDatabaseFailure,
  type ConstraintProblems,
  isDatabaseFailure,
  translateDatabaseError,
  unavailableDatabase,
} from './translate-error.ts';
export { translatingClient } from './translating-client.ts';
export { createWordIndex, type SearchedObject, type WordIndex } from './words.ts';
