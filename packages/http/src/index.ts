export { clientAddress, clientNetworks } from './client-networks.ts';
export { closeConnectionOf } from './close-connection.ts';
export { consoleFolderOf } from './console.ts';
export { type DialOptions, dial, type Exchange, type HttpConnection, type Streaming } from './dial.ts';
export {
  type Clocks,
  clockCheck,
  configurationCheck,
  type DoctorCheck,
  diskCheck,
  doctorCommand,
  type Finding,
  failed,
  ok,
  portCheck,
  recordClock,
  warning,
} from './doctor.ts';
export {
  etagOfBody,
  etagOfState,
  etagOfVersion,
  type HasEtag,
  hasEtagOf,
  type Matches,
  matchesOf,
  Rendered,
  requireVersion,
  Unchanged,
  WithEtag,
} from './etag.ts';
export type { Health, HealthCheck } from './health.ts';
export { type GivenInput, invalid, readJson, readQuery, validateArguments } from './input.ts';
export { createLog, type Log, logLevels, pathOf } from './log.ts';
export type { Metrics } from './metrics.ts';
export { observe, observeDatabase, observePools, type PoolState, type Sample, sharedRead } from './observed.ts';
export {
  createOutbound,
  isLocalTarget,
  type Outbound,
  type OutboundAllowance,
  type OutboundOptions,
  OutboundRefused,
  resolvesToThisMachine,
  type TargetAllowance,
} from './outbound.ts';
export { type PeriodicTask, runPeriodically, type WakeableTask } from './periodic-task.ts';
export { pickDefined } from './pick-defined.ts';
export { notFound, Problem, type ProblemOptions, problemOf } from './problem.ts';
export { processMetrics } from './process-metrics.ts';
export { Redirect } from './redirect.ts';
export {
  holdResponse,
  jsonResponse,
  notRecorded,
  overloaded,
  type PendingResponse,
  requestIdOf,
  respond,
  unavailable,
} from './respond.ts';
export {
  AlreadyExists,
  type Enter,
  implementFor,
  type Performed,
  perform,
  type Route,
  refuseOtherMethods,
  routeFor,
} from './routes.ts';
export {
  type Command,
  execute,
  type Program,
  parseOptions,
  printing,
  readVersion,
  runProgram,
} from './run-command.ts';
export { createHttpServer, serve } from './serve.ts';
export { createService, type ServiceOptions } from './service.ts';
export * from './settings.ts';
export { type Chunks, type Pace, Streamed } from './streamed.ts';
export { currentTracer, startTracing, traced, tracedWithin } from './tracing.ts';
export { createTurnQueue, type TurnQueue } from './turn-queue.ts';
export { WithCookies } from './with-cookies.ts';
