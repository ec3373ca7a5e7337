import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import type { DoctorReport, FieldError, Send } from '@svc/contract';
import { type Command, exitCodes } from './run-command.ts';
import { SettingsError } from './settings.ts';

/** What a check found. Texts contain no secrets. */
export interface Finding {
  /**
   * `failed`: the service does not start, or does not work. `skipped`: the check needs another one
   * that failed.
   */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly found: string;
  /** What the operator does about it. */
  readonly remedy?: string;
  /** Whether checks that need this one cannot run yet, although nothing is wrong. */
  readonly isIncomplete?: boolean;
}

export interface DoctorCheck {
  readonly name: string;
  /** Names of earlier checks. If one of them failed or was skipped, this one is skipped. */
  readonly needs?: readonly string[];
  run(): Promise<Finding>;
}

export const ok = (found: string): Finding => ({ state: 'ok', found });
export const warning = (found: string, remedy: string): Finding => ({ state: 'warning', found, remedy });
export const failed = (found: string, remedy: string): Finding => ({ state: 'failed', found, remedy });

/** The number of objects that a finding names. */
const NAMED = 5;

interface Counted {
  /** What is counted, as the start of a sentence: `Number of templates with …`. */
  readonly counted: string;
  /** A line for each object. */
  readonly found: readonly string[];
  /** What is stated if there is none. */
  readonly none: string;
  readonly remedy: string;
}

/** A warning with the number of objects and the first of them, if there are any. */
export function countedFinding({ counted, found, none, remedy }: Counted): Finding {
  if (found.length === 0) return ok(none);
  const more = found.length > NAMED ? [`and ${found.length - NAMED} more`] : [];
  return warning([`${counted}: ${found.length}.`, ...found.slice(0, NAMED), ...more].join('\n'), remedy);
}

interface StoredObject {
  readonly id: string;
  readonly name: string;
  readonly problems: readonly FieldError[];
}

/**
 * Finds stored objects with values that can no longer be written. They remain in use.
 * @param kind the kind of the objects, in the singular
 * @param pageAfter reads the objects in the order of their ids, after an id, or the first ones
 */
export async function storedValuesFinding(
  kind: string,
  pageAfter: (id: string | null) => Promise<readonly StoredObject[]>,
): Promise<Finding> {
  const found: string[] = [];
  for (let page = await pageAfter(null); page.length > 0; page = await pageAfter(page.at(-1)?.id ?? null)) {
    for (const { name, problems } of page) {
      const [first] = problems;
      if (first) found.push(`${name}: ${first.path}: ${first.message}`);
    }
  }
  return countedFinding({
    counted: `Number of ${kind}s with values that can no longer be written`,
    found,
    none: `Each ${kind} has values that can be written.`,
    remedy: `They remain in use. Correct the values when you change the ${kind}.`,
  });
}

/** The time limit of each check. Its own calls have shorter limits. */
const CHECK_LIMIT_MS = 8000;
const CLOSE_LIMIT_MS = 2000;

type NamedFinding = Finding & { readonly name: string };

/** The checks, in the order in which they run, and a function that releases what they use. */
export interface DoctorChecks {
  readonly checks: readonly DoctorCheck[];
  close(): Promise<void>;
}

interface DoctorOptions {
  readonly service: string;
  readonly version: string;
  readonly prepare: () => DoctorChecks;
}

/** What the help states about `doctorCommand`. */
export const doctorUsage = {
  summary: 'check the configuration and all dependencies, and print what to do about problems',
  options: { json: { help: 'print one JSON document' } },
} satisfies Omit<Command, 'run'>;

/**
 * The command that checks what a service depends on. It changes nothing. Exits with 1 if a check
 * failed.
 */
export const doctorCommand = ({ prepare, ...named }: DoctorOptions): Command => ({
  ...doctorUsage,
  run: async ({ options }) => {
    const report = await diagnose(prepare(), named);
    console.log(options.json === true ? JSON.stringify(report) : textOf(report));
    return report.healthy ? exitCodes.success : exitCodes.failure;
  },
});

interface Diagnosed extends Pick<DoctorOptions, 'service' | 'version'> {
  /** The time limit of all checks together. Default: none. */
  readonly limitMs?: number | undefined;
}

