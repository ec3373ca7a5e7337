import fs from 'node:fs';
import path from 'node:path';
import { type EmbeddedPostgres, freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import { onServer } from '../database/databases.ts';
import { eventually } from '../run/eventually.ts';

const PASSWORD = 'test-password';
/** The name of the database and of the role of the tested service. */
const DATABASE = 'service';

/**
 * A durable PostgreSQL server of a test, with functions that cause faults. Signals are sent only to
 * its processes.
 */
export interface OwnPostgres {
  readonly databaseUrl: string;
  /** Kills all processes at once, like a failure of the machine. */
  kill(): Promise<void>;
  /** Starts the server after `kill`, on the same port. */
  restart(): Promise<void>;
  /** Suspends all processes until `thaw`. */
  freeze(): void;
  thaw(): void;
  /**
   * Starts a new file of the write-ahead log. PostgreSQL stops if it must create one on a full
   * disk.
   */
  makeRoomInLog(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server. @param folder a folder that the user of PostgreSQL can enter */
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
      await eventually('PostgreSQL has ended', async () => !pids.some(isAlive));
      await server.stop(); // releases the resources in this process
    },
    restart: async () => {
      server = await startEmbeddedPostgres(options);
    },
    freeze: () => {
      const [postmaster, ...rest] = processesOf(server);
      if (postmaster === undefined) throw new Error('PostgreSQL is not running');
      signal([postmaster], 'SIGSTOP'); // first, so that it cannot start other processes
      frozen = [postmaster, ...new Set([...rest, ...childrenOf(postmaster)])];
      signal(frozen, 'SIGSTOP');
    },
    thaw,
    makeRoomInLog: () =>
      onServer(server.url('postgres'), async (client) => {
        await client.query('SELECT pg_switch_wal()');
        await client.query('CHECKPOINT'); // its record is the first one in the new file
      }),
    stop: async () => {
      thaw();
      await server.stop();
    },
  };
}

/** The postmaster, from the file in the data folder, and its children. */
function processesOf({ dataDir }: EmbeddedPostgres): number[] {
  const postmaster = Number(fs.readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  if (!Number.isInteger(postmaster) || postmaster <= 1)
    throw new Error(`postmaster.pid in ${dataDir} contains no process id`);
  return [postmaster, ...childrenOf(postmaster)];
}

const childrenOf = (parent: number): number[] =>
  fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statOf(Number(name))?.parent === parent)
    .map(Number);

/** Whether a process is running. Zombies count as ended. */
const isAlive = (pid: number): boolean => {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
};

function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name can contain any characters.
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined; // the process does not exist
  }
}
