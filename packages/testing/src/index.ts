export { freePort } from '@svc/database/embedded';
export { type Answered, type Api, apiOf, type Wanted } from './api.ts';
export { conformityTo, type Seen } from './conformity.ts';
export { addressOf, createEmptyDatabase, createTestDatabase, onServer, type TestDatabase } from './databases.ts';
export { byDepth, type Depth, depth, figure, seed } from './depth.ts';
export { type LocalIssuer, startLocalIssuer } from './issuer.ts';
export { type LoopbackServer, onLoopback } from './loopback.ts';
export { type StartedProcess, startProcess, untilReady } from './processes.ts';
export { type Expected, type RefusalMatrix, testRefusals } from './refusals.ts';
