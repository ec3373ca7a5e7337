import { providerHealth, startProviderProbes } from '@svc/auth';
import {
  auditProtection,
  createSealer,
  encryptionHealth,
  isDatabaseFailure,
  migrationState,
  prepareDatabase,
  readReplacement,
  replaceableSealer,
  type Sealer,
  schemaMismatch,
  unavailableDatabase,
} from '@svc/database';
import { createAuditDelivery, type Delivery, WEBHOOK_LIMITS } from '@svc/delivery';
import { GIT_OUTBOUND } from '@svc/git';
import {
  type ChangedSettings,
  consoleFolderOf,
  createDiagnosis,
  createLog,
  createOutbound,
  type Dependencies,
  type HealthCheck,
  type Log,
  type OutboundOptions,
  preparationOf,
  reloadOnHangUp,
  serve,
  serviceOptionsOf,
  settingsIn,
  startTracing,
  watchDependencies,
} from '@svc/http';
import { createFleet, type Fleet, type FleetTimings } from './app.ts';
import { auditQueryOf, readRows } from './audit/entries.ts';
import { readSyncState } from './catalog/sync-state.ts';
import { startPruningChanges } from './changes/pruning.ts';
import { type Config, readConfigAndFiles, schema, settingsEnvironmentOf } from './config.ts';
import { type Database, openDatabase } from './database/client.ts';
import { encryptionOf } from './database/encryption.ts';
import { startHousekeeping } from './database/housekeeping.ts';
import { startSealing } from './deployments/values/seal-text.ts';
import { createHashingThreads } from './identity/passwords/hashing.ts';
import { createPasswords } from './identity/passwords/passwords.ts';
import { startProviderChecks } from './identity/sessions/provider-checks.ts';
import { loadSigningKey, type SigningKey } from './identity/sessions/session-tokens.ts';
import { replaceableTemporaryAdmin, requireStrongPassword } from './identity/sessions/temporary-admin.ts';
import type { OutboundRoutes } from './settings/connections.ts';
import { createSettings, type SettingsEnvironment } from './settings/settings.ts';
import { createSources } from './sources/sources.ts';
import { version } from './version.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

/**
 * Limits of outbound requests. Pages of the catalog are large. Requests to a provider are short,
 * because a user waits for them.
 */
const HUB_LIMITS = { destination: 'hub', timeoutMs: 30_000, maxBytes: 64 * 1024 * 1024 } as const;
const PROVIDER_LIMITS = { destination: 'identity_provider', timeoutMs: 2000, maxBytes: 512 * 1024 } as const;

/**
 * Runs the service until it is stopped. The process must accept SIGHUP already.
 * @throws Error with the reason if the service cannot start
 */
