import { policyOf } from '../../deployments/updates/policy.ts';
import { isOpen, newRollout, type StoredRollout } from '../../deployments/updates/rollout.ts';
import { isReason } from '../../engines/errors.ts';
import type { Observation } from '../../engines/observation.ts';
import type { CountedInstance, StoredInstance } from '../crash-loop.ts';
import type { ClaimedRow } from '../queue.ts';

type Row = Pick<
  ClaimedRow,
  | 'generation'
  | 'observed_generation'
  | 'good_generation'
  | 'good_is_same'
  | 'rollout'
  | 'rollout_elapsed_ms'
  | 'rollout_observed_at'
  | 'updates'
  | 'cluster_id'
  | 'replicas'
  | 'now'
>;

interface Observed {
  readonly row: Row & { readonly instances: readonly StoredInstance[] };
  /** The state after the pass, with the number of starts of each instance. */
  readonly observed: Pick<Observation, 'phase' | 'reason' | 'message' | 'leaving' | 'actions'> & {
    readonly instances: readonly CountedInstance[];
  };
  readonly drain: number;
  /** Whether the deployment is a service that must run. Jobs and stopped deployments have no rollouts. */
  readonly isService: boolean;
  /** Whether its instances can write to volumes. */
  readonly canWrite: boolean;
}

/** How a rollout continues after a pass. */
export interface RolloutAfter {
  readonly rollout: StoredRollout | null;
  readonly elapsedMs: number;
  /** Milliseconds until the rollout continues or fails without a change of its instances. */
  readonly changesInMs: number | undefined;
  /** Whether the deployment only waits for that time: all instances are ready, and a watch reports a change of them. */
  readonly isWaiting: boolean;
  /** Whether the generation has become the good one, so that what only the rollout needed is released. */
  readonly isGood: boolean;
  /** The generation whose rollout the present one supersedes. */
  readonly supersedes: number | undefined;
  /** Why the rollout has failed in this pass. */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
}

/** The number of crashes of new instances after which a rollout fails. */
const MAX_CRASHES = 3;

/** A pass adds at most this time, so that a fleet that was stopped and a host that was unreachable do not use up the deadline. */
const MAX_PASS_MS = 60_000;

/** Failures that last until the specification or the environment changes. */
const PERMANENT: readonly (string | null)[] = [
  'ImageNotFound',
  'AuthFailed',
  'InvalidSpec',
  'GpuMissing',
  'DeadlineExceeded',
];

/**
 * The rollout after a pass; undefined if it has not changed. A rollout begins with the first pass of a generation. It succeeds when
 * all instances are current and have been ready for a time, and fails with the third crash of a new instance, with a failure that
 * lasts, and at its deadline.
 */
export function rolloutAfter(given: Observed): RolloutAfter | undefined {
  const { row, observed, isService } = given;
  const present = row.rollout?.generation === row.generation ? row.rollout : undefined;
  const superseded = row.rollout && !present && isOpen(row.rollout) ? row.rollout.generation : undefined;
  const unchanged = { elapsedMs: row.rollout_elapsed_ms, changesInMs: undefined, isWaiting: false, failure: undefined };
  if (!isService) {
    const ended = { ...unchanged, rollout: null, isGood: false, supersedes: superseded };
    return row.rollout === null ? undefined : ended;
  }
  const isOfEarlierVersion = row.rollout === null && row.observed_generation === row.generation;
  if (isOfEarlierVersion) {
    const isGood = observed.phase === 'running' && row.good_generation !== row.generation;
    return isGood ? { ...unchanged, rollout: null, isGood, supersedes: undefined } : undefined;
  }
  if (present && ['succeeded', 'rolled_back'].includes(present.state)) return undefined;
  const elapsedMs = present ? row.rollout_elapsed_ms + timeSince(row) : 0;
  return continued(given, seenIn(given, present ?? newRollout(row.generation)), { elapsedMs, supersedes: superseded });
}