/** Runs all checks, and releases what they use. */
export async function diagnose(
  { checks, close }: DoctorChecks,
  { service, version, limitMs = Number.POSITIVE_INFINITY }: Diagnosed,
): Promise<DoctorReport> {
  const until = performance.now() + limitMs;
  const findings = await runChecks(checks, () => until - performance.now());
  await withLimit(close(), undefined, CLOSE_LIMIT_MS);
  return { service, version, healthy: findings.every(({ state }) => state !== 'failed'), checks: findings };
}

/** Runs all checks in turn, also after failures, as long as there is time. */
async function runChecks(checks: readonly DoctorCheck[], remainingMs: () => number): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = [];
  /** The names of checks without which others cannot run. */
  const blocking = new Set<string>();
  let isOver = false;
  for (const { name, needs = [], run } of checks) {
    const missing = findings.find((each) => needs.includes(each.name) && blocking.has(each.name));
    const limitMs = Math.min(CHECK_LIMIT_MS, remainingMs());
    const late = failed(
      `No result within ${Math.ceil(limitMs / 1000)} s.`,
      'Check the network and the load of the machine.',
    );
    const finding: Finding =
      isOver || limitMs <= 0
        ? { state: 'skipped', found: 'The earlier checks took all of the time.' }
        : missing
          ? { state: 'skipped', found: `It needs the check "${missing.name}".` }
          : await withLimit(Promise.resolve().then(run).catch(unexpected), late, limitMs);
    // A timer ends up to one millisecond before the clock, because it counts whole milliseconds.
    isOver ||= finding === late && limitMs < CHECK_LIMIT_MS;
    const { isIncomplete = false, ...shown } = finding;
    if (isIncomplete || finding.state === 'failed' || finding.state === 'skipped') blocking.add(name);
    findings.push({ name, ...shown });
  }
  return findings;
}

/** A check that cannot run. */
class Skipped extends Error {}

const unexpected = (error: unknown): Finding =>
  error instanceof Skipped
    ? { state: 'skipped', found: error.message }
    : failed(
        error instanceof Error ? error.message : String(error),
        'Correct the stated problem, and run the command again.',
      );

async function withLimit<T, L>(work: Promise<T>, late: L, limitMs: number): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<L>((resolve) => {
    timer = setTimeout(() => resolve(late), limitMs);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

function textOf({ service, version, checks }: DoctorReport): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 11);
  const lines = checks.flatMap(({ name, state, found, remedy }) => [
    `${state.padEnd(8)} ${name.padEnd(width)}  ${found.replaceAll('\n', `\n${indent}`)}`,
    ...(remedy === undefined ? [] : [`${indent}→ ${remedy}`]),
  ]);
  const count = checks.filter(({ state }) => state === 'failed').length;
  return [`${service} ${version}`, ...lines, count === 0 ? 'No check failed.' : `${count} failed.`].join('\n');
}

/**
 * Checks the configuration. `config` returns it to the later checks. If only optional settings are
 * invalid, it is the configuration without them; otherwise the checks that call it are skipped.
 */
export function configurationCheck<C>(
  read: (environment: NodeJS.ProcessEnv) => C,
  validate: (config: C) => Promise<void> = async () => undefined,
): { readonly check: DoctorCheck; config(): C } {
  let usable: C | undefined;
  const run = async (): Promise<Finding> => {
    try {
      usable = read(process.env);
      await validate(usable);
      return ok('All settings are valid.');
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      const invalid = error.errors.map((each) => each.slice(0, each.indexOf(':')));
      usable ??= readWithout(read, invalid);
      const remedy = 'Correct these environment variables. docs/configuration.md lists the allowed values.';
      return failed(error.errors.join('\n'), remedy);
    }
  };
  const config = () => {
    if (usable === undefined) throw new Skipped('It needs a valid configuration.');
    return usable;
  };
  return { check: { name: 'configuration', run }, config };
}

function readWithout<C>(read: (environment: NodeJS.ProcessEnv) => C, invalid: readonly string[]): C | undefined {
  const rest = Object.entries(process.env).filter(([name]) => !invalid.includes(name));
  try {
    return read(Object.fromEntries(rest));
  } catch {
    return undefined; // a required setting is missing
  }
}

