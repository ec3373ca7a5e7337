import type { HoldBack, Log } from '../observe/log.ts';
import type { HealthCheck } from '../request/health.ts';

/** The time until the states are checked again while one of them is not `ok`. */
const RECHECK_MS = 5000;
/** The shortest time between two lines about the same state. */
const REPEAT_MS = 60_000;
/** The number of lines that wait for a check. Further ones are left out. */
const MAX_HELD = 100;

interface DependenciesOptions {
  readonly log: Log;
  /** Checks all dependencies, with a time limit. */
  readonly check: () => Promise<readonly HealthCheck[]>;
  /** Whether an error of a background task is a failure of the database. */
  readonly isOfDatabase: (error: unknown) => boolean;
  /** Default: those of production. */
  readonly recheckMs?: number | undefined;
  readonly repeatMs?: number | undefined;
}

/** The states of what the service depends on, and the lines of the log about them. */
export interface Dependencies {
  /**
   * Checks all dependencies. A state that becomes `degraded` or `failed`, and its end, has one line in
   * the log; while it lasts, a further line each minute.
   */
  check(): Promise<readonly HealthCheck[]>;
  /**
   * Holds back lines of background tasks about failures of the database until a check shows whether
   * the database is available. If it is not, the line about its state replaces them.
   */
  readonly holdBack: HoldBack;
  /** Writes the lines that wait, and ends further checks. */
  stop(): void;
}

/** A dependency that is not available. */
interface Outage {
  readonly text: string;
  readonly since: number;
  loggedAt: number;
}

const DATABASE = 'database';

export function watchDependencies(options: DependenciesOptions): Dependencies {
  const { log, isOfDatabase, recheckMs = RECHECK_MS, repeatMs = REPEAT_MS } = options;
  const outages = new Map<string, Outage>();
  let held: (() => void)[] = [];
  let leftOut = 0;
  let isRunning = false;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const record = ({ name, state, detail, reason }: HealthCheck) => {
    const now = performance.now();
    const outage = outages.get(name);
    const seconds = outage ? { seconds: Math.round((now - outage.since) / 1000) } : {};
    const lines = name === DATABASE && leftOut > 0 ? { lines_left_out: leftOut } : {};
    if (state === 'ok' || state === 'unknown') {
      if (!outage) return;
      outages.delete(name);
      if (name === DATABASE) leftOut = 0;
      log.info({ dependency: name, ...seconds, ...lines }, 'a dependency is available again');
      return;
    }
    const text = `${state} ${detail}`;
    if (outage?.text === text && now - outage.loggedAt < repeatMs) return;
    outages.set(name, { text, since: outage?.since ?? now, loggedAt: now });
    const members = { dependency: name, state, detail, ...(reason === undefined ? {} : { reason }) };
    log.warn({ ...members, ...seconds, ...lines }, 'a dependency is not available');
  };
  const scheduleRecheck = () => {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(recheck, recheckMs).unref();
  };
  const check = async () => {
    const checks = await options.check();
    for (const each of checks) record(each);
    if (checks.some(({ state }) => state !== 'ok')) scheduleRecheck();
    return checks;
  };
  /** Writes the lines that wait, or leaves them out. */
  const release = () => {
    const lines = held;
    held = [];
    if (outages.has(DATABASE)) leftOut += lines.length;
    else for (const write of lines) write();
  };
  const recheck = () => {
    if (isRunning) return;
    isRunning = true;
    check()
      .then(() => undefined, scheduleRecheck) // a check that cannot run shows nothing
      .finally(() => {
        isRunning = false;
        release();
      });
  };
  return {
    check,
    holdBack: (failure, write) => {
      if (isStopped || !isOfDatabase(failure)) return false;
      if (outages.has(DATABASE) || held.length === MAX_HELD) leftOut += 1;
      else {
        held.push(write);
        recheck();
      }
      return true;
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
      release();
    },
  };
}
