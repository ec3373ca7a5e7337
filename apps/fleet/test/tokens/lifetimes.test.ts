import { jest } from '@jest/globals';
import { createToken } from '../../src/commands/tokens.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());
afterEach(() => jest.restoreAllMocks());

const sql = world.database.client;
const { asAdmin } = world;
const TOKENS = '/api/v1/tokens';
const DAY_MS = 86_400_000;

const create = async (days?: unknown) => {
  const { body } = await asAdmin.post(TOKENS, { name: 'x', role: 'viewer', expires_in_days: days });
  return body.token;
};
const meWith = ({ secret }: { readonly secret: string }, { api } = world as Pick<typeof world, 'api'>) =>
  api(`Bearer ${secret}`).get('/api/v1/auth/me');
const daysOf = (token: { created_at: string; expires_at: string }) =>
  (Date.parse(token.expires_at) - Date.parse(token.created_at)) / DAY_MS;
const statusOf = async (id: string) => {
  const { body } = await asAdmin.get(`${TOKENS}?limit=100`);
  return body.tokens.find((token: { id: string }) => token.id === id).status;
};

test.each([1, 30, 365])('a token can last %d days', async (days) => {
  expect(daysOf(await create(days))).toBe(days);
});

test('without a lifetime a token does not end', async () => {
  expect((await create()).expires_at).toBeNull();
});

test.each([0, -1, 366, 1.5, 1e9, '30', null, true, [30]])(
  'a lifetime of %j is a 400 that names it, and makes no token',
  async (days) => {
    const before = await sql.token.count();
    const { status, body } = await asAdmin.post(TOKENS, { name: 'x', role: 'viewer', expires_in_days: days });
    expect(status).toBe(400);
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(['expires_in_days']);
    expect(await sql.token.count()).toBe(before);
  },
);

describe('the command', () => {
  const options = { name: 'x', role: 'viewer' };

  test.each([1, 365])('makes a token for %d days', async (days) => {
    const { id } = await createToken({ ...options, 'expires-in-days': `${days}` })(world.database);
    const { created_at, expires_at } = await sql.token.findUniqueOrThrow({ where: { id } });
    expect(Number(expires_at) - Number(created_at)).toBe(days * DAY_MS);
  });

  test.each(['0', '366', '1.5', '-1', '', ' 30', '1e2', '0x10', 'ten'])('refuses %j days', (days) => {
    expect(() => createToken({ ...options, 'expires-in-days': days })).toThrow('expires-in-days');
  });
});

test('a token ends at its moment, by the clock of the database, on every replica', async () => {
  const token = await create(30);
  const another = world.aReplica();
  await sql.$executeRaw`UPDATE tokens SET expires_at = now() + interval '1 hour' WHERE id = ${token.id}::uuid`;
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * DAY_MS); // a process whose clock is wrong
  for (const replica of [world, another]) expect((await meWith(token, replica)).status).toBe(200);
  jest.restoreAllMocks();
  expect(await statusOf(token.id)).toBe('active');
  await sql.$executeRaw`UPDATE tokens SET expires_at = now() WHERE id = ${token.id}::uuid`;
  for (const replica of [world, another]) expect((await meWith(token, replica)).body.code).toBe('invalid_token');
  expect(await statusOf(token.id)).toBe('expired');
});

test('issued again, a token has its lifetime from the beginning, also after its end', async () => {
  const token = await create(30);
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

test('issued again, a token without an end has none', async () => {
  const { id } = await create();
  expect((await asAdmin.post(`${TOKENS}/${id}/reissue`)).body.token.expires_at).toBeNull();
});
