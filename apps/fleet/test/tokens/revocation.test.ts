import { type Api, byDepth, connectionsBlocked, LONG_TEST_MS } from '@svc/testing';
import { startWorld } from '../world.ts';

const world = await startWorld();
const another = world.aReplica();
afterAll(() => world.stop());

const sql = world.database.client;
const admin = await world.aToken({ role: 'admin' });
const asAdmin = world.as(admin);
const ROUNDS = byDepth({ short: 4, full: 20, long: 200 });
const TOKENS = '/api/v1/tokens';
const ME = '/api/v1/auth/me';

const create = async (by: Api = asAdmin, role = 'viewer') => {
  const { body } = await by.post(TOKENS, { name: 'x', role });
  return body.token as { id: string; secret: string; created_at: string; token_prefix: string };
};
/** The bearer of a secret, at each replica. */
const bearers = (secret: string) => [world, another].map(({ api }) => api(`Bearer ${secret}`));
/** The responses of both replicas to requests that start now. */
const heard = async (secret: string, requests = 1) => {
  const started = bearers(secret).flatMap((api) => Array.from({ length: requests }, () => api.get(ME)));
  return new Set((await Promise.all(started)).map(({ status }) => status));
};

test(
  'a revoked token is rejected in all requests that start afterwards, on every replica',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id, secret } = await create();
      const inFlight = bearers(secret).flatMap((api) => [api.get(ME), api.get(ME)]);
      const { api } = round % 2 === 0 ? world : another;
      const revoked = await api(`Bearer ${admin.secret}`).delete(`${TOKENS}/${id}`);
      expect(revoked).toMatchObject({ status: 200, body: { token: { id, status: 'revoked' } } });
      expect(await heard(secret, 3)).toEqual(new Set([401]));
      await Promise.all(inFlight);
    }
  },
  LONG_TEST_MS,
);

test('a second revocation of a token changes nothing', async () => {
  const { id } = await create();
  const revokedAt = async () => (await sql.token.findUniqueOrThrow({ where: { id } })).revoked_at;
  const first = await asAdmin.delete(`${TOKENS}/${id}`);
  const moment = await revokedAt();
  const second = await asAdmin.delete(`${TOKENS}/${id}`);
  expect(second).toMatchObject({ status: 200, text: first.text });
  expect(await revokedAt()).toEqual(moment);
});

test(
  'a reissued token keeps its ID, and its former secret is rejected at once on every replica',
  async () => {
    for (let round = 0; round < ROUNDS / 2; round++) {
      const before = await create();
      const { body } = await asAdmin.post(`${TOKENS}/${before.id}/reissue`);
      const { secret, token_prefix, ...kept } = body.token;
      expect(kept).toMatchObject({ id: before.id, name: 'x', role: 'viewer', created_at: before.created_at });
      expect(token_prefix).toBe(secret.slice(0, 12));
      expect(secret).not.toBe(before.secret);
      expect(await heard(before.secret, 3)).toEqual(new Set([401]));
      expect(await heard(secret)).toEqual(new Set([200]));
    }
  },
  LONG_TEST_MS,
);

test('after ten concurrent reissues of a token, one secret works', async () => {
  const { id } = await create();
  const again = await Promise.all(Array.from({ length: 10 }, () => asAdmin.post(`${TOKENS}/${id}/reissue`)));
  expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]));
  const statuses: number[] = [];
  for (const { body } of again) statuses.push((await world.api(`Bearer ${body.token.secret}`).get(ME)).status);
  expect(statuses.sort()).toEqual([200, ...Array(9).fill(401)]);
});

test('a revoked token cannot be reissued', async () => {
  const { id, secret } = await create();
  await asAdmin.delete(`${TOKENS}/${id}`);
  const { status, body } = await asAdmin.post(`${TOKENS}/${id}/reissue`);
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'token_revoked' });
  expect(await heard(secret)).toEqual(new Set([401]));
});

test(
  'a token that is revoked and reissued concurrently is revoked',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id, secret } = await create();
      const [again] = await Promise.all([asAdmin.post(`${TOKENS}/${id}/reissue`), asAdmin.delete(`${TOKENS}/${id}`)]);
      expect([200, 409]).toContain(again.status);
      expect(await heard(again.body.token?.secret ?? secret)).toEqual(new Set([401]));
    }
  },
  LONG_TEST_MS,
);

