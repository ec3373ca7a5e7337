export { freePort } from '@svc/database/embedded';
export { type Answered, type Api, type ApiRequest, apiOf } from './api.ts';
export { aCollector, type ExportedSpan } from './collector.ts';
export { conformityTo, type ObservedExchange } from './conformity.ts';
export {
  addressOf,
  type Backup,
  backUp,
  createEmptyDatabase,
  createTestDatabase,
  onServer,
  type TestDatabase,
} from './databases.ts';
export { byDepth, type Depth, depth, figure, fromFull, seed } from './depth.ts';
export { inTurn } from './in-turn.ts';
export { type LocalIssuer, startLocalIssuer } from './issuer.ts';
export { type LoopbackServer, onLoopback } from './loopback.ts';
export { documentedMetrics, reportedMetrics } from './metrics.ts';
export { once } from './once.ts';
export { describeWithPostgresPrograms, postgresPrograms } from './postgres-programs.ts';
export { type StartedProcess, startProcess, untilReady } from './processes.ts';
export { signInByBrowser } from './provider-browser.ts';
export { type Expected, type RefusalMatrix, testRefusals } from './refusals.ts';
export { aServingRole } from './serving-role.ts';
