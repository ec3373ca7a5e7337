import { randomBytes } from 'node:crypto';
import * as argon2 from '@node-rs/argon2';
import { displayPrefix, hashSecretToken, newSecretToken } from '@svc/auth';
import { closedOpenApiDocument, fleetService } from '@svc/contract';
import type { FleetRole } from '@svc/contract/fleet';
import { createSealer } from '@svc/database';
import {
  createDiagnosis,
  createLog,
  createOutbound,
  type Diagnosis,
  type OutboundAllowance,
  type OutboundOptions,
} from '@svc/http';
import { type Api, apiOf, byDepth, createTestDatabase, scaled } from '@svc/testing';
import { createFleet } from '../src/app.ts';
import type { RejectionLimits } from '../src/audit/rejections.ts';
import type { ChangeFeed, FeedTimings } from '../src/changes/feed.ts';
import { type Database, openDatabase } from '../src/database/client.ts';
import type { Token } from '../src/generated/prisma/client.ts';
import { createPasswords, type Passwords } from '../src/identity/passwords/passwords.ts';
import type { RevealSetting } from '../src/identity/policy.ts';
import type { Owner } from '../src/identity/sessions/opening.ts';
import { createProviderChecks } from '../src/identity/sessions/provider-checks.ts';
import { loadSigningKey } from '../src/identity/sessions/session-tokens.ts';
import { createTemporaryAdmin } from '../src/identity/sessions/temporary-admin.ts';
import type { Subnet } from '../src/placement/subnets.ts';
import type { ReconcilerTimings } from '../src/reconciler/timings.ts';
import type { OidcEnvironment } from '../src/settings/values.ts';
import { SHORT_TIMINGS } from './timings.ts';

/** The username and password of the temporary admin, unless a test sets others. */
export const TEMPORARY_ADMIN = { username: 'first-admin', password: 'a password of the first hours' };

const PUBLIC_URL = 'http://fleet.example.test';
/** The identity provider of users that have no other provider. Nothing listens there. */
export const PROVIDER = 'https://provider.example.test';
/** A frontend that does its own sign-in. */
export const FRONTEND = 'http://frontend.example.test';

/**
 * The timeout for a hub or an identity provider. It is long, so that no test times out on a slow
 * machine.
 */
const OUTBOUND_TIMEOUT_MS = 10_000;

/** For tests that wait until a request to a hub or an identity provider times out. */
export const SHORT_TIMEOUT_MS = byDepth({ short: 300, full: 1500, long: 1500 });

/** A busy machine can need longer for a connection, a lock, and a statement than the limits of production. */
export const PATIENT = {
  connectTimeoutMs: scaled(20_000),
  lockTimeoutMs: scaled(2000),
  statementTimeoutMs: scaled(20_000),
};

/** For tests that lock a table: a statement gives up the lock at once, however busy the machine is. */
export const IMPATIENT = { ...PATIENT, lockTimeoutMs: 100 };

/** Opens a database with the limits for a busy machine. */
export const openPatiently = (url: string): Database => openDatabase(url, () => undefined, PATIENT);

/** The lowest cost of Argon2id, which makes tests fast. */
const LOWEST_COST = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** The settings of one replica. */
export interface ReplicaOptions {
  /** If omitted, the replica has no hub. */
  readonly hub?: { readonly url: string; readonly key: string };
  /** Seconds between two syncs. If omitted, only requested syncs run. */
  readonly syncInterval?: number;
  /** The settings of the environment for the identity provider. */
  readonly oidc?: OidcEnvironment;
  readonly publicUrl?: string | undefined;
  /** `undefined`: the variables are not set. */
  readonly temporaryAdmin?: typeof TEMPORARY_ADMIN | undefined;
  /** Its own database connections. By default the replica shares those of the world. */
  readonly database?: Database;
  /** Permitted targets besides public `https` addresses. By default those on this machine. */
  readonly outboundAllow?: ReadonlySet<OutboundAllowance>;
  /**
   * The timeout for a hub or an identity provider: `SHORT_TIMEOUT_MS` where a test waits for it.
   */
  readonly outboundTimeoutMs?: number;
  /** The password hasher. By default all replicas share one whose hashes have the lowest cost. */
  readonly passwords?: Passwords;
  /** The rate limit per client address. By default there is none. */
  readonly requestsPerMinute?: number;
  readonly rejectionLimits?: RejectionLimits;
  /** Who can reveal generated values. By default admins and operators. */
  readonly revealValues?: RevealSetting;
  /** Those of production by default. */
  readonly feedTimings?: Partial<FeedTimings>;
  /** `SHORT_TIMINGS` by default. */
  readonly reconcilerTimings?: ReconcilerTimings;
  /** The default of production, unless the host is real. */
  readonly networkPool?: Subnet;
  /** By default, it has no checks. */
  readonly diagnosis?: Diagnosis;
}

