export { type Answer, holdAnswer, requestIdOf, unavailable } from './answer.ts';
export { type Dialled, type DialOptions, dial, type Exchange, type Streaming } from './dial.ts';
export { etagOfState, etagOfVersion, type Holds, holdsOf, type Matches, matchesOf, Tagged, Unchanged } from './etag.ts';
export { given } from './given.ts';
export type { Health, HealthCheck } from './health.ts';
export { invalid, readQuery } from './input.ts';
export { createLog, type Log, logLevels, pathOf } from './log.ts';
export type { Metrics } from './metrics.ts';
export {
  createOutbound,
  isLocalTarget,
  type Outbound,
  type OutboundAllowance,
  type OutboundOptions,
  OutboundRefused,
} from './outbound.ts';
export { notFound, Problem, type ProblemOptions } from './problem.ts';
export { Redirect } from './redirect.ts';
export { inRounds, type Rounds } from './rounds.ts';
export { AlreadyThere, type Enter, implementFor, type Route, routeFor } from './routes.ts';
export { type Commands, parseOptions, runCommand } from './run-command.ts';
export { createHttpServer, serve } from './serve.ts';
export { createService, type ServiceOptions } from './service.ts';
export * from './settings.ts';
export { type Chunks, Streamed } from './streamed.ts';
