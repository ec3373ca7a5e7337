import { migrate, migrationState } from '@svc/database';
import {
  createLog,
  createOutbound,
  type HealthCheck,
  type Log,
  type OutboundOptions,
  serve,
  serviceOptionsOf,
} from '@svc/http';
import type { Services } from './api/context.ts';
import { createFleet } from './app.ts';
import { createPasswords } from './auth/passwords.ts';
import { keepChecking } from './auth/provider-checks.ts';
import { loadSigningKey, type SigningKey } from './auth/session-tokens.ts';
import { createSessions } from './auth/sessions.ts';
import { createTemporaryAdmin, type TemporaryAdmin } from './auth/temporary-admin.ts';
import { createSync } from './catalog/sync.ts';
import { readSyncState } from './catalog/sync-state.ts';
import type { CatalogTimings } from './catalog/timings.ts';
import { type Config, readConfig, settingsEnvironmentOf } from './config.ts';
import { type Database, openDatabase } from './database/client.ts';
import { checkEncryptionKeys } from './database/encryption.ts';
import { keepHouse } from './housekeeping.ts';
import { createMachines } from './reconciler/engine-runtime.ts';
import type { ReconcilerTimings } from './reconciler/timings.ts';
import { createSealer } from './sealing.ts';
import { createHubs, createProviders, type Ways } from './settings/connections.ts';
import { createSettings } from './settings/settings.ts';

/** A page of the catalog takes its time; a provider has two seconds, since somebody waits for it. */
const TO_HUB = { timeoutMs: 30_000, maxBytes: 64 * 1024 * 1024 };
const TO_PROVIDER = { timeoutMs: 2000, maxBytes: 512 * 1024 };

/** Left out: those of production. */
export interface FleetTimings {
  readonly catalog?: CatalogTimings;
  readonly reconciler?: ReconcilerTimings;
}

/** Runs the service until it is told to stop. @throws when it can't start, with what is wrong */
export async function startFleet(prismaDir: string, timings: FleetTimings = {}): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog('fleet', config.LOG_LEVEL);
  const database = await openMigrated({ config, log, prismaDir });
  const sealer = createSealer(config.ENCRYPTION_KEYS);
  await checkEncryptionKeys(database, sealer);
  const settings = createSettings(database, sealer, settingsEnvironmentOf(config));
  const [toHub, toProvider] = [waysTo(TO_HUB, config), waysTo(TO_PROVIDER, config)];
  const [hubs, providers] = [createHubs(toHub.ways), createProviders(toProvider.ways)];
  const signingKey = await loadSigningKey(database, sealer);
  const temporaryAdmin = temporaryAdminOf(config, signingKey, log);
  const sync = createSync({
    database,
    log,
    hubNow: async () => {
      const hub = await settings.hub();
      return { hub: hubs.of(hub), intervalSeconds: hub.sync_interval };
    },
    timings: timings.catalog,
  });
  const machines = createMachines({
    database,
    sealer,
    log,
    allowed: config.OUTBOUND_ALLOW,
    timings: timings.reconciler,
  });
  const services: Services = {
    machines,
    database,
    settings,
    sessions: createSessions({ database, sealer, settings, signingKey, temporaryAdmin }),
    passwords: createPasswords(),
    providers,
    hubs,
    sync,
    refusalOf: toProvider.ways.restricted.refusalOf,
    publicUrl: config.PUBLIC_URL,
    corsOrigins: config.CORS_ORIGINS,
  };
  const checks = keepChecking({ database, sealer, settings, providers, log });
  const house = keepHouse({ database, log, auditDays: config.AUDIT_RETENTION_DAYS });
  let stopping = false;
  const { corsOrigins: _, publicUrl: __, ...options } = serviceOptionsOf(config);
  const app = createFleet({
    services,
    health: {
      check: () => health(services, prismaDir),
      get stopping() {
        return stopping;
      },
    },
    log,
    ...options,
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
      const idle = [sync.stop(), checks.stop(), house.stop(), machines.stop()];
      await Promise.all([toHub.close(), toProvider.close()]); // a hub that is slow to answer does not hold up the end
      await Promise.all(idle);
      await database.close();
    },
  });
  sync.start();
  machines.start();
}

/** How requests leave: to where the environment says, and to where somebody set it through the API. */
function waysTo(limits: OutboundOptions, { OUTBOUND_ALLOW }: Config): { readonly ways: Ways; close(): Promise<void> } {
  const trusted = createOutbound(limits);
  const restricted = createOutbound({ ...limits, restrictTo: OUTBOUND_ALLOW });
  return {
    ways: { trusted, restricted },
    close: async () => {
      await Promise.all([trusted.close(), restricted.close()]);
    },
  };
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

function temporaryAdminOf(config: Config, signingKey: SigningKey, log: Log): TemporaryAdmin | undefined {
  const { SVC_TEMP_ADMIN_USERNAME: username, SVC_TEMP_ADMIN_PASSWORD: password } = config;
  if (username === undefined || password === undefined) return undefined;
  log.warn({ username }, 'a temporary admin exists: make a permanent account, then remove SVC_TEMP_ADMIN_*');
  return createTemporaryAdmin({ username, password }, signingKey.secretFor('temporary-admin'));
}

async function health({ database, settings, hubs, providers }: Services, prismaDir: string): Promise<HealthCheck[]> {
  try {
    const pending = await pendingMigrations(database, prismaDir);
    if (pending.length > 0)
      return [{ name: 'database', state: 'failed', detail: `not migrated: ${pending.join(', ')} to apply` }];
    const { url } = hubs.of(await settings.hub()) ?? {};
    const { status, last_failure } = await readSyncState(database, url);
    const hub: HealthCheck =
      status === 'stale' && last_failure
        ? { name: 'hub', state: 'degraded', detail: last_failure.reason }
        : { name: 'hub', state: 'ok' };
    const provider: HealthCheck = providers.of(await settings.oidc())?.failing()
      ? { name: 'identity provider', state: 'degraded', detail: 'it can’t be asked; who is signed in goes on' }
      : { name: 'identity provider', state: 'ok' };
    return [{ name: 'database', state: 'ok' }, hub, provider];
  } catch {
    return [{ name: 'database', state: 'failed', detail: 'not reachable' }];
  }
}
