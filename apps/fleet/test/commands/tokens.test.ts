import { createToken as createTokenCommand } from '../../src/commands/tokens.ts';
import { startProcessWorld } from '../process-world.ts';

const world = await startProcessWorld();
let fleet: Awaited<ReturnType<typeof world.startFleet>>;
beforeAll(async () => {
  fleet = await world.startFleet();
});
afterAll(async () => {
  await world.endAll();
  await world.database.drop();
});

test('create-token prints a token on one line, which works for the given time', async () => {
  const args = ['create-token', '--name', 'x', '--role', 'operator', '--expires-in-days', '30'];
  const { ended, output } = world.run(args, { DATABASE_URL: world.database.url });
  expect(await ended).toBe(0);
  expect(output().trim().split('\n')).toHaveLength(1);
  const token = JSON.parse(output());
  expect(token).toEqual({
    id: expect.any(String),
    name: 'x',
    role: 'operator',
    token_prefix: token.secret.slice(0, 12),
    secret: expect.stringMatching(/^svcm_[0-9A-Za-z]{49}$/),
  });
  const me = await (await fleet.get('/api/v1/auth/me', token.secret)).json();
  expect(me).toMatchObject({
    user: { kind: 'token', id: token.id, name: 'x', email: null, role: 'operator', temporary: false },
  });
  const [row] = await world.query(`SELECT expires_at - created_at AS lifetime FROM tokens WHERE id = '${token.id}'`);
  expect(row.lifetime.days).toBe(30);
  await world.stop(fleet);
});

test.each([
  [['fly'], 'Unknown command fly'],
  [['create-token', '--name', 'x', '--role', 'king'], '--role: must be one of: viewer, operator, admin'],
])('the command with the arguments %j exits with 2 and a message without a stack trace', async (args, message) => {
  const { ended, output } = world.run(args, { DATABASE_URL: world.database.url });
  expect(await ended).toBe(2);
  expect(output()).toContain(message);
  expect(output()).not.toMatch(/\[\n? *\{| {4}at /);
});

test.each([
  [{ role: 'viewer' }, 'name'],
  [{ name: 'x', role: 'king' }, 'role'],
  [{ name: 'x', role: 'viewer', 'expires-in-days': '366' }, 'must be an integer from 1 to 365'],
])('create-token rejects the options %j', (options, message) => {
  expect(() => createTokenCommand(options)).toThrow(message);
});
