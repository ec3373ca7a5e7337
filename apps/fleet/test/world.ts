import { randomBytes } from 'node:crypto';
import { hashSecretToken, newSecretToken, shownPrefix } from '@svc/auth';
import { fleetService, openApiDocument } from '@svc/contract';
import type { FleetRole } from '@svc/contract/fleet';
import { createLog, createOutbound } from '@svc/http';
import { type Api, apiOf, createTestDatabase } from '@svc/testing';
import { createFleet } from '../src/app.ts';
import { createSessions } from '../src/auth/sessions.ts';
import { loadSigningKey } from '../src/auth/signing-keys.ts';
import { createTemporaryAdmin } from '../src/auth/temporary-admin.ts';
import { connectHub } from '../src/catalog/hub.ts';
import { createSync } from '../src/catalog/sync.ts';
import { openDatabase } from '../src/database/client.ts';
import type { Token } from '../src/generated/prisma/client.ts';
import { createSealer } from '../src/sealing.ts';

/** The username and password of the temporary admin, unless a test says otherwise. */
export const TEMPORARY_ADMIN = { username: 'first-admin', password: 'a password of the first hours' };

/** Long enough for a slow machine, short enough to wait for once. */
const HUB_TIMEOUT_MS = 1500;

/** What a test says of one replica. */
export interface ReplicaOptions {
  /** Without one the replica has no hub. */
  readonly hub?: { readonly url: string; readonly key: string };
  /** `undefined`: the variables are not set. */
  readonly temporaryAdmin?: typeof TEMPORARY_ADMIN | undefined;
}

/** A token as its bearer has it. */
export interface TestToken extends Token {
  readonly secret: string;
}

/** A fleet on a database of its own, and the words in which tests speak of it. */
export async function startWorld(options: ReplicaOptions = {}) {
  const testDatabase = await createTestDatabase();
  const database = openDatabase(testDatabase.url, () => undefined);
  const { client } = database;
  const outbound = createOutbound({ timeoutMs: HUB_TIMEOUT_MS, maxBytes: 4_000_000 });
  const sealer = createSealer([{ kid: 'test', key: randomBytes(32) }]);
  const signingKey = await loadSigningKey(database, sealer);
  const fingerprintKey = randomBytes(32);
  const log = createLog('fleet', 'silent');

  /** Another process of the same fleet: it shares the database and nothing else. */
  const aReplica = (given: ReplicaOptions = {}) => {
    const { hub, temporaryAdmin } = { temporaryAdmin: TEMPORARY_ADMIN, ...given };
    const sync = createSync({
      database,
      hub: hub && connectHub({ url: hub.url, apiKey: hub.key, send: outbound.send }),
      log,
    });
    const sessions = createSessions({
      database,
      signingKey,
      temporaryAdmin: temporaryAdmin && createTemporaryAdmin(temporaryAdmin, fingerprintKey),
    });
    const app = createFleet({
      database,
      sessions,
      sync,
      health: { check: async () => [], stopping: false },
      log,
      rateLimit: false,
      corsOrigins: [],
      trustProxy: ['loopback'], // a test says where it calls from: X-Forwarded-For
    });
    return { app, api: apiOf(app, openApiDocument(fleetService)), sync };
  };
  const { app, api, sync } = aReplica(options);
  let count = 0;

  const aToken = async (given: Partial<Token> = {}) => {
    const secret = newSecretToken('svcm_');
    const data = {
      name: `token-${++count}`,
      role: 'viewer' as const,
      token_hash: hashSecretToken(secret),
      token_prefix: shownPrefix(secret),
      created_by: 'test',
      ...given,
    };
    return { ...(await client.token.create({ data })), secret } satisfies TestToken;
  };
  const as = (token: TestToken): Api => api(`Bearer ${token.secret}`);
  const withRole = async (role: FleetRole) => as(await aToken({ role }));

  /** A new session of the temporary admin. */
  const signIn = async (headers = {}): Promise<{ access_token: string; refresh_token: string }> => {
    const { status, body } = await api().post('/api/v1/auth/login', TEMPORARY_ADMIN, headers);
    if (status !== 200) throw new Error(`signing in answered ${status}`);
    return body;
  };

  return {
    app,
    api,
    sync,
    aReplica,
    database,
    sealer,
    signingKey,
    databaseUrl: testDatabase.url,
    nobody: api(),
    as,
    aToken,
    asViewer: await withRole('viewer'),
    asOperator: await withRole('operator'),
    asAdmin: await withRole('admin'),
    signIn,
    asTemporaryAdmin: async () => api(`Bearer ${(await signIn()).access_token}`),
    stop: async () => {
      await outbound.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
