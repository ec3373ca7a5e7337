import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@svc/database/embedded';
import { isRunning, markOf, type ProcessMark } from '../../src/process-mark.ts';
import type { Run } from '../../src/run-file.ts';

export const mainScript = path.resolve(import.meta.dirname, '../..', 'dist', 'main.js');

export type Ports = Record<'HUB_PORT' | 'FLEET_PORT' | 'IDP_PORT' | 'POSTGRES_PORT', string>;

/** Four different free ports. */
export async function freePorts(): Promise<Ports> {
  const ports = new Set<number>();
  while (ports.size < 4) ports.add(await freePort());
  const [hub, fleet, identityProvider, postgres] = [...ports].map(String);
  return { HUB_PORT: `${hub}`, FLEET_PORT: `${fleet}`, IDP_PORT: `${identityProvider}`, POSTGRES_PORT: `${postgres}` };
}

export type Product = {
  /** The process ids of the runner and of the processes that it started, by name. */
  pids: Record<string, number>;
  demo: Record<string, string>;
  lines: string[];
  kill(signal: NodeJS.Signals): void;
  /** Waits until the runner has ended. Resolves to its exit code and output, and the names of processes that still run. */
  end(): Promise<{ code: number | null; stderr: string; left: string[] }>;
};

/** A socket without an engine. */
export const NO_ENGINE = 'unix:///nowhere/engine.sock';

/**
 * Starts the built product like `npm start`, with the program `node`, and resolves when it is ready. It finds only the
 * given engine, not those of the machine.
 */
export async function aProduct(
  dataDir: string,
  ports: Ports,
  {
    engine = NO_ENGINE,
    node = process.execPath,
    args = [],
  }: { engine?: string | undefined; node?: string; args?: readonly string[] } = {},
): Promise<Product> {
  const child = spawn(node, [mainScript, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      ...ports,
      DATA_DIR: dataDir,
      DOCKER_HOST: engine,
      NETWORK_POOL: networkPoolOf(ports),
    },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const exit = once(child, 'exit');
  const lines = await linesUntilReady(child);
  if (lines === undefined) throw new Error(`the product ended before it was ready:\n${stderr}`);
  const marks = marksOf(dataDir, lines);
  return {
    pids: Object.fromEntries([...marks].map(([name, mark]) => [name, mark.pid])),
    demo: readDemoEnv(path.join(dataDir, 'demo.env')),
    lines,
    kill: (signal) => void child.kill(signal),
    async end() {
      const [code] = await exit;
      return { code, stderr, left: [...marks].filter(([, mark]) => isRunning(mark)).map(([name]) => name) };
    },
  };
}

/** Products that run at the same time have different pools of networks, because they can share an engine. */
function networkPoolOf({ FLEET_PORT }: Ports): string {
  const part = Number(FLEET_PORT) % 256;
  return `10.${64 + Math.floor(part / 4)}.${64 * (part % 4)}.0/18`;
}

async function linesUntilReady(child: ChildProcess) {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    lines.push(line);
    if (line.startsWith('ready')) return lines;
  }
  return undefined;
}

function marksOf(dataDir: string, lines: string[]): Map<string, ProcessMark> {
  const run: Run = JSON.parse(fs.readFileSync(path.join(dataDir, 'run.json'), 'utf8'));
  const postgresData = lines.join('\n').match(/PostgreSQL's in (.*)$/m)?.[1] ?? '';
  const postgres = markOf(Number.parseInt(fs.readFileSync(path.join(postgresData, 'postmaster.pid'), 'utf8'), 10));
  const marks = new Map<string, ProcessMark>([['runner', run], ...run.services.map((one) => [one.name, one] as const)]);
  return postgres ? marks.set('postgres', postgres) : marks;
}

/** Only the outer quotes are removed, because credentials and URLs contain no quotes. */
function readDemoEnv(file: string) {
  const entries = fs.readFileSync(file, 'utf8').matchAll(/^(\w+)='(.*)'$/gm);
  return Object.fromEntries([...entries].map(([, name, value]) => [name, value]));
}