const timeSince = ({ rollout_observed_at, now }: Row): number =>
  rollout_observed_at === null ? 0 : Math.min(MAX_PASS_MS, Math.max(0, now.getTime() - rollout_observed_at.getTime()));

/** A rollout with what a pass has seen of its current instances. */
function seenIn({ row, observed }: Observed, rollout: StoredRollout): StoredRollout {
  const current = observed.instances.filter((instance) => instance.current === true);
  const known = new Map(row.instances.map((instance) => [instance.name, instance]));
  const started = current.map((instance) => {
    const { process, restarts } = instance;
    const before = known.get(instance.name);
    const isSame = before?.process !== undefined && process !== undefined && isSameProcess(before.process, process);
    return process === undefined ? 0 : Math.max(0, restarts - (isSame ? before.restarts : 0));
  });
  const allReady = current.length > 0 && current.every(({ ready }) => ready === true);
  return {
    ...rollout,
    restarts: rollout.restarts + started.reduce((sum, count) => sum + count, 0),
    has_run: rollout.has_run || current.some(({ ready, process }) => ready === true || process !== undefined),
    ready_since: allReady ? (rollout.ready_since ?? row.now.toISOString()) : null,
    leaving: Object.fromEntries(
      (observed.leaving ?? []).map((name) => [name, rollout.leaving[name] ?? row.now.toISOString()]),
    ),
  };
}

type Process = NonNullable<StoredInstance['process']>;

const isSameProcess = (one: Process, other: Process): boolean =>
  one.id === other.id || (one.body !== '' && one.body === other.body);

interface Progress {
  readonly elapsedMs: number;
  readonly supersedes: number | undefined;
}

function continued(given: Observed, rollout: StoredRollout, progress: Progress): RolloutAfter {
  const { row } = given;
  const { deadline_seconds } = policyOf(row);
  const provenInMs = timeUntilProven(row, rollout);
  if (isComplete(given, provenInMs)) {
    const state = rollout.failed_generation === null ? 'succeeded' : 'rolled_back';
    const ended: StoredRollout = { ...rollout, state, reason: null, message: '' };
    return { ...progress, rollout: ended, isGood: true, changesInMs: undefined, isWaiting: false, failure: undefined };
  }
  const failure =
    rollout.state === 'progressing'
      ? failureOf(given, rollout, progress.elapsedMs / 1000 >= deadline_seconds)
      : undefined;
  if (failure) {
    const { state, next } = afterFailure(given, rollout);
    const message = `Generation ${row.generation} has failed: ${failure.message} ${next}`;
    const failed = { ...rollout, state, reason: failure.reason, message };
    const changesInMs = state === 'returning' ? 0 : undefined;
    const ended = { rollout: failed, isGood: false, changesInMs, isWaiting: false };
    return { ...progress, ...ended, failure: { ...failure, message } };
  }
  const steps = timesOfSteps(given, rollout, provenInMs).filter((ms) => ms > 0);
  const left = rollout.state === 'progressing' ? [deadline_seconds * 1000 - progress.elapsedMs] : [];
  const waits = [...steps, ...left.filter((ms) => ms > 0)];
  const changesInMs = waits.length > 0 ? Math.min(...waits) : undefined;
  const isWaiting = steps.length > 0 && isSettled(given, rollout);
  return { ...progress, rollout, isGood: false, changesInMs, isWaiting, failure: undefined };
}

/**
 * Milliseconds until the steps for which the rollout waits: until instances are proven, and until clients know that those which end
 * are withdrawn. The extra instance ends when both is true.
 */
function timesOfSteps(
  { row, observed, drain }: Observed,
  { ready_since, leaving }: StoredRollout,
  provenInMs = 0,
): number[] {
  // The next pass acts on new instances that are proven as soon as they are ready.
  const isNewlyReady = ready_since === row.now.toISOString();
  const proven = isNewlyReady ? Math.max(1, provenInMs) : provenInMs;
  const withdrawn = Object.entries(leaving);
  if (withdrawn.length === 0) return [proven];
  const current = observed.instances.filter((instance) => instance.current === true).map(({ name }) => name);
  return withdrawn.map(([name, since]) => {
    const known = drain - (row.now.getTime() - new Date(since).getTime());
    return current.includes(name) ? Math.max(known, proven) : known;
  });
}

