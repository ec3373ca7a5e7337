import fs from 'node:fs';
import path from 'node:path';
import { type EmbeddedPostgres, freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import { onServer } from '../databases.ts';
import { eventually } from './eventually.ts';

const PASSWORD = 'only-of-this-test';
/** Of the service that is tested, and of its role. */
const DATABASE = 'service';

/** A PostgreSQL of one test, crash-safe, with the means to harm it. Signals go to its own processes only. */
export interface OwnPostgres {
  readonly databaseUrl: string;
  /** Ends all of its processes at once, as a lost machine would. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, at the same address. */
  restart(): Promise<void>;
  /** Stops all of its processes until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Makes room in its write-ahead log: it stops when it has to begin a new file of that on a full disk. */
  makeRoomInLog(): Promise<void>;
  stop(): Promise<void>;
}

/** @param folder a folder for it, which its user can enter */
export async function startOwnPostgres(folder: string): Promise<OwnPostgres> {
  const options = { dataDir: path.join(folder, 'data'), port: await freePort(), password: PASSWORD };
  let server = await startEmbeddedPostgres(options);
  let frozen: readonly number[] = [];
  const signal = (pids: readonly number[], name: NodeJS.Signals) => {
    for (const pid of pids) if (isAlive(pid)) process.kill(pid, name);
  };
  const thaw = () => {
    signal(frozen, 'SIGCONT');
    frozen = [];
  };
  return {
    databaseUrl: await server.ensureDatabase({ name: DATABASE, role: DATABASE, password: PASSWORD }),
    kill: async () => {
      const pids = processesOf(server);
      signal(pids, 'SIGKILL');
      await eventually('PostgreSQL is gone', async () => !pids.some(isAlive));
      await server.stop(); // lets go of what this process keeps of it
    },
    restart: async () => {
      server = await startEmbeddedPostgres(options);
    },
    freeze: () => {
      const [postmaster, ...rest] = processesOf(server);
      if (postmaster === undefined) throw new Error('PostgreSQL does not run');
      signal([postmaster], 'SIGSTOP'); // first, so that it starts no other meanwhile
      frozen = [postmaster, ...new Set([...rest, ...childrenOf(postmaster)])];
      signal(frozen, 'SIGSTOP');
    },
    thaw,
    makeRoomInLog: () =>
      onServer(server.url('postgres'), async (client) => {
        await client.query('SELECT pg_switch_wal()');
        await client.query('CHECKPOINT'); // what it writes begins the new file
      }),
    stop: async () => {
      thaw();
      await server.stop();
    },
  };
}

/** The postmaster, by the file in its own data folder, and its children. */
function processesOf({ dataDir }: EmbeddedPostgres): number[] {
  const postmaster = Number(fs.readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  if (!Number.isInteger(postmaster) || postmaster <= 1) throw new Error(`no process is named in ${dataDir}`);
  return [postmaster, ...childrenOf(postmaster)];
}

const childrenOf = (parent: number): number[] =>
  fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statOf(Number(name))?.parent === parent)
    .map(Number);

/** A process that has ended and that nobody asked about yet counts as gone. */
const isAlive = (pid: number): boolean => {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
};

function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before it may hold anything
    return { state, parent: Number(parent) };
  } catch {
    return undefined; // no such process
  }
}
