export { freePort } from '@svc/database/embedded';
export { type Answered, type Api, type ApiRequest, apiOf } from './api/api.ts';
export { conformityTo, type ObservedExchange } from './api/conformity.ts';
export { type CredentialOwners, credentialFaults, tablesWithKeys } from './api/credential-owners.ts';
export { documentedMetrics, reportedMetrics } from './api/metrics.ts';
export { type Expected, type RefusalMatrix, testRefusals } from './api/refusals.ts';
export { signInByBrowser } from './browser/provider-browser.ts';
export { connectionsBlocked } from './database/blocked.ts';
export {
  addressOf,
  type Backup,
  backUp,
  createEmptyDatabase,
  createTestDatabase,
  onServer,
  type TestDatabase,
} from './database/databases.ts';
export { deletionOf, withReferring } from './database/emptying.ts';
export { describeWithPostgresPrograms, postgresPrograms } from './database/postgres-programs.ts';
export { countingReads, type Read } from './database/reads.ts';
export { aServingRole } from './database/serving-role.ts';
export type { GitCommit, GitFile } from './git/fast-import.ts';
export { aGitServer, type GitFault, type GitServer } from './git/git-server.ts';
export { describeWithGit } from './git/programs.ts';
export { LONG_TEST_MS, scaled } from './run/deadlines.ts';
export { byDepth, type Depth, depth, figure, fromFull, seed } from './run/depth.ts';
export { eventually } from './run/eventually.ts';
export { inTurn } from './run/in-turn.ts';
export { once } from './run/once.ts';
export { type Authority, createAuthority, type Issued } from './servers/authority.ts';
export { aCollector, type ExportedSpan } from './servers/collector.ts';
export { type LocalIssuer, startLocalIssuer } from './servers/issuer.ts';
export { type LoopbackServer, onLoopback } from './servers/loopback.ts';
export { type StartedProcess, startProcess, untilReady } from './servers/processes.ts';
export { type SyslogReceiver, startSyslogReceiver } from './servers/syslog-receiver.ts';
export {
  type ReceivedMessage,
  startWebhookReceiver,
  verifyMessage,
  type WebhookReceiver,
} from './servers/webhook-receiver.ts';