/** Whether all instances are ready, also outdated ones, and the pass has changed none. */
const isSettled = ({ row, observed }: Observed, { ready_since }: StoredRollout): boolean =>
  row.cluster_id === null &&
  ready_since !== null &&
  observed.reason === null &&
  observed.actions.length === 0 &&
  observed.instances.every(({ ready }) => ready === true);

/**
 * Milliseconds until the current instances have been ready for the required time; at most 0 if they have, undefined if one is not
 * ready or if there is none.
 */
export function timeUntilProven(
  row: Pick<Row, 'updates' | 'cluster_id' | 'now'>,
  { ready_since }: Pick<StoredRollout, 'ready_since'>,
): number | undefined {
  if (ready_since === null) return undefined;
  return policyOf(row).ready_seconds * 1000 - (row.now.getTime() - new Date(ready_since).getTime());
}

/** Whether all instances are current and have been ready for the required time. Clusters wait for that time themselves. */
function isComplete({ row, observed }: Observed, provenInMs: number | undefined): boolean {
  const { instances, phase } = observed;
  if (row.cluster_id !== null) return phase === 'running';
  const isReady = instances.every(({ current, ready }) => current === true && ready === true);
  return isReady && instances.length === row.replicas && provenInMs !== undefined && provenInMs <= 0;
}

/** The state of a deployment whose rollout has failed: it does not start any more, although old instances are left. */
export function withFailedRollout<T extends Observation>(observed: T, rollout: StoredRollout | null | undefined): T {
  const hasFailed = rollout?.state === 'held' || rollout?.state === 'failed';
  const isStuck = observed.phase === 'starting' && observed.instances.some(({ current }) => current === false);
  if (!hasFailed || !isStuck) return observed;
  const { reason, message } = rollout;
  const known = reason !== null && isReason(reason) ? reason : null;
  return { ...observed, phase: 'degraded', reason: known, message: `${message} ${observed.message}`, next: 'settled' };
}

type Failure = NonNullable<RolloutAfter['failure']>;

function failureOf({ observed }: Observed, rollout: StoredRollout, isOverdue: boolean): Failure | undefined {
  const { reason, message, instances } = observed;
  if (reason !== null && PERMANENT.includes(reason)) return { reason, message };
  const isDown = ({ phase, process }: CountedInstance) =>
    process?.failed_from !== undefined && ['crashed', 'stopped'].includes(phase);
  const down = instances.filter((instance) => instance.current === true && isDown(instance)).length;
  if (rollout.restarts + down >= MAX_CRASHES)
    return {
      reason: reason ?? 'CrashLoop',
      message: `New instances have crashed ${rollout.restarts + down} times. ${message}`,
    };
  return isOverdue
    ? { reason: 'DeadlineExceeded', message: `It is not complete at its deadline. ${message}` }
    : undefined;
}

/** What follows a failure: a return to the last good generation, or the decision of a person. */
function afterFailure(
  { row, canWrite }: Observed,
  { failed_generation, has_run }: StoredRollout,
): { readonly state: StoredRollout['state']; readonly next: string } {
  const { good_generation: good } = row;
  if (failed_generation !== null) return { state: 'failed', next: 'The fleet does not try another generation.' };
  const held = (next: string) => ({ state: 'held' as const, next });
  if (good === null) return held('No earlier generation is known to be good.');
  if (row.good_is_same === true) return held(`The last good generation, ${good}, has the same configuration.`);
  const { on_failure } = policyOf(row);
  if (on_failure === 'stop') return held('The deployment is configured to stop after a failure.');
  if (on_failure === 'auto' && has_run && canWrite) {
    return held(`It has already run with its volumes, so the fleet does not return to generation ${good} by itself.`);
  }
  return { state: 'returning', next: `The fleet returns to generation ${good}.` };
}
