import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { type Account, serverAccount } from './embedded/account.ts';
import { programFolder } from './embedded/binaries.ts';
import { initialise, placeData, type Storage } from './embedded/data-folder.ts';
import { stopOrphan } from './embedded/orphan.ts';
import { freePort, requireFreePort } from './embedded/port.ts';
import { startServer } from './embedded/server.ts';

export { freePort } from './embedded/port.ts';

export type EmbeddedPostgresOptions = {
  /** Where to keep the data for good. Without it: a throw-away server, quick and not durable. */
  dataDir?: string;
  /** Default: any free port. */
  port?: number;
  /** Of the superuser; needed with `dataDir`, and the same one at each start. */
  password?: string;
  log?: (line: string) => void;
};

export type EmbeddedPostgres = {
  port: number;
  /** Where the data really is: not where it was wanted when root's substitute can't get there. */
  dataDir: string;
  /** Address of that database, as superuser. */
  url(database: string): string;
  /** Makes the role and its database unless they are there; answers with that role's address of that database. */
  ensureDatabase(wanted: { name: string; role: string; password: string }): Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts the PostgreSQL 18 that comes with npm, on 127.0.0.1 only. It goes down with this process at the latest.
 * Throws one sentence for a port in use, a folder that can't be written, a wrong password, a platform without programs.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const storage = storageOf(options);
  const account = serverAccount();
  const bin = await programFolder(account);
  const dataDir = await placeData(storage, account);
  const discard = () => {
    if (storage.kind === 'temporary') fs.rmSync(path.dirname(dataDir), { recursive: true, force: true });
  };
  const { port, stopServer } = await startOn(dataDir, { options, storage, account, bin }).catch((error: unknown) => {
    discard();
    throw error;
  });

  const url = (database: string) => address(port, { database, user: 'postgres', password: options.password });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopServer().then(discard);
    return stopped;
  };

  try {
    if (storage.kind === 'durable') await requirePasswords(url('postgres'), dataDir);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    dataDir,
    url,
    stop,
    ensureDatabase: async (wanted) => {
      await asSuperuser(url('postgres'), (client) => makeDatabase(client, wanted));
      return address(port, { database: wanted.name, user: wanted.role, password: wanted.password });
    },
  };
}

type Preparation = { options: EmbeddedPostgresOptions; storage: Storage; account: Account; bin: string };

async function startOn(dataDir: string, { options, storage, account, bin }: Preparation) {
  await stopOrphan(dataDir);
  const port = options.port ?? (await freePort());
  await requireFreePort(port);
  await initialise(bin, dataDir, storage, account);
  const stopServer = await startServer({ bin, dataDir, port, storage, account, log: options.log ?? (() => {}) });
  return { port, stopServer };
}

function address(port: number, o: { database: string; user: string; password: string | undefined }): string {
  const password = o.password ? `:${encodeURIComponent(o.password)}` : '';
  return `postgresql://${encodeURIComponent(o.user)}${password}@127.0.0.1:${port}/${encodeURIComponent(o.database)}`;
}

function storageOf({ dataDir, password }: EmbeddedPostgresOptions): Storage {
  if (dataDir === undefined) return { kind: 'temporary' };
  if (!password)
    throw new Error(`PostgreSQL with the data folder ${dataDir} needs a password: pass the same one each time.`);
  return { kind: 'durable', dataDir, password };
}

async function requirePasswords(url: string, dataDir: string): Promise<void> {
  let open: number | null;
  try {
    open = await asSuperuser(url, async (client) => {
      const rules = await client.query(
        "select 1 from pg_hba_file_rules where auth_method is distinct from 'scram-sha-256'",
      );
      return rules.rowCount;
    });
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== '28P01') throw cause;
    throw new Error(`The PostgreSQL in ${dataDir} refuses this password: pass the one that it was made with.`, {
      cause,
    });
  }
  if (open) throw new Error(`${path.join(dataDir, 'pg_hba.conf')} must name scram-sha-256 only: it lets others in.`);
}

async function makeDatabase(client: pg.Client, o: { name: string; role: string; password: string }): Promise<void> {
  const [database, role] = [client.escapeIdentifier(o.name), client.escapeIdentifier(o.role)];
  const roles = await client.query('select 1 from pg_roles where rolname = $1', [o.role]);
  const verb = roles.rowCount ? 'alter' : 'create';
  await client.query(`${verb} role ${role} login password ${client.escapeLiteral(o.password)}`);
  const databases = await client.query('select 1 from pg_database where datname = $1', [o.name]);
  if (databases.rowCount) return;
  await client.query(`create database ${database} owner ${role}`);
  await client.query(`revoke all on database ${database} from public`);
}

async function asSuperuser<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
