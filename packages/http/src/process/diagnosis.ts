import { getHeapStatistics } from 'node:v8';
import type { CommonBundle, DoctorReport } from '@svc/contract';
import type { PoolState } from '../observe/observed.ts';
import { overloaded } from '../response/respond.ts';
import { type DoctorChecks, diagnose } from './doctor.ts';

/** The time limit of a diagnosis of a running service. */
const LIMIT_MS = 30_000;

interface DiagnosisOptions {
  readonly service: string;
  readonly version: string;
  /** The checks of the running service. They are loaded when they are first needed. */
  readonly checks: () => Promise<DoctorChecks>;
  /** The names of the settings that the environment sets. */
  readonly settings: readonly string[];
  /** Default: 30 seconds. */
  readonly limitMs?: number | undefined;
}

/** The parts of a support bundle that do not depend on the service. */
type ServiceFacts = Pick<CommonBundle, 'service' | 'version' | 'created_at' | 'doctor' | 'process' | 'settings'>;

/** Diagnoses the running service. It connects only to what is configured. */
export interface Diagnosis {
  /** Runs all checks. @throws 503 `overloaded` if this process runs them already */
  report(): Promise<DoctorReport>;
  /**
   * Runs all checks, and `read` after them. @returns what every bundle contains, and what `read` returned
   * @throws as `report`
   */
  bundle<T extends object>(read: () => Promise<T>): Promise<ServiceFacts & T>;
}

export function createDiagnosis({
  service,
  version,
  checks,
  settings,
  limitMs = LIMIT_MS,
}: DiagnosisOptions): Diagnosis {
  let isRunning = false;
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isRunning) throw overloaded('This replica runs a diagnosis already, and runs one at a time.');
    isRunning = true;
    try {
      return await work();
    } finally {
      isRunning = false;
    }
  };
  const check = async () => diagnose(await checks(), { service, version, limitMs });
  return {
    report: () => alone(check),
    bundle: (read) =>
      alone(async () => {
        const doctor = withoutAddresses(await check());
        const facts = {
          service,
          version,
          created_at: new Date(),
          doctor,
          process: processFacts(),
          settings: [...settings],
        };
        return { ...facts, ...(await read()) };
      }),
  };
}

/** A report in which words that can be addresses of people are replaced. */
const withoutAddresses = (report: DoctorReport): DoctorReport => ({
  ...report,
  checks: report.checks.map(({ remedy, ...check }) => ({
    ...check,
    found: withoutAddress(check.found),
    ...(remedy === undefined ? {} : { remedy: withoutAddress(remedy) }),
  })),
});

const withoutAddress = (text: string): string =>
  text.replace(/\S+/g, (word) => (word.includes('@') ? '[address]' : word));

function processFacts(): CommonBundle['process'] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return {
    node: process.version,
    platform: process.platform,
    arch: process.arch,
    uptime_seconds: Math.round(process.uptime()),
    cpu_seconds: (user + system) / 1_000_000,
    rss_bytes: rss,
    heap_used_bytes: heapUsed,
    heap_limit_bytes: getHeapStatistics().heap_size_limit,
  };
}

/** The names of settings that an environment sets, directly or as a file. */
export const settingsIn = (schema: { readonly shape: object }, environment: NodeJS.ProcessEnv): string[] =>
  Object.keys(schema.shape)
    .flatMap((name) => [name, `${name}_FILE`])
    .filter((name) => (environment[name] ?? '') !== '');

/** The connections of a process, for a support bundle. */
export const poolFacts = (pools: Readonly<Record<string, PoolState>>): NonNullable<CommonBundle['database']>['pools'] =>
  Object.entries(pools).map(([name, { options, totalCount, idleCount, waitingCount }]) => ({
    name,
    max: options.max ?? 0,
    open: totalCount,
    idle: idleCount,
    waiting: waitingCount,
  }));
