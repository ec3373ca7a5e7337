export { clientAddress, clientNetworks } from './limits/client-networks.ts';
export { structureProblem } from './limits/json-bounds.ts';
export { createPlaces, type Places } from './limits/places.ts';
export { createTurnQueue, LARGE_PAGES, type TurnQueue } from './limits/turn-queue.ts';
export { createLog, createLogTo, type Log, logLevels, pathOf } from './observe/log.ts';
export type { Metrics } from './observe/metrics.ts';
export { observe, observeDatabase, observePools, type PoolState, type Sample, sharedRead } from './observe/observed.ts';
export { processMetrics } from './observe/process-metrics.ts';
export { currentTracer, startTracing, traced, tracedWithin } from './observe/tracing.ts';
export { reachOf } from './outbound/addresses.ts';
export { codesOf, connectionProblem, failedConnection, refusalIn } from './outbound/connection-problems.ts';
export {
  type DialOptions,
  dial,
  type Exchange,
  type HttpConnection,
  readBody,
  type Streaming,
} from './outbound/dial.ts';
export {
  createOutbound,
  type IncomingBytes,
  isLocalTarget,
  type Outbound,
  type OutboundAllowance,
  type OutboundOptions,
  OutboundRefused,
  type OutgoingBytes,
  resolvesToThisMachine,
  type TargetAllowance,
} from './outbound/outbound.ts';
export { type Dependencies, watchDependencies } from './process/dependencies.ts';
export { createDiagnosis, type Diagnosis, poolFacts, settingsIn } from './process/diagnosis.ts';
export {
  type Clocks,
  clockCheck,
  configurationCheck,
  countedFinding,
  type DoctorCheck,
  type DoctorChecks,
  diagnose,
  diskCheck,
  doctorCommand,
  doctorUsage,
  type Finding,
  failed,
  ok,
  portCheck,
  recordClock,
  storedValuesFinding,
  warning,
} from './process/doctor.ts';
export { type PeriodicTask, runPeriodically, type WakeableTask } from './process/periodic-task.ts';
export { acceptHangUps, type ChangedSettings, reloadOnHangUp } from './process/reload.ts';
export {
  type Command,
  callOf,
  commandUser,
  execute,
  exitCodes,
  type Program,
  parseOptions,
  printing,
  readVersion,
  runProgram,
} from './process/run-command.ts';
export { createHttpServer, serve } from './process/serve.ts';
export * from './process/settings.ts';
export type { AtOnce, KnownCaller } from './request/at-once.ts';
export { consoleFolderOf } from './request/console.ts';
export { readOpenApi } from './request/docs.ts';
export type { Health, HealthCheck } from './request/health.ts';
export { type GivenInput, readJson, readQuery, validateArguments } from './request/input.ts';
export { isSecret } from './request/is-secret.ts';
export { pickDefined } from './request/pick-defined.ts';
export {
  type Enter,
  implementFor,
  MAX_PERFORMED_BYTES,
  type Performed,
  perform,
  type Route,
  refuseLargeRead,
  refuseOtherMethods,
  routeFor,
} from './request/routes.ts';
export { createService, type ServiceOptions } from './request/service.ts';
export { closeConnectionOf } from './response/close-connection.ts';
export {
  etagOfBody,
  etagOfState,
  etagOfVersion,
  type HasEtag,
  hasEtagOf,
  type Matches,
  matchesOf,
  requireVersion,
} from './response/etag.ts';
export { jsonLines } from './response/json-lines.ts';
export {
  bytesOf,
  type LargeReads,
  MAX_PART_BYTES,
  partsOf,
  replyWithPage,
  type Sized,
} from './response/large-page.ts';
export { invalid, notFound, Problem, type ProblemOptions, problemOf } from './response/problem.ts';
export {
  holdResponse,
  jsonResponse,
  notRecorded,
  overloaded,
  type PendingResponse,
  requestIdOf,
  respond,
  unavailable,
} from './response/respond.ts';
export {
  alreadyExists,
  bytesOfRendered,
  type Chunks,
  fileReply,
  isStreamed,
  type Pace,
  type Redirect,
  type Rendered,
  type RenderedParts,
  redirectTo,
  renderedInParts,
  renderedReply,
  type SpecialReply,
  type Streamed,
  streamedReply,
  unchanged,
  withCookies,
  withEtag,
} from './response/special-reply.ts';