export async function startFleet(prismaDir: string, timings: FleetTimings = {}): Promise<void> {
  const initial = readConfigAndFiles(process.env);
  let config = initial.settings;
  await requireStrongPassword(config);
  let dependencies: Dependencies | undefined;
  const log = createLog('fleet', config.LOG_LEVEL, (...given) => dependencies?.holdBack(...given) ?? false);
  const stopTracing = await startTracing({ service: 'fleet', version, log });
  const database = await openMigrated({ config, log, prismaDir });
  const sealer = replaceableSealer(config.ENCRYPTION_KEYS);
  await encryptionOf(database).check(sealer);
  const toHub = createOutboundRoutes(HUB_LIMITS, config);
  const toProvider = createOutboundRoutes(PROVIDER_LIMITS, config);
  const signingKey = await loadSigningKey(database, sealer);
  const temporaryAdmin = temporaryAdminOf(config, signingKey, log);
  const environment: SettingsEnvironment = {
    get oidc() {
      return settingsEnvironmentOf(config).oidc;
    },
    get hub() {
      return settingsEnvironmentOf(config).hub;
    },
  };
  const hashing = createHashingThreads();
  const delivery = createAuditDelivery({
    service: 'fleet',
    settings: () => config,
    query: auditQueryOf(database),
    readAfter: (range) => readRows(database, range),
    log,
  });
  const stopping = new AbortController();
  const { corsOrigins, publicUrl, ...options } = serviceOptionsOf(() => config);
  const toWebhooks = createOutbound({ ...WEBHOOK_LIMITS, restrictTo: config.OUTBOUND_ALLOW });
  const webhooks = createWebhooks({
    database,
    sealer,
    settings: createSettings(database, sealer, environment),
    publicUrl,
    log,
    outbound: toWebhooks,
    timings: timings.webhooks,
  });
  const deliveries = [webhooks.following, ...(delivery ? [delivery] : [])];
  const { app, services, turns }: Fleet = createFleet(
    {
      database,
      sealer,
      signingKey,
      log,
      environment,
      toHub: toHub.routes,
      toProvider: toProvider.routes,
      outboundAllow: config.OUTBOUND_ALLOW,
      passwords: createPasswords({ hashing }),
      temporaryAdmin,
      defaultLimits: { memory_bytes: config.DEFAULT_MEMORY_LIMIT, processes: config.DEFAULT_PROCESS_LIMIT },
      servicePort: config.PORT,
      revealValues: config.REVEAL_VALUES,
      concurrency: config.RECONCILER_CONCURRENCY,
      updateConcurrency: config.UPDATE_CONCURRENCY,
      networkPool: config.NETWORK_POOL,
      publicUrl,
      maxTokenHours: config.OIDC_MAX_TOKEN_HOURS,
      corsOrigins,
      timings,
      diagnose: (settings) =>
        createDiagnosis({
          service: 'fleet',
          version,
          checks: async () => {
            const { checksOfRunning } = await import('./commands/doctor.ts');
            return checksOfRunning(prismaDir, {
              database,
              sealer,
              settings,
              toHub: toHub.routes,
              toProvider: toProvider.routes,
            });
          },
          settings: settingsIn(schema, process.env),
        }),
    },
    {
      ...options,
      health: {
        check: () => watched.check(),
        get stopping() {
          return stopping.signal.aborted;
        },
      },
      stopping: stopping.signal,
      deliveries,
      consoleFolder: consoleFolderOf('fleet', import.meta.url),
    },
  );
  const { changes, engineRuntime, sync, settings, providers } = services;
  const toGit = createOutbound({ ...GIT_OUTBOUND, restrictTo: config.OUTBOUND_ALLOW });
  const sources = createSources({ making: { ...services, ...turns }, log, outbound: toGit, timings: timings.sources });
  const watched = watchDependencies({
    log,
    isOfDatabase: isDatabaseFailure,
    check: () => health(services, { sealer, prismaDir, deliveries }),
  });
  dependencies = watched;
  const probes = startProviderProbes(async () => providers.of(await settings.oidc()));
  const checks = startProviderChecks({ ...services, sealer, log });
  const housekeeping = startHousekeeping({ database, log, auditDays: config.AUDIT_RETENTION_DAYS });
  const pruning = startPruningChanges(database, log);
  const sealing = startSealing({ database, sealer, log });
  await serve({
    app,
    version,
    host: config.HOST,
    port: config.PORT,
    log,
    onStopping: () => {
      stopping.abort();
      void changes.stop(); // its streams would delay the shutdown
    },
    close: async () => {
      watched.stop();
      const idle = [
        probes.stop(),
        sync.stop(),
        checks.stop(),
        housekeeping.stop(),
        sealing.stop(),
        engineRuntime.stop(),
        pruning.stop(),
        changes.stop(),
        delivery?.stop(),
        webhooks.stop(),
        sources.stop(),
      ];
      // Aborts requests, so that a slow hub does not delay the shutdown.
      await Promise.all([toHub.close(), toProvider.close(), toWebhooks.close(), toGit.close()]);
      await Promise.all(idle);
      await hashing.stop();
      await database.close();
      await stopTracing();
    },
  });
  sync.start();
  engineRuntime.start();
  reloadOnHangUp({
    log,
    initial,
    read: () => readConfigAndFiles(process.env),
    prepare: async (changed) => {
      const { after } = changed;
      const target = await replacedTarget(changed);
      if (changed.has('SVC_TEMP_ADMIN_PASSWORD')) await requireStrongPassword(after);
      // Last, because the first key seals a value in the database.
      if (changed.has('ENCRYPTION_KEYS')) await encryptionOf(database).check(createSealer(after.ENCRYPTION_KEYS));
      return () => {
        config = after;
        if (target) database.retarget(target);
        sealer.replace(after.ENCRYPTION_KEYS);
        temporaryAdmin?.replace(after.SVC_TEMP_ADMIN_PASSWORD ?? '');
      };
    },
  });
  delivery?.start();
  webhooks.start();
  sources.start();
  await watched.check().catch(() => undefined); // logs what is not available
}

