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
export {
  canaryColumn,
  createEncryption,
  type Encryption,
  encryptionFinding,
  encryptionHealth,
  type SealedColumn,
} from './sealing/encryption.ts';
export { createSealer, type EncryptionKey, replaceableSealer, type Sealer, UnknownKey } from './sealing/sealer.ts';
export { describedKeys, encryptionKeys } from './sealing/setting.ts';
export { createStatementNames, type StatementNames } from './statement-names.ts';
export { statementsOf } from './statements.ts';
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