/**
 * The differences of other clocks from the clock of this machine, in milliseconds, by the name of
 * the other side.
 */
export type Clocks = Map<string, number>;

/** Records the time that the responses of another side state, to a whole second. */
export const recordClock =
  (clocks: Clocks, name: string, send: Send): Send =>
  async (request) => {
    const sentAt = Date.now();
    const response = await send(request);
    const stated = Date.parse(response.headers.date ?? '');
    if (!Number.isNaN(stated)) clocks.set(name, stated + 500 - (sentAt + Date.now()) / 2);
    return response;
  };

/** Tokens are accepted up to 5 seconds early or late. */
const CLOCK_FAILED_MS = 5000;
const CLOCK_WARNING_MS = 2000;

/** Compares the clock with those that earlier checks recorded. */
export const clockCheck = (clocks: Clocks): DoctorCheck => ({
  name: 'clock',
  run: async () => {
    const all = [...clocks].map(([name, ms]) => ({
      name,
      ms: Math.abs(ms),
      text: `${name}: ${(ms / 1000).toFixed(1)} s`,
    }));
    if (all.length === 0) return warning('No other clock is known.', 'Correct the problems of the checks above.');
    const found = `Differences from the clock of this machine: ${all.map(({ text }) => text).join(', ')}.`;
    const most = Math.max(...all.map(({ ms }) => ms));
    const remedy = 'Synchronize the clocks of both machines, for example with chrony. Tokens are rejected otherwise.';
    if (most > CLOCK_FAILED_MS) return failed(found, remedy);
    return most > CLOCK_WARNING_MS ? warning(found, remedy) : ok(found);
  },
});

/** Checks that the service can listen. A port on which the service itself runs is fine. */
export const portCheck = (config: () => { readonly HOST: string; readonly PORT: number }): DoctorCheck => ({
  name: 'port',
  run: async () => {
    const { HOST: host, PORT: port } = config();
    const code = await listenCode(host, port);
    if (code === undefined) return ok(`Port ${port} on ${host} is free.`);
    if (code === 'EADDRINUSE') {
      const version = await versionOfService(host, port);
      if (version !== undefined) return ok(`Version ${version} of this service is running on port ${port} on ${host}.`);
      return failed(
        `Port ${port} on ${host} is in use by another program.`,
        'Set PORT to a free port, or end the other program.',
      );
    }
    return failed(
      `Cannot listen on ${host}:${port} (${code}).`,
      'Set HOST to an address of this machine, and PORT to a port above 1023.',
    );
  },
});

/** Listens for a moment. @returns the code of the error; undefined if it is possible */
function listenCode(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

async function versionOfService(host: string, port: number): Promise<string | undefined> {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${address}:${port}/readyz`, { signal: AbortSignal.timeout(2000) });
    const { version, checks } = Object(await response.json());
    return Array.isArray(checks) && typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

const DISK_FAILED_BYTES = 64 * 2 ** 20;
const DISK_WARNING_BYTES = 1024 * 2 ** 20;

/**
 * Checks the free space of the folder for temporary files, and of further folders by their purpose.
 */
export const diskCheck = (folders: () => Readonly<Record<string, string>> = () => ({})): DoctorCheck => ({
  name: 'disk',
  run: async () => {
    const all: { readonly free: number; readonly text: string }[] = [];
    for (const [purpose, folder] of Object.entries({ 'temporary files': tmpdir(), ...folders() })) {
      // It does not exist, or is on another machine.
      const stats = await statfs(folder).catch(() => undefined);
      if (!stats) continue;
      const free = stats.bavail * stats.bsize;
      all.push({ free, text: `${purpose} (${folder}): ${Math.floor(free / 2 ** 20)} MiB free` });
    }
    const found = all.map(({ text }) => text).join(', ');
    const least = Math.min(...all.map(({ free }) => free));
    const remedy = 'Free space on the disk, or enlarge it. PostgreSQL rejects writes when its disk is full.';
    if (least < DISK_FAILED_BYTES) return failed(found, remedy);
    return least < DISK_WARNING_BYTES ? warning(found, remedy) : ok(found || 'No folder of this machine is used.');
  },
});
