import { createKeySource } from '@svc/auth';
import { createProvider, type Provider } from '@svc/auth/oidc';
import type { Send } from '@svc/contract';
import { auditProtection, migrationState, prepareDatabase, schemaMismatch } from '@svc/database';
import {
  consoleFolderOf,
  createDiagnosis,
  createLog,
  createOutbound,
  type DoctorChecks,
  type HealthCheck,
  preparationOf,
  serve,
  serviceOptionsOf,
  settingsIn,
  startTracing,
} from '@svc/http';
import { createHub } from './app.ts';
import { startAuditRetention } from './audit/retention.ts';
import { startHistoryPruning } from './catalog/history.ts';
import { createCachedCatalog } from './catalog/memory/cached-catalog.ts';
import { startTagRegistration } from './catalog/tags.ts';
import { createUsage, startUsageSync } from './catalog/usage.ts';
import { type Config, readConfig, schema } from './config.ts';
import { type Database, openDatabase } from './database/client.ts';
import { startIconFetching } from './icons/fetching.ts';
import { startDeletingExpiredRows } from './identity/expired-rows.ts';
import { version } from './version.ts';

const ISSUER_TIMEOUT_MS = 2000;
const ISSUER_MAX_BYTES = 512 * 1024;

/** Loads the checks of the running service. */
type LoadChecks = (running: { readonly database: Database; readonly send: Send }) => Promise<DoctorChecks>;

/** Runs the service until it receives a signal to stop. @throws if it cannot start */
export async function startHub(prismaDir: string, loadChecks: LoadChecks): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog('hub', config.LOG_LEVEL);
  const stopTracing = await startTracing({ service: 'hub', version, log });
  // With MIGRATE_ON_START=false, the hub is not ready until the database is migrated.
  if (config.MIGRATE_ON_START) {
    const applied = await prepareDatabase({ prismaDir, ...preparationOf(config) });
    if (applied.length > 0) log.info({ applied }, 'migrations applied');
  }
  const database = openDatabase(config.DATABASE_URL, (error) => log.warn({ err: error }, 'database connection lost'), {
    connections: config.DATABASE_CONNECTIONS,
  });
  const outbound = createOutbound({
    destination: 'identity_provider',
    timeoutMs: ISSUER_TIMEOUT_MS,
    maxBytes: ISSUER_MAX_BYTES,
  });
  const keys = createKeySource({ issuer: config.OIDC_ISSUER, send: outbound.send });
  const pruning = startHistoryPruning({ database, days: config.CATALOG_HISTORY_DAYS, log });
  const expiredRows = startDeletingExpiredRows({ database, log });
  const icons = startIconFetching({ database, log });
  const signIn = signInProvider(config, outbound.send);
  const tagRegistration = startTagRegistration({ database, log });
  const days = config.AUDIT_RETENTION_DAYS;
  const retention = days === undefined ? undefined : startAuditRetention({ database, days, log });
  const catalog = createCachedCatalog(database.reader);
  const usage = createUsage(database.reader, catalog);
  const usageSync = startUsageSync(usage, log);
  const stopping = new AbortController();
  const app = createHub({
    database,
    catalog,
    usage,
    provider: {
      signIn,
      issuer: config.OIDC_ISSUER,
      audience: config.OIDC_AUDIENCE,
      keys,
      maxHours: config.OIDC_MAX_TOKEN_HOURS,
      superadminEmails: config.SUPERADMIN_EMAILS,
      superadminSubjects: config.SUPERADMIN_SUBJECTS,
    },
    health: {
      check: async () => [
        ...(await databaseHealth(database, prismaDir)),
        providerHealth(keys.failing() || signIn?.failing() === true),
      ],
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
    consoleFolder: consoleFolderOf('hub', import.meta.url),
    ...serviceOptionsOf(config),
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
      await Promise.all([
        pruning.stop(),
        expiredRows.stop(),
        icons.stop(),
        tagRegistration.stop(),
        retention?.stop(),
        usageSync.stop(),
      ]);
      await Promise.all([database.close(), outbound.close()]);
      await stopTracing();
    },
  });
}

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

async function databaseHealth({ client }: Database, prismaDir: string): Promise<HealthCheck[]> {
  const query = (sql: string) => client.$queryRawUnsafe(sql);
  try {
    const detail = schemaMismatch(await migrationState({ prismaDir, query }));
    if (detail !== undefined) return [{ name: 'database', state: 'failed', detail }];
    return [{ name: 'database', state: 'ok' }, await auditProtection(query)];
  } catch {
    return [{ name: 'database', state: 'failed', detail: 'not reachable' }];
  }
}

const providerHealth = (failing: boolean): HealthCheck =>
  failing
    ? {
        name: 'identity provider',
        state: 'degraded',
        detail: 'signing keys cannot be fetched; cached keys remain valid',
      }
    : { name: 'identity provider', state: 'ok' };
