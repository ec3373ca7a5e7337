export { aBalancer } from './balancer.ts';
export { holding, migrateAsLaterVersion, mostConnections, queryOn } from './connections.ts';
export { testDatabaseOutage, testTimeouts } from './database-outage.ts';
export { describeOnDisk, whileFull } from './disk.ts';
export { moreAcknowledged } from './ledger.ts';
export { ask, type LoadResult, type RequestOptions, startLoad, statusesOf, summaryOf } from './load.ts';
export type { OwnPostgres } from './own-postgres.ts';
export { patientUrl, prepareFaults, type RunningService } from './prepare.ts';
export { upgradeUnderLoad } from './rolling-restart.ts';
