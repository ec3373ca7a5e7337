import { startProcessWorld } from '../process-world.ts';

const world = await startProcessWorld();
const { startFleet, createToken, query, stop } = world;
afterEach(() => world.endAll());
afterAll(() => world.database.drop());

test('a token is printed on one line', async () => {
  const args = ['create-token', '--name', 'x', '--role', 'admin'];
  const { ended, output } = world.run(args, { DATABASE_URL: world.database.url });
  expect(await ended).toBe(0);
  expect(output().trim().split('\n')).toHaveLength(1);
});

test('a token of the command line works, at most for as long as it was made for', async () => {
  const fleet = await startFleet();
  const token = await createToken('operator', '--expires-in-days', '30');
  expect(token).toEqual({
    id: expect.any(String),
    name: 'the operator',
    role: 'operator',
    token_prefix: token.secret.slice(0, 12),
    secret: expect.stringMatching(/^svcm_[0-9A-Za-z]{49}$/),
  });
  const me = await (await fleet.get('/api/v1/auth/me', token.secret)).json();
  expect(me).toEqual({
    user: { kind: 'token', id: token.id, name: 'the operator', email: null, role: 'operator', temporary: false },
  });
  const [row] = await query(`SELECT expires_at - created_at AS lifetime FROM tokens WHERE id = '${token.id}'`);
  expect(row.lifetime.days).toBe(30);
  await stop(fleet);
});

test.each([
  [['fly'], 'There is no command fly'],
  [['create-token', '--name', 'x', '--role', 'king'], 'role'],
  [['create-token', '--role', 'viewer'], 'name'],
  [['create-token', '--name', 'x', '--role', 'viewer', '--expires-in-days', '366'], 'must be 1 to 365'],
])('%j is refused in words', async (args, words) => {
  const { ended, output } = world.run(args, { DATABASE_URL: world.database.url });
  expect(await ended).toBe(1);
  expect(output()).toContain(words);
  expect(output()).not.toMatch(/\[\n? *\{| {4}at /);
});
