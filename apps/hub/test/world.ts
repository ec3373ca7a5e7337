import { randomBytes } from 'node:crypto';
import { createKeySource, displayPrefix, hashSecretToken, newSecretToken } from '@svc/auth';
import { createProvider } from '@svc/auth/oidc';
import { closedOpenApiDocument, fold, hubService, searchText } from '@svc/contract';
import { createSealer, type Reader, type Sealer } from '@svc/database';
import { WEBHOOK_LIMITS } from '@svc/delivery';
import { createDiagnosis, createLog, createOutbound, type Diagnosis, type OutboundAllowance } from '@svc/http';
import {
  type Api,
  apiOf,
  createTestDatabase,
  type LocalIssuer,
  scaled,
  startLocalIssuer,
  type TestDatabase,
} from '@svc/testing';
import { createHub, type HubOptions } from '../src/app.ts';
import type { StreamLimits } from '../src/catalog/changes/stream-slots.ts';
import { createCachedCatalog } from '../src/catalog/memory/cached-catalog.ts';
import { createUsage } from '../src/catalog/usage.ts';
import { writeCatalog } from '../src/database/catalog-write.ts';
import { openDatabase, type PoolLimits } from '../src/database/client.ts';
import type { ApiKey, Organization, Prisma } from '../src/generated/prisma/client.ts';
import type { RevisionCheck } from '../src/revision/revision.ts';
import { createKeys } from '../src/webhooks/keys.ts';

export const SUPERADMIN_EMAIL = 'root@example.test';

/** An organization with an API key. The key is valid by default. */
export interface TestOrganization extends Organization {
  readonly key: string;
  readonly keyRow: ApiKey;
}

/**
 * With TEST_FAST_ROUTES=off, Express serves the frequent reads, too, so that all tests can run on
 * both ways.
 */
const FAST_BY_DEFAULT = process.env.TEST_FAST_ROUTES !== 'off';

/** A busy machine can need longer for a connection, a lock, and a statement than the limits of production. */
const PATIENT = {
  connectTimeoutMs: scaled(20_000),
  lockTimeoutMs: scaled(2000),
  statementTimeoutMs: scaled(20_000),
  revisionTimeoutMs: scaled(20_000),
};

/** The encryption key of all instances of a test file. */
export const testKey = { kid: 'test', key: new Uint8Array(randomBytes(32)) };
export const testSealer = createSealer([testKey]);

/** A diagnosis that checks nothing. */
export const withoutChecks = createDiagnosis({
  service: 'hub',
  version: '0.0.0',
  checks: async () => ({ checks: [], close: async () => undefined }),
  settings: [],
});

/** An instance of the hub on an existing database. Several instances can share a database. */
export function anInstance(
  databaseUrl: string,
  { issuer, audience }: Pick<LocalIssuer, 'issuer' | 'audience'>,
  {
    limits,
    streamLimits,
    revisions,
    isFast = FAST_BY_DEFAULT,
    clientId,
    publicUrl,
    service,
    diagnosis,
    sealer = testSealer,
    outboundAllow = ['http', 'loopback'],
  }: InstanceOptions = {},
) {
  const database = openDatabase(databaseUrl, () => undefined, { ...PATIENT, ...limits });
  const outbound = createOutbound({ timeoutMs: scaled(2000), maxBytes: 100_000 });
  const toWebhooks = createOutbound({ ...WEBHOOK_LIMITS, restrictTo: new Set(outboundAllow) });
  const keys = createKeySource({ issuer, send: outbound.send, intervalMs: 100 });
  const log = createLog('hub', (process.env.LOG_LEVEL as 'silent') ?? 'silent');
  const catalog = createCachedCatalog(database.reader);
  const usage = createUsage(database.reader, catalog);
  const app = createHub({
    database,
    catalog,
    usage,
    diagnosis: diagnosis ?? withoutChecks,
    keys: createKeys(database, sealer ?? undefined),
    refusalOf: toWebhooks.refusalOf,
    publicUrl,
    provider: {
      signIn:
        clientId === undefined
          ? undefined
          : createProvider({ issuer, clientId, allowUserinfo: false, offlineAccess: false }, { send: outbound.send }),
      issuer,
      audience,
      keys,
      superadminEmails: [SUPERADMIN_EMAIL],
      superadminSubjects: [],
    },
    health: { check: async () => [], stopping: false },
    log,
    rateLimit: false,
    corsOrigins: [],
    trustProxy: [],
    streamLimits,
    changeWaitMs: scaled(1500),
    revisions: revisions?.(database.revisionReader),
    isFast,
    ...service,
  });
  const api = apiOf(app, closedOpenApiDocument(hubService));
  return {
    app,
    api,
    database,
    catalog,
    usage,
    stop: async () => {
      api.close();
      await usage.flush().catch(() => undefined); // a test may have stopped the database
      await Promise.all([database.close(), outbound.close(), toWebhooks.close()]);
    },
  };
}

