import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { createToken } from '../../src/commands/tokens.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());
afterEach(() => jest.restoreAllMocks());

const sql = world.database.client;
const { asAdmin } = world;
const TOKENS = '/api/v1/tokens';
const create = async (body: object = {}, by = asAdmin) => {
  const answer = await by.post(TOKENS, { name: 'a token', role: 'viewer', ...body });
  expect(answer.status).toBe(201);
  return answer.body.token;
};

test('a new token is returned with its secret, which works, and the secret is not stored', async () => {
  const { status, body, headers } = await asAdmin.post(TOKENS, { name: ' nightly ', role: 'operator' });
  expect(status).toBe(201);
  expect(body).toEqual({
    token: {
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/),
      name: 'nightly',
      role: 'operator',
      token_prefix: body.token.secret.slice(0, 12),
      status: 'active',
      expires_at: null,
      created_at: expect.any(String),
      last_used_at: null,
      created_by: expect.stringMatching(/^token:/),
      approval: 'none',
      created_by_token: expect.any(String),
      secret: expect.stringMatching(/^svcm_[0-9A-Za-z]{49}$/),
    },
  });
  expect(headers['cache-control']).toBe('no-store');
  const me = await world.api(`Bearer ${body.token.secret}`).get('/api/v1/auth/me');
  expect(me.body.user).toMatchObject({ id: body.token.id, name: 'nightly', role: 'operator' });
});

test('the secret of a token is only in the responses that create it', async () => {
  const { id, secret } = await create();
  const { body, headers } = await asAdmin.post(`${TOKENS}/${id}/reissue`);
  expect(headers['cache-control']).toBe('no-store');
  const others = [await asAdmin.get(`${TOKENS}?limit=100`), await asAdmin.delete(`${TOKENS}/${id}`)];
  for (const { status, text } of others) {
    expect(status).toBe(200);
    expect(text).toContain(id);
    expect(text).not.toMatch(/"secret"|token_hash/);
  }
  const kept = JSON.stringify(await sql.token.findMany());
  for (const each of [secret, body.token.secret]) expect(kept).not.toContain(each);
});

test('several tokens may have the same name', async () => {
  const one = await create({ name: 'twin' });
  const other = await create({ name: 'twin' });
  expect(one.id).not.toBe(other.id);
});

test.each([
  ['name', { role: 'viewer' }],
  ['name', { name: '  ', role: 'viewer' }],
  ['role', { name: 'x' }],
  ['role', { name: 'x', role: 'king' }],
  ['secret', { name: 'x', role: 'viewer', secret: 'svcm_x' }],
  ['created_by', { name: 'x', role: 'viewer', created_by: 'somebody else' }],
])('a new token with an invalid or unknown %s is a 400 that names it', async (member, body) => {
  const answer = await asAdmin.post(TOKENS, body);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(member);
});

test('a token shows the name of its creator', async () => {
  const local = await world.aUser('admin');
  const automation = await create({ role: 'admin', name: 'automation' });
  expect((await create({}, await world.asTemporaryAdmin())).created_by).toBe('temporary-admin');
  expect((await create({}, await local.api())).created_by).toBe(local.email);
  expect((await create({}, world.api(`Bearer ${automation.secret}`))).created_by).toBe('token:automation');
});

test('the list of tokens is newest first, with pages', async () => {
  for (let count = 0; count < 3; count++) await create({ name: `page ${count}` });
  const total = await sql.token.count();
  const seen: { id: string; created_at: string }[] = [];
  for (let page = 1; page <= Math.ceil(total / 2); page++) {
    const { body } = await asAdmin.get(`${TOKENS}?limit=2&page=${page}`);
    expect(body.pagination).toEqual({ page, limit: 2, total, totalPages: Math.ceil(total / 2) });
    seen.push(...body.tokens);
  }
  expect(new Set(seen.map(({ id }) => id)).size).toBe(total);
  const moments = seen.map(({ created_at }) => created_at);
  expect(moments).toEqual(moments.toSorted().reverse());
  const past = await asAdmin.get(`${TOKENS}?limit=2&page=999`);
  expect(past.body).toMatchObject({ tokens: [], pagination: { total } });
});

test.each(['limit=101', 'limit=0', 'page=0', 'page=ten', 'page=1&page=2', 'sort=colour'])(
  'a list of tokens with %s is a 400',
  async (query) => {
    expect((await asAdmin.get(`${TOKENS}?${query}`)).body.code).toBe('validation_failed');
  },
);

