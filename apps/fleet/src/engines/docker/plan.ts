import type { DockerManifest, RenderedContainer } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import { isCrashReason, type Reason, SIGKILL_EXIT_CODE, textOfExit, textOfMemoryLimit } from '../errors.ts';
import type { Instance, Process } from '../observation.ts';
import type { DockerTimings } from './client.ts';
import type { FoundContainer, RolloutRules } from './containers.ts';

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

/** Whether a container was created, and has not started yet. */
export const isNeverStarted = ({ details: { State } }: Pick<FoundContainer, 'details'>): boolean =>
  State.Status === 'created' || State.Status === 'initialized';

/** Derives the state of a container from its details and the clock of its host. */
export function stateOf(found: FoundContainer, timing: DockerTimings): ContainerState {
  const { State: state, HostConfig } = found.details;
  if (state.Restarting) return endedState(found, 'is restarting');
  if (state.Paused) return { phase: 'paused', message: 'is paused', reason: null };
  if (state.Running) return runningState(found, timing);
  if (isNeverStarted(found)) {
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
  /** The container is to end next: its addresses are no longer shown. */
  | { readonly do: 'withdraw'; readonly found: FoundContainer }
  | {
      readonly do: 'start' | 'unpause';
      readonly found: FoundContainer;
      readonly rendered: RenderedContainer;
      readonly why: string;
      /** Whether it is the next attempt of a crash loop, which is no event of its own. */
      readonly isRetry?: boolean;
      /** Whether it has another configuration than `rendered`, which does not replace it yet. */
      readonly isOutdated?: boolean;
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
  /** undefined: outdated containers are replaced without an extra one. */
  readonly rollout?: RolloutRules | undefined;
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
 * The actions to take now. Outdated containers are replaced one at a time, each when the current ones
 * are up, and first those that are down. Until then, an outdated container that is down is started
 * again as it is, so that a configuration that does not work replaces one container at most.
 *
 * With an extra container, that one is created first, and the others are replaced when it has been ready for the required time. Its
 * addresses are withdrawn when all others are current and ready, and it is removed when they are proven. A container that serves ends
 * only after its addresses were withdrawn, if another one serves.
 */
export function planOf(
  found: readonly FoundContainer[],
  manifest: DockerManifest<'values'>,
  rules: PlanOptions,
): Step[] {
  const { pairs, surplus } = pairByOrdinal(found, manifest, rules.image);
  const { rollout } = rules;
  const [extras, regular] = partition(pairs, (pair) => isExtra(pair, rollout));
  const kept = regular.filter((pair) => !isOutdated(pair));
  const [atOnce, waiting] = partition(regular.filter(isOutdated), (pair) => mustBeReplaced(pair, rollout));
  const steps = [
    ...kept.flatMap((pair) => stepsFor(pair, rules)),
    ...extras.flatMap((extra) => stepsForExtra(extra, regular, rules)),
  ];
  const isBusy = steps.length > 0 || atOnce.length > 0;
  const mayReplace = !isBusy && mayReplaceNext(pairs, rules);
  const next = mayReplace ? (waiting.find(({ found: container }) => !isUp(container)) ?? waiting[0]) : undefined;
  const ends = [
    ...surplus.map((container): Step => ({ do: 'remove', found: container })),
    ...steps,
    ...waiting.filter((pair) => pair !== next).flatMap((pair) => stepsForOutdated(pair, rules)),
    ...[...atOnce, ...(next ? [next] : [])].map(replacement),
  ];
  return rollout ? ends.map((step) => withdrawnFirst(step, found, rules, rollout)) : ends;
}

/** Whether a desired container exists only during the rollout. */
export const isExtra = ({ rendered }: ContainerPair, rollout: RolloutRules | undefined): boolean =>
  rollout !== undefined && rendered.ordinal >= rollout.replicas;

/** Whether the rollout may replace the next container. */
function mayReplaceNext(pairs: readonly ContainerPair[], rules: PlanOptions): boolean {
  const current = pairs.filter(isCurrent);
  if (!current.every((pair) => isSettled(pair, rules))) return false;
  const { rollout } = rules;
  if (!rollout) return true;
  const waitsForExtra = !rollout.isReturn && pairs.some((pair) => isExtra(pair, rollout));
  return !rollout.isHeld && (!waitsForExtra || (current.length > 0 && rollout.isProven));
}

/** The actions for the extra container. Those of a generation that has failed serve until the others run again. */
function stepsForExtra(extra: ContainerPair, regular: readonly ContainerPair[], rules: PlanOptions): Step[] {
  const { isReturn = false, isHeld = false, isProven = false } = rules.rollout ?? {};
  const { found } = extra;
  if (!isReturn && regular.some(isOutdated)) {
    if (isOutdated(extra)) return [replacement(extra)];
    return found === undefined && isHeld ? [] : stepsFor(extra, rules);
  }
  if (!found) return [];
  if (!isUp(found)) return [{ do: 'remove', found }];
  if (!regular.every((pair) => isCurrent(pair) && isSettled(pair, rules))) return [];
  if (isReturn || isProven) return [{ do: 'remove', found }];
  return serves(found, rules) && publishes(found) ? [{ do: 'withdraw', found }] : [];
}

/** The step, or that the addresses of the container that it ends are withdrawn first. */
function withdrawnFirst(
  step: Step,
  found: readonly FoundContainer[],
  rules: PlanOptions,
  { withdrawn }: RolloutRules,
): Step {
  const ending = step.do === 'remove' ? step.found : step.do === 'create' ? step.replaces : undefined;
  if (!ending || withdrawn.includes(ending.name) || !serves(ending, rules) || !publishes(ending)) return step;
  const isServed = found.some((other) => other.id !== ending.id && serves(other, rules));
  return isServed ? { do: 'withdraw', found: ending } : step;
}

const serves = (found: FoundContainer, { timing }: PlanOptions): boolean => stateOf(found, timing).phase === 'running';

const publishes = ({ details: { HostConfig } }: FoundContainer): boolean =>
  Object.keys(HostConfig.PortBindings ?? {}).length > 0;

const partition = <T>(all: readonly T[], isFirst: (one: T) => boolean): readonly [T[], T[]] => [
  all.filter(isFirst),
  all.filter((one) => !isFirst(one)),
];

type OutdatedPair = ContainerPair & { readonly found: FoundContainer };

const isOutdated = (pair: ContainerPair): pair is OutdatedPair => pair.found !== undefined && !isCurrent(pair);

/** Whether a container may lack files of a generation that is no longer known. */
const mayLackFiles = (found: FoundContainer): boolean =>
  isNeverStarted(found) && KEYS.files in found.details.Config.Labels;

/**
 * Whether an outdated container that is down is not started as it is: the engine could not remove it, it is a job that has ended, it
 * may lack its files, or its generation has failed.
 */
const mustBeReplaced = ({ found }: OutdatedPair, rollout: RolloutRules | undefined): boolean =>
  !isUp(found) &&
  (found.details.State.Status === 'dead' ||
    isJob(found.details.HostConfig) ||
    mayLackFiles(found) ||
    rollout?.isReturn === true);

const isSettled = ({ found }: ContainerPair, { timing }: PlanOptions): boolean =>
  found !== undefined && ['running', 'completed'].includes(stateOf(found, timing).phase);

const replacement = ({ rendered, found }: ContainerPair): Step => ({
  do: 'create',
  rendered,
  ...(found && { replaces: found }),
});

/** The actions for a container that is current or missing. */
function stepsFor({ rendered, found }: ContainerPair, rules: PlanOptions): Step[] {
  if (!found) return [{ do: 'create', rendered }];
  if (isUp(found) && lacksGpus(rendered, found)) return [{ do: 'reportMissingGpu', found }];
  return startsOf({ rendered, found }, rules);
}

/** The actions for an outdated container that is not replaced yet. One that is up is left as it is. */
const stepsForOutdated = (pair: OutdatedPair, rules: PlanOptions): Step[] =>
  isUp(pair.found) ? [] : startsOf(pair, rules).map((step) => ({ ...step, isOutdated: true }));

type Start = Extract<Step, { do: 'start' | 'unpause' }>;

/** How a container that exists is started. */
function startsOf(
  { rendered, found }: Pick<OutdatedPair, 'rendered' | 'found'>,
  { timing, retryAfter = Number.POSITIVE_INFINITY }: PlanOptions,
): Start[] {
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
