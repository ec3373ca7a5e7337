import { hkdfSync } from 'node:crypto';
import { migrate, migrationState } from '@svc/database';
import { createLog, createOutbound, type HealthCheck, type Log, serve, serviceOptionsOf } from '@svc/http';
import { createFleet } from './app.ts';
import { createSessions, type Sessions } from './auth/sessions.ts';
import { loadSigningKey } from './auth/signing-keys.ts';
import { createTemporaryAdmin } from './auth/temporary-admin.ts';
import { connectHub, type Hub } from './catalog/hub.ts';
import { createSync } from './catalog/sync.ts';
import { readSyncState } from './catalog/sync-state.ts';
import { type Config, readConfig } from './config.ts';
import { checkEncryptionKeys } from './database/canary.ts';
import { type Database, openDatabase } from './database/client.ts';
import { createSealer } from './sealing.ts';

const HUB_TIMEOUT_MS = 30_000;
const HUB_MAX_BYTES = 64 * 1024 * 1024;

/** Runs the service until it is told to stop. @throws when it can't start, with what is wrong */
export async function startFleet(prismaDir: string): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog('fleet', config.LOG_LEVEL);
  const database = await openMigrated({ config, log, prismaDir });
  const sessions = await openSessions(database, config, log);
  const outbound = createOutbound({ timeoutMs: HUB_TIMEOUT_MS, maxBytes: HUB_MAX_BYTES });
  const { HUB_URL: url, HUB_API_KEY: apiKey } = config;
  const hub = url !== undefined && apiKey !== undefined ? connectHub({ url, apiKey, send: outbound.send }) : undefined;
  const sync = createSync({ database, hub, log });
  let stopping = false;
  const app = createFleet({
    database,
    sessions,
    sync,
    health: {
      check: () => health({ database, hub, prismaDir }),
      get stopping() {
        return stopping;
      },
    },
    log,
    ...serviceOptionsOf(config),
  });
  await serve({
    app,
    host: config.HOST,
    port: config.PORT,
    log,
    onStopping: () => {
      stopping = true;
    },
    close: async () => {
      const idle = sync.stop();
      await outbound.close(); // a hub that is slow to answer does not hold up the end
      await idle;
      await database.close();
    },
  });
  sync.schedule(config.HUB_SYNC_INTERVAL);
}

interface Start {
  readonly config: Config;
  readonly log: Log;
  readonly prismaDir: string;
}

async function openMigrated({ config, log, prismaDir }: Start): Promise<Database> {
  if (config.MIGRATE_ON_START) {
    const applied = await migrate({ prismaDir, databaseUrl: config.DATABASE_URL });
    if (applied.length > 0) log.info({ applied }, 'migrated');
  }
  const database = openDatabase(config.DATABASE_URL, (error) =>
    log.warn({ err: error }, 'a database connection was lost'),
  );
  const pending = await pendingMigrations(database, prismaDir);
  if (pending.length === 0) return database;
  throw new Error(`The database lacks ${pending.join(', ')}: run the command migrate, or leave MIGRATE_ON_START out.`);
}

async function pendingMigrations({ client }: Database, prismaDir: string): Promise<readonly string[]> {
  const { pending } = await migrationState({ prismaDir, query: (sql) => client.$queryRawUnsafe(sql) });
  return pending;
}

async function openSessions(database: Database, config: Config, log: Log): Promise<Sessions> {
  const sealer = createSealer(config.ENCRYPTION_KEYS);
  await checkEncryptionKeys(database, sealer);
  const signingKey = await loadSigningKey(database, sealer);
  const { SVC_TEMP_ADMIN_USERNAME: username, SVC_TEMP_ADMIN_PASSWORD: password } = config;
  const [first] = config.ENCRYPTION_KEYS;
  if (username === undefined || password === undefined || !first) {
    return createSessions({ database, signingKey, temporaryAdmin: undefined });
  }
  log.warn({ username }, 'a temporary admin exists: make a permanent account, then remove SVC_TEMP_ADMIN_*');
  const key = new Uint8Array(hkdfSync('sha256', first.key, '', 'temporary-admin-fingerprint', 32));
  return createSessions({ database, signingKey, temporaryAdmin: createTemporaryAdmin({ username, password }, key) });
}

interface Needs {
  readonly database: Database;
  readonly hub: Hub | undefined;
  readonly prismaDir: string;
}

async function health({ database, hub, prismaDir }: Needs): Promise<HealthCheck[]> {
  try {
    const pending = await pendingMigrations(database, prismaDir);
    if (pending.length > 0)
      return [{ name: 'database', state: 'failed', detail: `not migrated: ${pending.join(', ')} to apply` }];
    const { status, last_failure } = await readSyncState(database, hub?.url);
    const stale =
      status === 'stale' && last_failure
        ? { state: 'degraded' as const, detail: last_failure.reason }
        : { state: 'ok' as const };
    return [
      { name: 'database', state: 'ok' },
      { name: 'hub', ...stale },
    ];
  } catch {
    return [{ name: 'database', state: 'failed', detail: 'not reachable' }];
  }
}