test('requests for an ID that is not that of a token have identical 404 responses', async () => {
  const user = await world.aUser('viewer');
  const same = { 'X-Request-Id': 'the-same' };
  const answers: string[] = [];
  for (const id of ['nothing', randomUUID(), user.id, user.id.toUpperCase()]) {
    for (const answer of [
      await asAdmin.post(`${TOKENS}/${id}/reissue`, undefined, same),
      await asAdmin.delete(`${TOKENS}/${id}`, undefined, same),
    ]) {
      expect(answer.status).toBe(404);
      answers.push(answer.text);
    }
  }
  expect(new Set(answers).size).toBe(1);
});

const DAY_MS = 86_400_000;

const createFor = (days?: unknown) => create({ expires_in_days: days });
const meWith = ({ secret }: { readonly secret: string }, { api } = world as Pick<typeof world, 'api'>) =>
  api(`Bearer ${secret}`).get('/api/v1/auth/me');
const daysOf = (token: { created_at: string; expires_at: string }) =>
  (Date.parse(token.expires_at) - Date.parse(token.created_at)) / DAY_MS;
const statusOf = async (id: string) => {
  const { body } = await asAdmin.get(`${TOKENS}?limit=100`);
  return body.tokens.find((token: { id: string }) => token.id === id).status;
};

test.each([1, 30, 365])('a token can be valid for %d days', async (days) => {
  expect(daysOf(await createFor(days))).toBe(days);
});

test.each([undefined, null])(
  'a token with the lifetime %p does not expire, also after it is reissued',
  async (days) => {
    const { id, expires_at } = await createFor(days);
    expect(expires_at).toBeNull();
    expect((await asAdmin.post(`${TOKENS}/${id}/reissue`)).body.token.expires_at).toBeNull();
  },
);

test.each([0, -1, 366, 1.5, 1e9, '30', true, [30]])(
  'a lifetime of %j is a 400 that names it, and creates no token',
  async (days) => {
    const before = await sql.token.count();
    const { status, body } = await asAdmin.post(TOKENS, { name: 'x', role: 'viewer', expires_in_days: days });
    expect(status).toBe(400);
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(['expires_in_days']);
    expect(await sql.token.count()).toBe(before);
  },
);

describe('the command create-token', () => {
  const options = { name: 'x', role: 'viewer' };

  test.each([1, 365])('creates a token for %d days', async (days) => {
    const { id } = await createToken({ ...options, 'expires-in-days': `${days}` })(world.database);
    const { created_at, expires_at } = await sql.token.findUniqueOrThrow({ where: { id } });
    expect(Number(expires_at) - Number(created_at)).toBe(days * DAY_MS);
  });

  test.each(['0', '366', '1.5', '-1', '', ' 30', '1e2', '0x10', 'ten'])('rejects %j days', (days) => {
    expect(() => createToken({ ...options, 'expires-in-days': days })).toThrow('expires-in-days');
  });
});

test('a token expires by the clock of the database, on every replica', async () => {
  const token = await createFor(30);
  const another = world.aReplica();
  await sql.$executeRaw`UPDATE tokens SET expires_at = now() + interval '1 hour' WHERE id = ${token.id}::uuid`;
  // A process whose clock is wrong.
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * DAY_MS);
  for (const replica of [world, another]) expect((await meWith(token, replica)).status).toBe(200);
  jest.restoreAllMocks();
  expect(await statusOf(token.id)).toBe('active');
  await sql.$executeRaw`UPDATE tokens SET expires_at = now() WHERE id = ${token.id}::uuid`;
  for (const replica of [world, another]) expect((await meWith(token, replica)).body.code).toBe('invalid_token');
  expect(await statusOf(token.id)).toBe('expired');
});

test('a reissued token has its full lifetime again, also after its expiry', async () => {
  const token = await createFor(30);
  await sql.$executeRaw`
    UPDATE tokens SET created_at = now() - interval '60 days', expires_at = now() - interval '30 days'
    WHERE id = ${token.id}::uuid`;
  const { status, body } = await asAdmin.post(`${TOKENS}/${token.id}/reissue`);
  expect(status).toBe(200);
  expect(body.token.status).toBe('active');
  const [row] = await sql.$queryRaw<{ lasts: boolean }[]>`
    SELECT expires_at BETWEEN now() + interval '29 days 23 hours' AND now() + interval '30 days' AS lasts
    FROM tokens WHERE id = ${token.id}::uuid`;
  expect(row).toEqual({ lasts: true });
  expect((await meWith(body.token)).status).toBe(200);
});

test('a reissued token without an expiry has none', async () => {
  const { id } = await createFor();
  expect((await asAdmin.post(`${TOKENS}/${id}/reissue`)).body.token.expires_at).toBeNull();
});
