import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const { asAdmin, nobody } = world;
const ACCEPT = '/api/v1/auth/invitation';
const PASSWORD = 'seventeen quiet tractors';
let count = 0;

/** A user who was created without a password, and invited. */
async function anInvitedUser(role = 'viewer') {
  const email = `invited-${++count}@example.test`;
  const { body } = await asAdmin.post('/api/v1/users', { email, name: 'Ada', role });
  const { id } = body.user;
  const invite = () => asAdmin.post(`/api/v1/users/${id}/invitation`);
  const { status, body: invited, headers } = await invite();
  expect(status).toBe(201);
  expect(headers['cache-control']).toBe('no-store');
  return { id, email, invite, ...invited.invitation } as {
    readonly id: string;
    readonly email: string;
    readonly invite: typeof invite;
    readonly code: string;
    readonly expires_at: string;
  };
}

const accept = (code: string, password = PASSWORD) => nobody.post(ACCEPT, { code, password });
const signIn = (email: string, password = PASSWORD) => nobody.post('/api/v1/auth/login', { email, password });

test('an invited user chooses a password once, and signs in with it', async () => {
  const { email, code, expires_at } = await anInvitedUser();
  expect(new Date(expires_at).getTime()).toBeGreaterThan(Date.now() + 23 * 3_600_000);
  expect((await signIn(email)).body.code).toBe('invalid_credentials');
  expect(await accept(code)).toMatchObject({ status: 200, body: { email } });
  expect((await signIn(email)).status).toBe(200);
  expect((await accept(code, 'another unrelated sentence')).body.code).toBe('invalid_grant');
  expect((await signIn(email)).status).toBe(200);
});

test('the code is not stored, and appears in no list', async () => {
  const { code } = await anInvitedUser();
  const seen = [
    await sql.invitation.findMany(),
    (await asAdmin.get('/api/v1/users')).body,
    await sql.auditEntry.findMany(),
  ];
  expect(JSON.stringify(seen)).not.toContain(code);
});

test('a user with a password cannot be invited, and an open invitation never replaces a password', async () => {
  const user = await world.aUser('operator');
  expect(await asAdmin.post(`/api/v1/users/${user.id}/invitation`)).toMatchObject({
    status: 409,
    body: { code: 'password_exists' },
  });
  const { id, email, code } = await anInvitedUser();
  await sql.user.update({
    where: { id },
    data: { password_hash: await world.passwords.hash('eleven patient lanterns') },
  });
  expect((await accept(code)).body.code).toBe('invalid_grant');
  expect((await signIn(email, 'eleven patient lanterns')).status).toBe(200);
});

test('a later invitation, a withdrawal, an expiry and a removal make an invitation invalid', async () => {
  const [again, withdrawn, expired, removed] = await Promise.all([
    anInvitedUser(),
    anInvitedUser(),
    anInvitedUser(),
    anInvitedUser(),
  ]);
  const { body: later } = await again.invite();
  const withdraw = () => asAdmin.delete(`/api/v1/users/${withdrawn.id}/invitation`);
  expect((await withdraw()).status).toBe(204);
  expect((await withdraw()).status).toBe(404);
  await sql.invitation.update({ where: { user_id: expired.id }, data: { expires_at: new Date() } });
  await asAdmin.delete(`/api/v1/users/${removed.id}`);
  for (const { code } of [again, withdrawn, expired, removed])
    expect((await accept(code)).body.code).toBe('invalid_grant');
  expect((await accept(later.invitation.code)).status).toBe(200);
});

test('a change of the password or of the role ends the invitation, a change of the name does not', async () => {
  const [byAdmin, promoted, renamed] = await Promise.all([anInvitedUser(), anInvitedUser(), anInvitedUser()]);
  const statuses = await Promise.all([
    asAdmin.put(`/api/v1/users/${byAdmin.id}`, { password: 'eleven patient lanterns' }),
    asAdmin.put(`/api/v1/users/${promoted.id}`, { role: 'admin' }),
    asAdmin.put(`/api/v1/users/${renamed.id}`, { name: 'Grace', role: 'viewer' }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const code of [byAdmin.code, promoted.code]) expect((await accept(code)).body.code).toBe('invalid_grant');
  expect((await signIn(byAdmin.email, 'eleven patient lanterns')).status).toBe(200);
  expect((await accept(renamed.code)).status).toBe(200);
});

test('a weak password is a 400 that names the member, and the invitation stays valid', async () => {
  const { code, email } = await anInvitedUser();
  for (const password of ['short', email]) {
    const { status, body } = await accept(code, password);
    expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'password' });
  }
  expect((await accept(code)).status).toBe(200);
});

test('of two concurrent acceptances, one succeeds', async () => {
  const { code } = await anInvitedUser();
  const statuses = await Promise.all([accept(code), accept(code)]);
  expect(statuses.map(({ status }) => status).sort()).toEqual([200, 401]);
});

test('invitations and their acceptance have audit entries', async () => {
  const { id, email, code } = await anInvitedUser();
  await accept(code);
  const paths = [`/api/v1/users/${id}/invitation`, ACCEPT];
  const entries = await sql.auditEntry.findMany({ where: { path: { in: paths } }, orderBy: { at: 'asc' } });
  const own = entries.filter(({ path, user_id }) => path !== ACCEPT || user_id === id);
  expect(own.map(({ method, path, status }) => [method, path, status])).toEqual([
    ['POST', paths[0], 201],
    ['POST', ACCEPT, 200],
  ]);
  expect(own[1]?.actor).toBe(email);
});

test('a user of the identity provider and an unknown user cannot be invited', async () => {
  const { id } = await world.anOidcUser();
  const { status, body } = await asAdmin.post(`/api/v1/users/${id}/invitation`);
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: [{ path: 'id', message: expect.stringContaining('identity provider') }],
  });
  for (const unknown of ['no-id', '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10']) {
    expect((await asAdmin.post(`/api/v1/users/${unknown}/invitation`)).status).toBe(404);
  }
});

test('an invited admin does not replace the last admin before the invitation is accepted', async () => {
  await sql.user.deleteMany({ where: { source: 'local' } });
  const last = await world.aUser('admin');
  const { code } = await anInvitedUser('admin');
  expect((await asAdmin.delete(`/api/v1/users/${last.id}`)).body.code).toBe('last_admin');
  expect((await asAdmin.put(`/api/v1/users/${last.id}`, { role: 'viewer' })).body.code).toBe('last_admin');
  await accept(code);
  expect((await asAdmin.delete(`/api/v1/users/${last.id}`)).status).toBe(204);
});

test('an invited admin can be removed', async () => {
  await sql.user.deleteMany({ where: { source: 'local' } });
  const { id } = await anInvitedUser('admin');
  expect((await asAdmin.delete(`/api/v1/users/${id}`)).status).toBe(204);
});
