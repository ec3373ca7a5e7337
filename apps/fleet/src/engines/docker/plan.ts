import type { DockerManifest, RenderedContainer } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import { isCrashReason, type Reason, SIGKILL_EXIT_CODE, textOfExit, textOfMemoryLimit } from '../errors.ts';
import type { Instance, Process } from '../observation.ts';
import type { DockerTimings } from './client.ts';
import type { FoundContainer } from './containers.ts';

/** The state of a container, and the reason if it has failed. */
export interface ContainerState {
  readonly phase: Instance['phase'];
  readonly message: string;
  readonly reason: Reason | null;
  /** The milliseconds after which the state changes without an event on the engine. */
  readonly changesInMs?: number;
}

/**
 * Whether a container is a job: it terminates when it has completed, and the engine does not
 * restart it.
 */
export const isJob = ({ RestartPolicy }: { readonly RestartPolicy: { readonly Name: string } }): boolean =>
  RestartPolicy.Name === 'no';

/**
 * Whether a container is up, even if only just started. Engines also report containers as running
 * that wait for a restart.
 */
export const isUp = ({ details: { State } }: FoundContainer): boolean => State.Running && !State.Restarting;

/** Derives the state of a container from its details and the clock of its host. */
export function stateOf(found: FoundContainer, timing: DockerTimings): ContainerState {
  const { State: state, HostConfig } = found.details;
  if (state.Restarting) return endedState(found, 'is restarting');
  if (state.Paused) return { phase: 'paused', message: 'is paused', reason: null };
  if (state.Running) return runningState(found, timing);
  if (state.Status === 'created' || state.Status === 'initialized') {
    return { phase: 'created', message: 'is created but not started', reason: null };
  }
  if (state.Status === 'stopping' || state.Status === 'removing') {
    return { phase: 'stopping', message: 'is being stopped', reason: null };
  }
  return isJob(HostConfig) ? jobEndState(found) : stoppedState(found, timing);
}

function runningState({ details, at }: FoundContainer, timing: DockerTimings): ContainerState {
  const { StartedAt, Health } = details.State;
  const isServer = !isJob(details.HostConfig); // a job can complete at any time
  const upFor = at - StartedAt;
  if (Health?.Status === 'unhealthy')
    return { phase: 'unhealthy', message: 'is running, but its health check fails', reason: null };
  if (Health?.Status === 'starting' && (Health.Log || upFor < timing.firstHealthCheck))
    return { phase: 'starting', message: 'is starting: its health check has not passed yet', reason: null };
  if (upFor < timing.settled) {
    const changesInMs = timing.settled - upFor;
    return { phase: 'starting', message: 'has just started', reason: null, ...(isServer && { changesInMs }) };
  }
  const isUnchecked = Health?.Status === 'starting';
  const message = isUnchecked ? 'is running, but its engine does not run its health check' : 'is running';
  return { phase: 'running', message, reason: null };
}

function jobEndState(found: FoundContainer): ContainerState {
  const { ExitCode } = found.details.State;
  if (ExitCode === 0) return { phase: 'completed', message: 'has completed', reason: null };
  const { message, reason } = endedState(found, 'has failed');
  return { phase: 'failed', message, reason: reason === 'OOMKilled' ? reason : 'JobFailed' };
}

/**
 * A container has failed if the engine no longer restarts it or if it exited before it was stable.
 * Otherwise it was stopped outside the fleet.
 */
function stoppedState(found: FoundContainer, { stable }: DockerTimings): ContainerState {
  const { State: state } = found.details;
  const isGivenUp = state.ExitCode !== 0 && !hasRestartsLeft(found);
  if (isGivenUp || state.FinishedAt - state.StartedAt < stable) return endedState(found, 'has crashed');
  return { phase: 'stopped', message: `has stopped (${textOfExit(state.ExitCode)})`, reason: null };
}

/**
 * The state of a container that has ended, although it must run. The exit code 137 alone does not
 * show why a container was killed, so a container has exceeded its memory limit only if its engine
 * reports that.
 */
function endedState({ details }: FoundContainer, what: string): ContainerState {
  const { ExitCode, OOMKilled, Restarting } = details.State;
  const { Memory } = details.HostConfig;
  if (OOMKilled) {
    const killed = ExitCode === SIGKILL_EXIT_CODE ? 'it' : 'one of its processes';
    const message = `${what} (exit code ${ExitCode}): ${killed} was killed because it exceeded ${textOfMemoryLimit(Memory)}`;
    return { phase: 'crashed', message, reason: 'OOMKilled' };
  }
  const code = textOfExit(ExitCode);
  if (ExitCode === 0) {
    return { phase: 'stopped', message: `${Restarting ? what : 'has ended'} (${code})`, reason: 'Exited' };
  }
  return { phase: 'crashed', message: `${what} (${code})`, reason: 'CrashLoop' };
}

/** Whether the engine restarts the container if it fails. */
const hasRestartsLeft = ({ details: { RestartCount, HostConfig } }: FoundContainer): boolean =>
  HostConfig.RestartPolicy.MaximumRetryCount === 0 || RestartCount < HostConfig.RestartPolicy.MaximumRetryCount;

const BODY_LENGTH = 12;

