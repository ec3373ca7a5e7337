import { z } from 'zod';
import type { CrashLoop } from '../deployments/rows.ts';
import { isCrashReason, textOfExit } from '../engines/errors.ts';
import type { Instance, Observation, Process } from '../engines/observation.ts';

/**
 * What the row of a deployment stores of the process of an instance, to count its starts. `restarts`
 * is the count of the engine.
 */
const storedProcess = z.object({
  id: z.string(),
  body: z.string(),
  started_at: z.number(),
  restarts: z.int(),
  /** The restarts of the instance before the first failure of its crash loop; absent without one. */
  failed_from: z.int().optional(),
});
type StoredProcess = z.output<typeof storedProcess>;

/** An instance in the row of a deployment. `process` is absent in rows of version 0.2.0. */
export const storedInstance = z.object({
  name: z.string(),
  phase: z.string(),
  message: z.string(),
  /** The number of starts after the first one, by the engine and by the fleet. */
  restarts: z.int(),
  process: storedProcess.optional(),
});
export type StoredInstance = z.output<typeof storedInstance>;

/** An instance with the number of all its starts. */
export type CountedInstance = Instance & Pick<StoredInstance, 'process'>;

/** The state of a deployment before a pass. */
interface Before {
  readonly instances: readonly StoredInstance[];
  readonly crash_loop: CrashLoop | null;
  /** Number of failures in a row. */
  readonly failures: number;
}

interface Clock {
  /** The time of the pass, by the clock of the database. */
  readonly now: Date;
  /** Milliseconds until the next try after a number of failures in a row. */
  delayOf(failures: number): number;
  /** Milliseconds until a state in which nothing is expected to change is observed again. */
  readonly resync: number;
  /** Milliseconds until a state that is changing is observed again. */
  readonly progress: number;
}

/** The state of a deployment after a pass. */
interface After {
  readonly observed: Observation & { readonly instances: readonly CountedInstance[] };
  readonly crashLoop: CrashLoop | null;
  readonly failures: number;
}

/**
 * Adds to the observation of a pass what only several passes together show: how often each instance
 * was started, and whether the deployment is in a crash loop. It is in one from the first failure of
 * the process of an instance until no instance is left whose process has failed and is not stable.
 */
export function stateAfter(before: Before, observed: Observation, clock: Clock): After {
  const processes = byInstance(observed.processes);
  const processesBefore = byInstance(observed.processesBefore);
  const known = new Map(before.instances.map((instance) => [instance.name, instance]));
  const instances = observed.instances.map((instance) => {
    const last = known.get(instance.name);
    const found = processesBefore.get(instance.name);
    return instanceAfter(found ? instanceAfter(last, instance, found) : last, instance, processes.get(instance.name));
  });
  const failing = instances.filter(isFailing).flatMap(({ name }) => processes.get(name) ?? []);
  const next = nextTry(before, failing, clock);
  const crashLoop = crashLoopAfter(before, instances, {
    failureOf: (name) => processes.get(name)?.failure ?? processesBefore.get(name)?.failure,
    next,
    now: clock.now,
  });
  const isExplained = observed.reason === null || isCrashReason(observed.reason);
  if (!crashLoop || !isExplained || !MUST_RUN.includes(observed.phase)) {
    return { observed: { ...observed, instances }, crashLoop, failures: failuresAfter(before, observed) };
  }
  const changesInMs = changesIn(observed, failing, { next, clock });
  return {
    observed: { ...inLoop(observed, crashLoop), instances, next: 'soon', changesInMs },
    crashLoop,
    failures: next.failures,
  };
}

const byInstance = (processes: readonly Process[] = []) =>
  new Map(processes.map((process) => [process.instance, process]));

const failuresAfter = ({ failures }: Pick<Before, 'failures'>, { next }: Observation): number =>
  next === 'retry' ? failures + 1 : next === 'soon' ? failures : 0;

/** The phases of a deployment that must run and is not given up. */
const MUST_RUN: readonly Observation['phase'][] = ['starting', 'running', 'degraded', 'retrying'];

const isFailing = ({ process }: Pick<StoredInstance, 'process'>): boolean => process?.failed_from !== undefined;

/** The phases of an instance without a process that is to be started. */
const TO_BE_STARTED: readonly Instance['phase'][] = ['missing', 'created'];

/** An instance with the number of its starts, as far as passes have seen them. */
function instanceAfter(
  before: StoredInstance | undefined,
  instance: Instance,
  process: Process | undefined,
): CountedInstance {
  const last = before?.process;
  if (!process) {
    if (!last) return instance;
    const { failed_from: _, ...ended } = last;
    return {
      ...instance,
      restarts: before.restarts,
      process: TO_BE_STARTED.includes(instance.phase) ? last : ended,
    };
  }
  const { id, body, startedAt, restarts: counted } = process;
  // A container from another body is another instance.
  const isSame = last !== undefined && (last.id === id || last.body === body);
  const previous = isSame ? { restarts: before?.restarts ?? 0, process: last } : undefined;
  const restarts = previous ? previous.restarts + startsSince(previous.process, process) : counted;
  const failedFrom = failedFromAfter(previous, process);
  const stored = { id, body, started_at: startedAt, restarts: counted };
  return {
    ...instance,
    restarts,
    process: failedFrom === undefined ? stored : { ...stored, failed_from: failedFrom },
  };
}