/** How the database is reached from now on, if that has changed. @throws Error if it cannot be */
const replacedTarget = async ({ before, after, has }: ChangedSettings<Config>) =>
  has('DATABASE_URL') ? readReplacement(before.DATABASE_URL, after.DATABASE_URL) : undefined;

/**
 * Creates the outbound routes for addresses from the environment and for addresses that were set
 * through the API.
 */
function createOutboundRoutes(
  limits: OutboundOptions,
  { OUTBOUND_ALLOW }: Config,
): { readonly routes: OutboundRoutes; close(): Promise<void> } {
  const trusted = createOutbound(limits);
  const restricted = createOutbound({ ...limits, restrictTo: OUTBOUND_ALLOW });
  return {
    routes: { trusted, restricted },
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
  const applied = await prepareDatabase({ prismaDir, ...preparationOf(config) });
  if (applied.length > 0) log.info({ applied }, 'migrated');
  return openDatabase(config.DATABASE_URL, (error) => log.warn({ err: error }, 'database connection lost'), {
    connections: config.DATABASE_CONNECTIONS,
  });
}

function temporaryAdminOf(config: Config, signingKey: SigningKey, log: Log) {
  const { SVC_TEMP_ADMIN_USERNAME: username, SVC_TEMP_ADMIN_PASSWORD: password } = config;
  if (username === undefined || password === undefined) return undefined;
  log.warn({ username }, 'the temporary admin is enabled; create a permanent account, then remove SVC_TEMP_ADMIN_*');
  return replaceableTemporaryAdmin({ username, password }, signingKey.deriveSecret('temporary-admin'));
}

interface Checked {
  readonly sealer: Sealer;
  readonly prismaDir: string;
  readonly deliveries: readonly Delivery[];
}

async function health(
  { database, settings, hubs, providers }: Fleet['services'],
  { sealer, prismaDir, deliveries }: Checked,
): Promise<HealthCheck[]> {
  try {
    const query = (sql: string) => database.client.$queryRawUnsafe(sql);
    const mismatch = schemaMismatch(await migrationState({ prismaDir, query }));
    if (mismatch !== undefined) return [{ name: 'database', state: 'failed', detail: mismatch }];
    const { url } = hubs.of(await settings.hub()) ?? {};
    const { status, last_failure } = await readSyncState(database, url);
    const hub: HealthCheck =
      status === 'stale' && last_failure
        ? { name: 'hub', state: 'degraded', detail: last_failure.reason }
        : { name: 'hub', state: 'ok' };
    const provider = providerHealth(providers.of(await settings.oidc())?.status());
    const ownHealth = [await auditProtection(query), await encryptionHealth(encryptionOf(database), sealer)];
    const ofDelivery = await Promise.all(deliveries.map((delivery) => delivery.health()));
    return [{ name: 'database', state: 'ok' }, ...ownHealth, ...ofDelivery, hub, provider];
  } catch (error) {
    return [unavailableDatabase(error)];
  }
}
