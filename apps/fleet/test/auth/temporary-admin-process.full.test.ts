import { startProcessWorld } from '../process-world.ts';

const VARIABLES = { SVC_TEMP_ADMIN_USERNAME: 'first-admin', SVC_TEMP_ADMIN_PASSWORD: 'a password of the first hours' };
const ME = '/api/v1/auth/me';

const world = await startProcessWorld();
type Fleet = Awaited<ReturnType<typeof world.startFleet>>;

async function post({ url }: Fleet, path: string, { token, ...body }: { readonly [member: string]: string }) {
  const answer = await fetch(`${url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts the members of a body
  return { status: answer.status, body: (await answer.json()) as any };
}
const { SVC_TEMP_ADMIN_USERNAME: username, SVC_TEMP_ADMIN_PASSWORD: password } = VARIABLES;
const signIn = (fleet: Fleet) => post(fleet, 'auth/login', { username, password });

/** The credentials of the temporary admin from before the fleet was stopped. */
const left = await (async () => {
  const fleet = await world.startFleet(VARIABLES);
  const session = (await signIn(fleet)).body;
  const made = { token: session.access_token, name: 'made in the first hours', role: 'admin' };
  const { secret } = (await post(fleet, 'tokens', made)).body.token;
  await world.stop(fleet);
  return { session, secret };
})();

afterEach(() => world.endAll());
afterAll(() => world.database.drop());

const changes = [
  { how: 'without the variables', changed: {} },
  {
    how: 'with another password',
    changed: { ...VARIABLES, SVC_TEMP_ADMIN_PASSWORD: 'another password of the first hours' },
  },
  { how: 'with another username', changed: { ...VARIABLES, SVC_TEMP_ADMIN_USERNAME: 'second-admin' } },
];

test.each(changes)(
  'after a restart $how, the fleet rejects the session of the temporary admin at its first request, and keeps its token',
  async ({ changed }) => {
    const fleet = await world.startFleet(changed);
    const { access_token, refresh_token } = left.session;
    const refused = await fleet.get(ME, access_token);
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ code: 'invalid_token' });
    const refreshed = await post(fleet, 'auth/refresh', { refresh_token });
    expect(refreshed).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
    expect(await signIn(fleet)).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    const me = await (await fleet.get(ME, left.secret)).json();
    expect(me).toMatchObject({ user: { kind: 'token', name: 'made in the first hours', role: 'admin' } });
    const { tokens } = (await (await fleet.get('/api/v1/tokens', left.secret)).json()) as { tokens: object[] };
    expect(tokens).toContainEqual(expect.objectContaining({ created_by: 'temporary-admin', status: 'active' }));
    await world.stop(fleet);
  },
);

test('after a restart with the same variables, the fleet accepts the session of the temporary admin', async () => {
  const fleet = await world.startFleet(VARIABLES);
  expect((await fleet.get(ME, left.session.access_token)).status).toBe(200);
  await world.stop(fleet);
});