test.each([
  ['reissue', [200, 200], (by: Api, id: string) => by.post(`${TOKENS}/${id}/reissue`)],
  ['revoke', [200, 401], (by: Api, id: string) => by.delete(`${TOKENS}/${id}?keep=dependents`)],
])('two tokens that %s each other at the same time do not wait for each other', async (_, statuses, change) => {
  const [one, other] = [await create(asAdmin, 'admin'), await create(asAdmin, 'admin')];
  const [asOne, asOther] = [world.api(`Bearer ${one.secret}`), world.api(`Bearer ${other.secret}`)];
  let answers: Promise<{ status: number }[]> | undefined;
  await sql.$transaction(async (transaction) => {
    // The rows can be locked, but not changed.
    await transaction.$executeRaw`LOCK TABLE tokens IN SHARE MODE`;
    answers = Promise.all([change(asOne, other.id), change(asOther, one.id)]);
    await connectionsBlocked(sql, 2);
  });
  expect((await answers)?.map(({ status }) => status).sort()).toEqual(statuses);
});

test(
  'tokens of one tree are revoked concurrently, with the user who created them',
  async () => {
    await world.aUser('admin'); // so that the makers are not the last admin
    for (let round = 0; round < ROUNDS; round++) {
      const maker = await world.aUser('admin');
      const tokens = [await create(await maker.api(), 'admin')];
      for (let depth = 0; depth < 4; depth++) {
        tokens.push(await create(world.api(`Bearer ${tokens.at(-1)?.secret}`), 'admin'));
      }
      const endings = tokens.map(({ id }) => asAdmin.delete(`${TOKENS}/${id}`));
      const answers = await Promise.all([...endings, asAdmin.delete(`/api/v1/users/${maker.id}`)]);
      expect(answers.map(({ status }) => status)).toEqual([...tokens.map(() => 200), 204]);
      const ids = tokens.map(({ id }) => id);
      expect(await sql.token.count({ where: { id: { in: ids }, revoked_at: null } })).toBe(0);
    }
  },
  LONG_TEST_MS,
);

describe('the removal of a user', () => {
  const remove = async (id: string) => expect((await asAdmin.delete(`/api/v1/users/${id}`)).status).toBe(204);

  beforeAll(() => world.aUser('admin')); // stays, so that the removed user is not the last admin

  test('revokes the tokens that the user created, and those created with these, on every replica', async () => {
    const maker = await world.aUser('admin');
    const first = await create(await maker.api(), 'admin');
    const second = await create(world.api(`Bearer ${first.secret}`), 'admin');
    const third = await create(world.api(`Bearer ${second.secret}`));
    const all = [first, second, third];
    for (const { secret } of all) expect(await heard(secret)).toEqual(new Set([200]));
    await remove(maker.id);
    for (const { secret } of all) expect(await heard(secret)).toEqual(new Set([401]));
    const rows = await sql.token.findMany({ where: { id: { in: all.map(({ id }) => id) } } });
    expect(rows.every(({ revoked_at }) => revoked_at !== null)).toBe(true);
  });

  test('keeps the tokens of others, and those of the temporary admin', async () => {
    const maker = await world.aUser('admin');
    const colleague = await world.aUser('admin');
    await create(await maker.api());
    const left = [await create(await colleague.api()), await create(await world.asTemporaryAdmin()), await create()];
    await remove(maker.id);
    for (const { secret } of left) expect(await heard(secret)).toEqual(new Set([200]));
  });

  test('prevents tokens that the user creates concurrently', async () => {
    const maker = await world.aUser('admin');
    const byMaker = await maker.api();
    let all: Promise<unknown> | undefined;
    await sql.$transaction(async (transaction) => {
      // The row can be read, but not changed.
      await transaction.$executeRaw`LOCK TABLE tokens IN SHARE MODE`;
      const creations = [1, 2, 3].map(() => byMaker.post(TOKENS, { name: 'late', role: 'admin' }));
      await connectionsBlocked(sql, 3);
      all = Promise.all([...creations, remove(maker.id)]);
      await connectionsBlocked(sql, 4);
    });
    await all;
    const active = await sql.token.count({ where: { created_by_user: maker.id, revoked_at: null } });
    expect(active).toBe(0);
  });
});
