import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { type Account, serverAccount } from './embedded/account.ts';
import { programFolder } from './embedded/binaries.ts';
import { initialise, placeData, type Storage, saveSnapshot } from './embedded/data-folder.ts';
import { stopOrphan } from './embedded/orphan.ts';
import { freePort, requireFreePort } from './embedded/port.ts';
import { startServer } from './embedded/server.ts';

export { freePort } from './embedded/port.ts';

export type EmbeddedPostgresOptions = {
  /**
   * The data folder of a durable server. Without it, the server is temporary: fast and not durable.
   */
  dataDir?: string;
  /** A folder of `stopWithSnapshot`. A temporary server starts with a copy of it. */
  snapshot?: string;
  /** Whether a temporary server vacuums and analyzes its tables, as a durable one does. Default: false. */
  autovacuum?: boolean;
  /** Default: a free port. */
  port?: number;
  /** The password of the superuser. Required with `dataDir`, and the same at each start. */
  password?: string;
  log?: (line: string) => void;
  /**
   * The folder of the programs of another PostgreSQL of this machine. Default: those of the npm
   * package.
   */
  programs?: string | undefined;
};

export type EmbeddedPostgres = {
  port: number;
  /**
   * The actual data folder. It differs from the requested one if the account of the server cannot
   * enter that folder.
   */
  dataDir: string;
  /** The connection URL of a database, as superuser. */
  url(database: string): string;
  /**
   * Creates the role and its database if they do not exist. Resolves to the connection URL of the
   * role for the database.
   */
  ensureDatabase(options: { name: string; role: string; password: string }): Promise<string>;
  stop(): Promise<void>;
  /** Stops the server, and stores its data in a new folder. An existing folder is kept. */
  stopWithSnapshot(folder: string): Promise<void>;
};

/**
 * Starts PostgreSQL 18 from an npm package, on 127.0.0.1 only. The server stops at the latest when
 * this process exits. Rejects with a message for the user if the port is in use, the folder is not
 * writable, the password is wrong, or the platform is not supported.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const storage = storageOf(options);
  const account = serverAccount();
  const bin = options.programs ?? (await programFolder(account));
  const dataDir = await placeData(storage, account);
  const discard = () => {
    if (storage.kind === 'temporary') fs.rmSync(path.dirname(dataDir), { recursive: true, force: true });
  };
  const { port, stopServer } = await startOn(dataDir, { options, storage, account, bin }).catch((error: unknown) => {
    discard();
    throw error;
  });

  const url = (database: string) => connectionUrl(port, { database, user: 'postgres', password: options.password });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopServer().then(discard);
    return stopped;
  };
  const stopWithSnapshot = async (folder: string) => {
    stopped ??= stopServer('clean')
      .then(() => saveSnapshot(dataDir, folder))
      .finally(discard);
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
    stopWithSnapshot,
    ensureDatabase: async ({ name, role, password }) => {
      await asSuperuser(url('postgres'), (client) => createDatabase(client, { name, role, password }));
      return connectionUrl(port, { database: name, user: role, password });
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

function connectionUrl(port: number, o: { database: string; user: string; password: string | undefined }): string {
  const password = o.password ? `:${encodeURIComponent(o.password)}` : '';
  return `postgresql://${encodeURIComponent(o.user)}${password}@127.0.0.1:${port}/${encodeURIComponent(o.database)}`;
}

function storageOf({ dataDir, password, snapshot, autovacuum = false }: EmbeddedPostgresOptions): Storage {
  if (dataDir === undefined) return { kind: 'temporary', autovacuum, ...(snapshot !== undefined && { snapshot }) };
  if (!password)
    throw new Error(
      `PostgreSQL with the data folder ${dataDir} requires a password. Pass the same password at each start.`,
    );
  return { kind: 'durable', dataDir, password };
}

async function requirePasswords(url: string, dataDir: string): Promise<void> {
  let otherRules: number | null;
  try {
    otherRules = await asSuperuser(url, async (client) => {
      const rules = await client.query(
        "select 1 from pg_hba_file_rules where auth_method is distinct from 'scram-sha-256'",
      );
      return rules.rowCount;
    });
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== '28P01') throw cause;
    throw new Error(`PostgreSQL in ${dataDir} rejects this password. Pass the password of its first start.`, {
      cause,
    });
  }
  if (otherRules) {
    throw new Error(
      `${path.join(dataDir, 'pg_hba.conf')} must not contain authentication methods other than scram-sha-256.`,
    );
  }
}

async function createDatabase(client: pg.Client, o: { name: string; role: string; password: string }): Promise<void> {
  const database = client.escapeIdentifier(o.name);
  const role = client.escapeIdentifier(o.role);
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
