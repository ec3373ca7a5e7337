export { aBalancer } from './balancer.ts';
export { holding, mostConnections, queryOn } from './connections.ts';
export { testDatabaseOutage, testTimeouts } from './database-outage.ts';
export { describeOnDisk, whileFull } from './disk.ts';
export { eventually } from './eventually.ts';
export { moreAcknowledged } from './ledger.ts';
export { ask, type LoadResult, type RequestOptions, startLoad, statusesOf, summaryOf } from './load.ts';
export type { OwnPostgres } from './own-postgres.ts';
export { prepareFaults, type RunningService } from './prepare.ts';