export interface InstanceOptions {
  /** Limits of the database pools that differ from those of the service. */
  readonly limits?: PoolLimits | undefined;
  /** The limits of production apply unless given. */
  readonly streamLimits?: StreamLimits;
  /**
   * Whether frequent reads are served without Express. Default: yes, unless TEST_FAST_ROUTES is
   * `off`.
   */
  readonly isFast?: boolean;
  /** Options of the service that differ from those of most tests. */
  readonly service?: Partial<
    Pick<HubOptions, 'log' | 'rateLimit' | 'requestsPerMinute' | 'rejectionDelay' | 'trustProxy' | 'corsOrigins'>
  >;
  /** The client of the hub at the provider. By default it has none. */
  readonly clientId?: string;
  readonly publicUrl?: string;
  /** By default, it has no checks. */
  readonly diagnosis?: Diagnosis;
  /** What seals secrets; null: the instance has no encryption keys. Default: `testSealer`. */
  readonly sealer?: Sealer | null;
  /** Which addresses webhooks can have. Default: those of receivers of tests. */
  readonly outboundAllow?: readonly OutboundAllowance[];
  /** Replaces the check of the revision. */
  readonly revisions?: (reader: Reader) => RevisionCheck;
}

interface WorldOptions extends InstanceOptions {
  /** Default: a new database. */
  readonly database?: TestDatabase;
}

/** A hub on its own database, with functions that create rows and callers for tests. */
export async function startWorld({ database: given, ...options }: WorldOptions = {}) {
  const testDatabase = given ?? (await createTestDatabase());
  const issuer = await startLocalIssuer('https://hub.example.test');
  const instance = anInstance(testDatabase.url, issuer, options);
  const { app, api, database, catalog, usage } = instance;
  const { client } = database;
  let count = 0;
  const next = (noun: string) => `${noun}-${++count}`;

  const anOrganization = async (
    given: Partial<Pick<Organization, 'slug' | 'status'>> = {},
    key: Partial<ApiKey> = {},
  ) => {
    const slug = given.slug ?? next('organization');
    const subscription = { create: { tier: 'free' } };
    const organization = await client.organization.create({ data: { name: slug, slug, ...given, subscription } });
    const secret = newSecretToken('svcc_');
    const data = {
      org_id: organization.id,
      name: 'key',
      key_hash: hashSecretToken(secret),
      key_prefix: displayPrefix(secret),
      ...key,
    };
    return { ...organization, key: secret, keyRow: await client.apiKey.create({ data }) } satisfies TestOrganization;
  };

  const aCategory = (given: Partial<Prisma.CategoryUncheckedCreateInput> = {}) => {
    const slug = given.slug ?? next('category');
    const name = given.name ?? slug;
    return writeCatalog(database, ({ category }) =>
      category.create({ data: { name, slug, sort_name: fold(name), ...given } }),
    );
  };

  const aTemplate = async (given: Partial<Prisma.TemplateUncheckedCreateInput> = {}) => {
    const slug = given.slug ?? next('template');
    const name = given.name ?? slug;
    const category_id = given.category_id ?? (await aCategory()).id;
    const derived = { sort_name: fold(name), search_text: searchText(name, given.description ?? '') };
    return writeCatalog(database, ({ template }) =>
      template.create({ data: { name, slug, category_id, ...derived, ...given } }),
    );
  };

  const aGrant = (organization: Organization, category: { readonly id: string }) =>
    writeCatalog(database, ({ catalogAccess }) =>
      catalogAccess.create({ data: { org_id: organization.id, category_id: category.id } }),
    );

  /** For tests that take longer than the usual lifetime of a token on a busy machine. */
  const longLived = () => ({ exp: Math.floor(Date.now() / 1000) + 12 * 3600 });

  /** The Authorization header of a user with the role. */
  const anAuthorization = async (role: 'user' | 'admin' | 'superadmin'): Promise<string> => {
    const sub = next(role);
    const authorization = `Bearer ${await issuer.sign(sub, { email: `${sub}@example.test`, email_verified: true, ...longLived() })}`;
    // The first request creates the user.
    await api(authorization).get('/api/v1/catalog/categories');
    await client.user.update({ where: { iss_sub: { iss: issuer.issuer, sub } }, data: { role, role_set: true } });
    return authorization;
  };

  /** A caller with the role, authenticated by a token of the issuer. */
  const aUser = async (role: 'user' | 'admin' | 'superadmin'): Promise<Api> => api(await anAuthorization(role));

  /** A caller who is a member of the organization. */
  const aMember = async (organization: { readonly id: string }, org_role: 'org_admin' | 'member'): Promise<Api> => {
    const sub = next('member');
    const me = api(`Bearer ${await issuer.sign(sub, longLived())}`);
    await me.get('/api/v1/catalog/categories');
    await client.user.update({
      where: { iss_sub: { iss: issuer.issuer, sub } },
      data: { org_id: organization.id, org_role },
    });
    return me;
  };

  /** A service token of an administrator: by default with all scopes, and valid for a day. */
  const aServiceToken = async (
    owner: Api,
    given: { readonly categories: readonly string[]; readonly scopes?: readonly string[] },
  ): Promise<Api & { readonly id: string; readonly secret: string }> => {
    const { status, body } = await owner.post('/api/v1/admin/service-tokens', {
      name: next('service-token'),
      scopes: ['import', 'prune', 'export'],
      expires_in_days: 1,
      ...given,
    });
    if (status !== 201) throw new Error(`the creation of the service token answered ${status}`);
    const { id, secret } = body.serviceToken;
    return { ...api(`Bearer ${secret}`), id, secret };
  };

  return {
    app,
    api,
    aServiceToken,
    aMember,
    anAuthorization,
    database,
    catalog,
    usage,
    issuer,
    databaseUrl: testDatabase.url,
    anonymous: api(),
    as: (organization: TestOrganization): Api => api(`Bearer ${organization.key}`),
    anOrganization,
    aCategory,
    aTemplate,
    aGrant,
    aUser,
    stop: async () => {
      await Promise.all([instance.stop(), issuer.close()]);
      await testDatabase.drop();
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