/** The process of a container of a service; undefined for a job, and if it was never started. */
export function processOf(found: FoundContainer, timing: DockerTimings): Process | undefined {
  const { RestartCount, State: state, HostConfig } = found.details;
  if (isJob(HostConfig) || !(state.StartedAt > 0)) return undefined; // a time before 1970 means never
  const { reason } = stateOf(found, timing);
  const upFor = found.at - state.StartedAt;
  const stableInMs = state.Health?.Status === 'healthy' ? 0 : Math.max(0, timing.stable - upFor);
  return {
    instance: found.name,
    id: found.id.slice(0, BODY_LENGTH),
    body: found.digest.slice(0, BODY_LENGTH),
    startedAt: state.StartedAt,
    // Docker counts a restart before it waits for it.
    restarts: state.Restarting ? Math.max(0, RestartCount - 1) : RestartCount,
    ...(isUp(found) && { stableInMs }),
    ...(isCrashReason(reason) && {
      failure: { exitCode: state.ExitCode, reason, startedAt: state.StartedAt },
      restart: { by: isRestartedByEngine(found, timing) ? 'engine' : 'fleet', inMs: undefined },
    }),
  };
}

/** An engine that has not restarted a container within some seconds does not do it any more. */
function isRestartedByEngine(found: FoundContainer, { settled }: DockerTimings): boolean {
  const { State: state } = found.details;
  if (state.Restarting) return true;
  return state.ExitCode !== 0 && hasRestartsLeft(found) && found.at - state.FinishedAt < settled;
}

/** An action on a container. */
export type Step =
  | { readonly do: 'remove'; readonly found: FoundContainer }
  /** The container runs without the requested GPUs. */
  | { readonly do: 'reportMissingGpu'; readonly found: FoundContainer }
  | {
      readonly do: 'start' | 'unpause';
      readonly found: FoundContainer;
      readonly rendered: RenderedContainer;
      readonly why: string;
      /** Whether it is the next attempt of a crash loop, which is no event of its own. */
      readonly isRetry?: boolean;
    }
  | { readonly do: 'create'; readonly rendered: RenderedContainer; readonly replaces?: FoundContainer };

interface PlanOptions {
  readonly timing: DockerTimings;
  /**
   * Milliseconds after which a crashed container is started again. If not set, it is not started.
   */
  readonly retryAfter?: number | undefined;
  /** The id of the image that the containers must run, if it is known. */
  readonly image?: string | undefined;
}

/** A desired container and the existing container for it, if any. */
export interface ContainerPair {
  readonly rendered: RenderedContainer;
  readonly found: FoundContainer | undefined;
  /** The id of the image that it must run, if it is known. */
  readonly image: string | undefined;
}

/**
 * Assigns existing containers to desired ones by ordinal and name. Other containers, also
 * duplicates, are surplus.
 */
export function pairByOrdinal(
  found: readonly FoundContainer[],
  { containers }: DockerManifest<'values'>,
  image?: string,
) {
  const pairs: ContainerPair[] = containers.map((rendered) => ({
    rendered,
    image,
    found: found.find(({ ordinal, name }) => ordinal === rendered.ordinal && name === rendered.name),
  }));
  const kept = new Set(pairs.map((pair) => pair.found));
  return { pairs, surplus: found.filter((container) => !kept.has(container)) };
}

/**
 * Whether an existing container was created from the desired body and image. A container is replaced
 * only if it is not current. The image of a container of an earlier version is not compared.
 */
export const isCurrent = ({ rendered, found, image }: ContainerPair): boolean =>
  found !== undefined &&
  found.digest === rendered.body.Labels[KEYS.body] &&
  found.details.State.Status !== 'dead' &&
  (image === undefined || (found.details.Config.Labels[KEYS.image] ?? image) === image);

/**
 * The actions to take now. Outdated containers are replaced one at a time, each when the previous
 * one is up.
 */
export function planOf(
  found: readonly FoundContainer[],
  manifest: DockerManifest<'values'>,
  rules: PlanOptions,
): Step[] {
  const { pairs, surplus } = pairByOrdinal(found, manifest, rules.image);
  const removals = surplus.map((container): Step => ({ do: 'remove', found: container }));
  const steps = pairs.flatMap((pair) => stepsFor(pair, rules));
  const outdated = pairs.filter((pair) => pair.found && isUp(pair.found) && !isCurrent(pair));
  const mayReplace = steps.length === 0 && pairs.filter(isCurrent).every((pair) => isSettled(pair, rules));
  return [...removals, ...steps, ...(mayReplace ? outdated.slice(0, 1).map(replacement) : [])];
}

const isSettled = ({ found }: ContainerPair, { timing }: PlanOptions): boolean =>
  found !== undefined && ['running', 'completed'].includes(stateOf(found, timing).phase);

const replacement = ({ rendered, found }: ContainerPair): Step => ({
  do: 'create',
  rendered,
  ...(found && { replaces: found }),
});

function stepsFor(pair: ContainerPair, { timing, retryAfter = Number.POSITIVE_INFINITY }: PlanOptions): Step[] {
  const { rendered, found } = pair;
  if (!found) return [{ do: 'create', rendered }];
  if (!isCurrent(pair)) return isUp(found) ? [] : [replacement(pair)];
  if (isUp(found) && lacksGpus(rendered, found)) return [{ do: 'reportMissingGpu', found }];
  const { phase, message, reason } = stateOf(found, timing);
  if (phase === 'created') return [{ do: 'start', found, rendered, why: '' }];
  if (phase === 'stopped' && reason === null) return [{ do: 'start', found, rendered, why: ` again: it ${message}` }];
  if (phase === 'paused') return [{ do: 'unpause', found, rendered, why: '' }];
  const { Restarting, FinishedAt } = found.details.State;
  const isDue = ['crashed', 'stopped'].includes(phase) && !Restarting && found.at - FinishedAt >= retryAfter;
  return isDue ? [{ do: 'start', found, rendered, why: '', isRetry: true }] : [];
}

/** Whether an engine has silently omitted requested GPUs that it cannot provide. */
export const lacksGpus = ({ body }: RenderedContainer, { details }: FoundContainer): boolean =>
  (body.HostConfig.DeviceRequests?.length ?? 0) > 0 &&
  !details.HostConfig.DeviceRequests &&
  !details.HostConfig.Devices;