/** The number of starts of an instance since an earlier pass. */
function startsSince(last: StoredProcess, process: Process): number {
  if (isSameStart(last, process)) return 0;
  const byEngine = restartsSince(last, process);
  return continuesCount(last, process) ? byEngine : 1 + byEngine;
}

const isSameStart = (last: StoredProcess, { id, startedAt }: Process): boolean =>
  last.id === id && last.started_at === startedAt;

/**
 * Whether the count of the engine continues. Otherwise it begins again: the container was created
 * again, or started on request.
 */
const continuesCount = (last: StoredProcess, { id, restarts }: Process): boolean =>
  last.id === id && restarts > last.restarts;

/** The number of starts by the engine since an earlier pass. */
function restartsSince(last: StoredProcess, process: Process): number {
  if (isSameStart(last, process)) return 0;
  return continuesCount(last, process) ? process.restarts - last.restarts : process.restarts;
}

/** The restarts of an instance before the first failure of its loop; undefined if it is in none. */
function failedFromAfter(
  previous: { readonly restarts: number; readonly process: StoredProcess } | undefined,
  process: Process,
): number | undefined {
  if (process.stableInMs === 0) return undefined;
  const from = previous?.process.failed_from;
  if (from !== undefined) return from;
  const byEngine = previous ? restartsSince(previous.process, process) : process.restarts;
  return process.failure || byEngine > 0 ? (previous?.restarts ?? 0) : undefined;
}

/** When the instances that have ended are started again. */
interface NextTry {
  readonly at: Date | undefined;
  readonly failures: number;
}

/**
 * The fleet starts instances with increasing delays, which passes in between do not change. Engines
 * have their own delays.
 */
function nextTry({ crash_loop, failures }: Before, failing: readonly Process[], { now, delayOf }: Clock): NextTry {
  if (failing.some(({ restart }) => restart?.by === 'fleet')) {
    const planned = crash_loop?.next_try_at ? new Date(crash_loop.next_try_at) : undefined;
    if (planned && planned > now) return { at: planned, failures };
    return { at: new Date(now.getTime() + delayOf(failures + 1)), failures: failures + 1 };
  }
  const times = failing.flatMap(({ restart }) => (restart?.by === 'engine' ? (restart.inMs ?? []) : []));
  return { at: times.length > 0 ? new Date(now.getTime() + Math.max(0, Math.min(...times))) : undefined, failures };
}

interface Seen {
  /** The latest failure of the process of an instance. */
  failureOf(name: string): Process['failure'];
  readonly next: NextTry;
  readonly now: Date;
}

function crashLoopAfter(
  { instances: before, crash_loop }: Before,
  instances: readonly CountedInstance[],
  { failureOf, next, now }: Seen,
): CrashLoop | null {
  const failing = instances.filter(isFailing);
  const loop = before.some(isFailing) ? crash_loop : null;
  // The instance stays the same for as long as it fails.
  const shown = failing.find(({ name }) => name === loop?.instance) ?? failing[0];
  if (!shown) return null;
  const previous = loop?.instance === shown.name ? loop : undefined;
  const failure = failureOf(shown.name);
  return {
    instance: shown.name,
    attempt: shown.restarts - (shown.process?.failed_from ?? 0) + 1,
    exit_code: failure?.exitCode ?? previous?.exit_code ?? null,
    reason: failure?.reason ?? previous?.reason ?? 'CrashLoop',
    since: loop?.since ?? now.toISOString(),
    next_try_at: next.at?.toISOString() ?? null,
    failed_start_at: failure ? new Date(failure.startedAt).toISOString() : (previous?.failed_start_at ?? null),
  };
}

/** The status of a deployment in a crash loop, also while its next attempt runs. */
function inLoop(observed: Observation, { instance, attempt, exit_code, reason }: CrashLoop): Observation {
  if (observed.reason !== null) return { ...observed, phase: 'degraded' };
  const code = exit_code === null ? '' : ` (${textOfExit(exit_code)})`;
  const known = isCrashReason(reason) ? reason : 'CrashLoop';
  const message = `${instance} is in attempt ${attempt} after a crash${code}. ${observed.message}`;
  return { ...observed, phase: 'degraded', reason: known, message };
}

/** Milliseconds until the state of a deployment in a crash loop is expected to change. */
function changesIn(
  observed: Observation,
  failing: readonly Process[],
  { next, clock }: { readonly next: NextTry; readonly clock: Clock },
): number {
  const isByEngine = failing.some(({ restart }) => restart?.by === 'engine');
  return Math.min(
    clock.resync,
    ...(next.at ? [Math.max(clock.progress, next.at.getTime() - clock.now.getTime())] : []),
    ...(isByEngine && !next.at ? [clock.progress] : []),
    ...(observed.next === 'soon' ? [observed.changesInMs ?? clock.progress] : []),
    ...failing.flatMap(({ stableInMs }) => (stableInMs === undefined ? [] : [stableInMs])),
  );
}
