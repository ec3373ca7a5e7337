import { commonStatus, createKeySource, type Probed, providerHealth, startProviderProbes } from '@svc/auth';
import { createProvider, type Provider } from '@svc/auth/oidc';
import type { Send } from '@svc/contract';
import {
  auditProtection,
  createSealer,
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
import {
  type ChangedSettings,
  consoleFolderOf,
  createDiagnosis,
  createLog,
  createOutbound,
  type Dependencies,
  type DoctorChecks,
  type HealthCheck,
  preparationOf,
  reloadOnHangUp,
  serve,
  serviceOptionsOf,
  settingsIn,
  startTracing,
  watchDependencies,
} from '@svc/http';
import { createHub } from './app.ts';
import { auditQueryOf, readRows } from './audit/entries.ts';
import { startAuditRetention } from './audit/retention.ts';
import { startHistoryPruning } from './catalog/history.ts';
import { createCachedCatalog } from './catalog/memory/cached-catalog.ts';
import { startTagRegistration } from './catalog/tags.ts';
import { createUsage, startUsageSync } from './catalog/usage.ts';
import { type Config, readConfigAndFiles, schema } from './config.ts';
import { type Database, openDatabase } from './database/client.ts';
import { encryptionOf } from './database/encryption.ts';
import { startIconFetching } from './icons/fetching.ts';
import { startDeletingExpiredRows } from './identity/expired-rows.ts';
import { version } from './version.ts';
import { createKeys, type Keys } from './webhooks/keys.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

const ISSUER_TIMEOUT_MS = 2000;
const ISSUER_MAX_BYTES = 512 * 1024;

/** Loads the checks of the running service. */
type LoadChecks = (running: { readonly database: Database; readonly send: Send }) => Promise<DoctorChecks>;

/**
 * Runs the service until it receives a signal to stop. The process must accept SIGHUP already.
 * @throws if it cannot start
 */
export async function startHub(prismaDir: string, loadChecks: LoadChecks): Promise<void> {
  const initial = readConfigAndFiles(process.env);
  let config = initial.settings;
  let dependencies: Dependencies | undefined;
  const log = createLog('hub', config.LOG_LEVEL, (...given) => dependencies?.holdBack(...given) ?? false);
  const stopTracing = await startTracing({ service: 'hub', version, log });
  // With MIGRATE_ON_START=false, the hub is not ready until the database is migrated.
  if (config.MIGRATE_ON_START) {
    const applied = await prepareDatabase({ prismaDir, ...preparationOf(config) });
    if (applied.length > 0) log.info({ applied }, 'migrations applied');
  }
  const database = openDatabase(config.DATABASE_URL, (error) => log.warn({ err: error }, 'database connection lost'), {
    connections: config.DATABASE_CONNECTIONS,
  });
  const sealer = config.ENCRYPTION_KEYS && replaceableSealer(config.ENCRYPTION_KEYS);
  if (sealer) await requireOwnKeys(database, sealer);
  const secretKeys = createKeys(database, sealer);
  const outbound = createOutbound({
    destination: 'identity_provider',
    timeoutMs: ISSUER_TIMEOUT_MS,
    maxBytes: ISSUER_MAX_BYTES,
  });
  const keys = createKeySource({ issuer: config.OIDC_ISSUER, send: outbound.send });
  let signIn = signInProvider(config, outbound.send);
  const provider: Probed = {
    probe: () => Promise.all([keys.probe(), signIn?.probe()]),
    status: () => commonStatus([keys.status(), ...(signIn ? [signIn.status()] : [])]),
  };
  const watched = watchDependencies({
    log,
    isOfDatabase: isDatabaseFailure,
    check: async () => [
      ...(await databaseHealth(database, { prismaDir, delivery, keys: secretKeys })),
      providerHealth(provider.status()),
    ],
  });
  dependencies = watched;
  const probes = startProviderProbes(async () => provider);
  const pruning = startHistoryPruning({ database, days: config.CATALOG_HISTORY_DAYS, log });
  const expiredRows = startDeletingExpiredRows({ database, log });
  const icons = startIconFetching({ database, log });
  const tagRegistration = startTagRegistration({ database, log });
  const days = config.AUDIT_RETENTION_DAYS;
  const retention = days === undefined ? undefined : startAuditRetention({ database, days, log });
  const delivery = createAuditDelivery({
    service: 'hub',
    settings: () => config,
    query: auditQueryOf(database),
    readAfter: (range) => readRows(database, range),
    log,
  });
  const toWebhooks = createOutbound({ ...WEBHOOK_LIMITS, restrictTo: config.OUTBOUND_ALLOW });
  const webhooks = createWebhooks({ database, sealer, log, outbound: toWebhooks });
  const catalog = createCachedCatalog(database.reader);
  const usage = createUsage(database.reader, catalog);
  const usageSync = startUsageSync(usage, log);
  const stopping = new AbortController();
  const app = createHub({
    database,
    catalog,
    usage,
    keys: secretKeys,
    refusalOf: toWebhooks.refusalOf,
    provider: {
      get signIn() {
        return signIn;
      },
      issuer: config.OIDC_ISSUER,
      audience: config.OIDC_AUDIENCE,
      keys,
      maxHours: config.OIDC_MAX_TOKEN_HOURS,
      superadminEmails: config.SUPERADMIN_EMAILS,
      superadminSubjects: config.SUPERADMIN_SUBJECTS,
    },
    health: {
      check: watched.check,
      get stopping() {
        return stopping.signal.aborted;
      },
    },
    diagnosis: createDiagnosis({
      service: 'hub',
      version,
      checks: () => loadChecks({ database, send: outbound.send }),
      settings: settingsIn(schema, process.env),
    }),
    stopping: stopping.signal,
    log,
    deliveries: delivery ? [delivery] : [],
    consoleFolder: consoleFolderOf('hub', import.meta.url),
    ...serviceOptionsOf(() => config),
  });
  await serve({
    app,
    version,
    host: config.HOST,
    port: config.PORT,
    log,
    onStopping: () => {
      stopping.abort();
    },
    close: async () => {
      watched.stop();
      await Promise.all([
        probes.stop(),
        pruning.stop(),
        expiredRows.stop(),
        icons.stop(),
        tagRegistration.stop(),
        retention?.stop(),
        delivery?.stop(),
        usageSync.stop(),
        webhooks.stop(),
        toWebhooks.close(), // aborts requests, so that a slow receiver does not delay the shutdown
      ]);
      await Promise.all([database.close(), outbound.close()]);
      await stopTracing();
    },
  });
  reloadOnHangUp({
    log,
    initial,
    read: () => readConfigAndFiles(process.env),
    prepare: async (changed) => {
      const { after } = changed;
      const target = await replacedTarget(changed);
      // Last, because the first key seals a value in the database.
      const encryptionKeys = changed.has('ENCRYPTION_KEYS') ? after.ENCRYPTION_KEYS : undefined;
      if (encryptionKeys) await encryptionOf(database).check(createSealer(encryptionKeys));
      return () => {
        config = after;
        if (target) database.retarget(target);
        if (encryptionKeys) sealer?.replace(encryptionKeys);
        if (changed.has('OIDC_CLIENT_SECRET')) signIn = signInProvider(after, outbound.send);
      };
    },
  });
  delivery?.start();
  webhooks.start();
  await watched.check().catch(() => undefined); // logs what is not available
}

/** How the database is reached from now on, if that has changed. @throws Error if it cannot be */
const replacedTarget = async ({ before, after, has }: ChangedSettings<Config>) =>
  has('DATABASE_URL') ? readReplacement(before.DATABASE_URL, after.DATABASE_URL) : undefined;

/** The client of the hub at the identity provider, for sign-ins to the console. */
const signInProvider = (config: Config, send: Send): Provider | undefined =>
  config.OIDC_CLIENT_ID === undefined
    ? undefined
    : createProvider(
        {
          issuer: config.OIDC_ISSUER,
          clientId: config.OIDC_CLIENT_ID,
          clientSecret: config.OIDC_CLIENT_SECRET,
          allowUserinfo: false,
          offlineAccess: false,
        },
        { send },
      );

/**
 * Checks that the encryption keys belong to the database. A database that is not reachable or not migrated yet does not prevent the
 * start: the keys are checked before they first seal a value. @throws Error if they belong to another database
 */
async function requireOwnKeys(database: Database, sealer: Sealer): Promise<void> {
  await encryptionOf(database)
    .check(sealer)
    .catch((error: unknown) => {
      if (!isDatabaseFailure(error)) throw error;
    });
}

interface Checked {
  readonly prismaDir: string;
  readonly delivery: Delivery | undefined;
  readonly keys: Keys;
}

async function databaseHealth({ client }: Database, { prismaDir, delivery, keys }: Checked): Promise<HealthCheck[]> {
  const query = (sql: string) => client.$queryRawUnsafe(sql);
  try {
    const detail = schemaMismatch(await migrationState({ prismaDir, query }));
    if (detail !== undefined) return [{ name: 'database', state: 'failed', detail }];
    const ofDelivery = delivery ? [await delivery.health()] : [];
    return [{ name: 'database', state: 'ok' }, await auditProtection(query), ...(await keys.health()), ...ofDelivery];
  } catch (error) {
    return [unavailableDatabase(error)];
  }
}