const withoutChecks = createDiagnosis({
  service: 'fleet',
  version: '0.0.0',
  checks: async () => ({ checks: [], close: async () => undefined }),
  settings: [],
});

/** A token with its secret. */
export interface TestToken extends Token {
  readonly secret: string;
}

/** A fleet with its own database, and helpers for tests. */
export async function startWorld(options: ReplicaOptions = {}) {
  const testDatabase = await createTestDatabase();
  const database = openPatiently(testDatabase.url);
  const { client } = database;
  const apis: ReturnType<typeof apiOf>[] = [];
  const feeds: ChangeFeed[] = [];
  const outbounds: ReturnType<typeof createOutbound>[] = [];
  const anOutbound = (given: Omit<OutboundOptions, 'maxBytes'>) => {
    const outbound = createOutbound({ maxBytes: 4_000_000, ...given });
    outbounds.push(outbound);
    return outbound;
  };
  const sealer = createSealer([{ kid: 'test', key: randomBytes(32) }]);
  const signingKey = await loadSigningKey(database, sealer);
  const fingerprintKey = signingKey.deriveSecret('temporary-admin');
  const log = createLog('fleet', (process.env.LOG_LEVEL as 'silent') ?? 'silent');
  const passwords = createPasswords({ cost: LOWEST_COST, hashing: argon2 });

  /** Another process of the same fleet: it shares only the database. */
  const aReplica = (given: ReplicaOptions = {}) => {
    const { hub, database: connections = database } = given;
    const { publicUrl, temporaryAdmin } = { publicUrl: PUBLIC_URL, temporaryAdmin: TEMPORARY_ADMIN, ...given };
    const outboundAllow = given.outboundAllow ?? new Set(['http', 'loopback'] as const);
    const timeoutMs = given.outboundTimeoutMs ?? OUTBOUND_TIMEOUT_MS;
    const outbound = {
      trusted: anOutbound({ timeoutMs }),
      restricted: anOutbound({ timeoutMs, restrictTo: outboundAllow }),
    };
    let syncInterval = given.syncInterval ?? 0;
    const hubSettings = {
      url: hub?.url,
      api_key: hub?.key,
      get sync_interval() {
        return syncInterval;
      },
    };
    const { app, services, turns } = createFleet(
      {
        database: connections,
        sealer,
        signingKey,
        log,
        environment: { oidc: given.oidc ?? {}, hub: hub ? hubSettings : {} },
        toHub: outbound,
        toProvider: outbound,
        outboundAllow,
        passwords: given.passwords ?? passwords,
        temporaryAdmin: temporaryAdmin && createTemporaryAdmin(temporaryAdmin, fingerprintKey),
        defaultLimits: { memory_bytes: 2 * 2 ** 30, processes: 4096 },
        revealValues: given.revealValues ?? 'admins-and-operators',
        concurrency: 8,
        updateConcurrency: 2,
        networkPool: given.networkPool,
        publicUrl,
        corsOrigins: [FRONTEND],
        diagnose: () => given.diagnosis ?? withoutChecks,
        timings: { changes: given.feedTimings, reconciler: given.reconcilerTimings ?? SHORT_TIMINGS.reconciler },
      },
      {
        health: { check: async () => [], stopping: false },
        rateLimit: given.requestsPerMinute !== undefined,
        ...(given.requestsPerMinute === undefined ? {} : { requestsPerMinute: given.requestsPerMinute }),
        rejectionLimits: given.rejectionLimits,
        streamCheckMs: scaled(1400), // if a check takes longer, all streams end
        placementWaitMs: scaled(10_000),
        trustProxy: ['loopback'], // a test sets the client address with X-Forwarded-For
      },
    );
    const { sync } = services;
    feeds.push(services.changes);
    /** Syncs on a schedule, also with intervals that are too short for the configuration. */
    const syncEvery = (seconds: number) => {
      syncInterval = seconds;
      sync.start();
    };
    const checks = createProviderChecks({ ...services, sealer, log });
    const api = apiOf(app, closedOpenApiDocument(fleetService));
    apis.push(api);
    return { app, api, sync, syncEvery, services, turns, checks };
  };
  const { app, api, sync, syncEvery, services, turns } = aReplica(options);
  let count = 0;

  const aToken = async (given: Partial<Token> = {}) => {
    const secret = newSecretToken('svcm_');
    const data = {
      name: `token-${++count}`,
      role: 'viewer' as const,
      token_hash: hashSecretToken(secret),
      token_prefix: displayPrefix(secret),
      created_by: 'test',
      ...given,
    };
    return { ...(await client.token.create({ data })), secret } satisfies TestToken;
  };
  const as = (token: TestToken): Api => api(`Bearer ${token.secret}`);
  const withRole = async (role: FleetRole) => as(await aToken({ role }));

  /** A local user, with a function that signs in. */
  const aUser = async (role: FleetRole, given: { email?: string; password?: string } = {}) => {
    const email = given.email ?? `user-${++count}@example.test`;
    const password = given.password ?? `a good password of ${email}`;
    const data = { source: 'local' as const, email, name: email, role, password_hash: await passwords.hash(password) };
    const user = await client.user.create({ data });
    const signIn = async () => {
      const { status, body } = await api().post('/api/v1/auth/login', { email, password });
      if (status !== 200) throw new Error(`the sign-in answered ${status}: ${JSON.stringify(body)}`);
      return body as { access_token: string; refresh_token: string };
    };
    return { ...user, email, password, signIn, api: async () => api(`Bearer ${(await signIn()).access_token}`) };
  };

  /** Calls with the first access token of a session that is opened for the user. */
  const inSessionOf = async (owner: Owner): Promise<Api> => {
    const { sessions } = services;
    const { access_token } = await client.$transaction(async (transaction) =>
      sessions.issueTokens(transaction, await sessions.open(transaction, owner)),
    );
    return api(`Bearer ${access_token}`);
  };

  /**
   * A user with these claims at the provider. It calls in its own session, which is valid in a
   * fleet with this issuer.
   */
  const anOidcUser = async (claims: Readonly<Record<string, string>> = {}) => {
    const provider = { iss: PROVIDER, sub: `subject-${++count}` };
    const data = { source: 'oidc' as const, ...provider, name: provider.sub, claims: { ...provider, ...claims } };
    const user = await client.user.create({ data });
    return { ...user, api: () => inSessionOf({ kind: 'oidc', userId: user.id, providerToken: undefined }) };
  };

  /** A new session of the temporary admin. */
  const signIn = async (headers = {}): Promise<{ access_token: string; refresh_token: string }> => {
    const { status, body } = await api().post('/api/v1/auth/login', TEMPORARY_ADMIN, headers);
    if (status !== 200) throw new Error(`the sign-in answered ${status}`);
    return body;
  };

  const [asViewer, asOperator, asAdmin] = await Promise.all([
    withRole('viewer'),
    withRole('operator'),
    withRole('admin'),
  ]);

  return {
    app,
    api,
    sync,
    syncEvery,
    services,
    turns,
    log,
    aReplica,
    database,
    sealer,
    signingKey,
    databaseUrl: testDatabase.url,
    nobody: api(),
    as,
    aToken,
    aUser,
    anOidcUser,
    inSessionOf,
    passwords,
    asViewer,
    asOperator,
    asAdmin,
    signIn,
    asTemporaryAdmin: async () => api(`Bearer ${(await signIn()).access_token}`),
    stop: async () => {
      for (const each of apis) each.close();
      await Promise.all(feeds.map((feed) => feed.stop()));
      await Promise.all(outbounds.map((outbound) => outbound.close()));
      await database.close();
      await testDatabase.drop();
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
