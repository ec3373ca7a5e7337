import { startWorld } from '../world.ts';
import { FREE_FAILURES, LOGIN, signInHelpers } from './sign-in-helpers.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const PASSWORD = '/api/v1/auth/password';
const NEW = 'seventeen quiet tractors';
const { anAddress } = signInHelpers(world);

/** A local user with two sessions. */
async function aSignedInUser() {
  const user = await world.aUser('viewer');
  const own = await user.signIn();
  const other = await user.signIn();
  const from = anAddress();
  const change = (body: object) => world.api(`Bearer ${own.access_token}`).put(PASSWORD, body, from);
  const statusWith = async (password: string) =>
    (await world.nobody.post(LOGIN, { email: user.email, password }, anAddress())).status;
  return { ...user, own, other, from, change, statusWith };
}

const statusOf = async ({ access_token }: { readonly access_token: string }) =>
  (await world.api(`Bearer ${access_token}`).get('/api/v1/auth/me')).status;
const pathsOf = (body: { readonly errors?: readonly { readonly path: string }[] }) =>
  (body.errors ?? []).map(({ path }) => path);

test('a local user changes the own password, and only the other sessions of the user end', async () => {
  const bystander = await aSignedInUser();
  const user = await aSignedInUser();
  const { status, text } = await user.change({ current_password: user.password, new_password: NEW });
  expect({ status, text }).toEqual({ status: 204, text: '' });
  expect(await user.statusWith(user.password)).toBe(401);
  expect(await user.statusWith(NEW)).toBe(200);
  expect(await statusOf(user.own)).toBe(200);
  expect(await statusOf(user.other)).toBe(401);
  const { body } = await world.nobody.post('/api/v1/auth/refresh', { refresh_token: user.other.refresh_token });
  expect(body.code).toBe('invalid_grant');
  expect(await statusOf(bystander.own)).toBe(200);
  expect(await statusOf(bystander.other)).toBe(200);
});

test('a change of the own password has an audit entry, also if the current password is wrong', async () => {
  const user = await aSignedInUser();
  await user.change({ current_password: 'a guess', new_password: NEW });
  await user.change({ current_password: user.password, new_password: NEW });
  const entries = await sql.auditEntry.findMany({
    where: { user_id: user.id, path: PASSWORD },
    orderBy: { at: 'asc' },
  });
  expect(entries.map(({ method, status, actor }) => [method, status, actor])).toEqual([
    ['PUT', 400, user.email],
    ['PUT', 204, user.email],
  ]);
});

test.each<[string, object, string]>([
  ['a wrong current password', { current_password: 'a guess', new_password: NEW }, 'current_password'],
  ['a new password that is too short', { new_password: 'k3!xQ' }, 'new_password'],
  ['a new password that is easy to guess', { new_password: 'password1234' }, 'new_password'],
  ['no new password', { new_password: undefined }, 'new_password'],
])('%s is a 400 that names the member, and changes nothing', async (_, given, path) => {
  const user = await aSignedInUser();
  const { status, body } = await user.change({ current_password: user.password, new_password: NEW, ...given });
  expect(status).toBe(400);
  expect(pathsOf(body)).toEqual([path]);
  expect(await user.statusWith(user.password)).toBe(200);
  expect(await statusOf(user.other)).toBe(200);
});

test('the e-mail address of the user is an easy new password', async () => {
  const user = await aSignedInUser();
  const { body } = await user.change({ current_password: user.password, new_password: user.email });
  expect(pathsOf(body)).toEqual(['new_password']);
});

test('wrong current passwords count as failed sign-ins, so that they cannot be guessed in a session', async () => {
  const user = await aSignedInUser();
  const guess = () => user.change({ current_password: 'a guess', new_password: NEW });
  for (let failures = 0; failures <= FREE_FAILURES; failures++) expect((await guess()).status).toBe(400);
  await sql.$executeRaw`UPDATE sign_in_failures SET blocked_until = blocked_until + interval '1 hour'`;
  const { status, body, headers } = await user.change({ current_password: user.password, new_password: NEW });
  expect({ status, code: body.code }).toEqual({ status: 429, code: 'rate_limited' });
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  const { status: signIn } = await world.nobody.post(LOGIN, { email: user.email, password: user.password }, user.from);
  expect(signIn).toBe(429);
});

test('of two concurrent changes of the own password, one succeeds', async () => {
  const user = await aSignedInUser();
  const passwords = [NEW, `${NEW} again`];
  const statuses = await Promise.all(
    passwords.map(
      async (new_password) => (await user.change({ current_password: user.password, new_password })).status,
    ),
  );
  expect([...statuses].sort()).toEqual([204, 400]);
  expect(await user.statusWith(passwords[statuses.indexOf(204)] ?? '')).toBe(200);
});
