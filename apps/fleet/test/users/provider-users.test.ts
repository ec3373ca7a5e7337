import { PROVIDER, startWorld } from '../world.ts';

const world = await startWorld({ oidc: { issuer: PROVIDER, role_map: { crew: 'operator' } } });
afterAll(() => world.stop());

const sql = world.database.client;
const { asAdmin } = world;
const USERS = '/api/v1/users';
const PASSWORD = 'seventeen quiet tractors';
const pathsOf = ({ body }: Awaited<ReturnType<typeof asAdmin.get>>) =>
  (body.errors ?? []).map(({ path }: { path: string }) => path);

test('a user of the provider has the role that their claims have in the current mapping', async () => {
  const { id, sub } = await world.anOidcUser({ role: 'crew' });
  const shown = async () => (await asAdmin.get(`${USERS}/${id}`)).body.user;
  expect(await shown()).toMatchObject({ source: 'oidc', role: 'operator', issuer: PROVIDER, subject: sub });
  await asAdmin.put('/api/v1/settings/oidc', { role_map: { crew: 'viewer' } });
  expect((await shown()).role).toBe('viewer');
  await asAdmin.put('/api/v1/settings/oidc', { role_map: { others: 'viewer' } });
  expect((await shown()).role).toBeNull();
  await asAdmin.delete('/api/v1/settings/oidc');
});

test('a user of the provider cannot be given a role: it follows from the claims', async () => {
  const { id } = await world.anOidcUser({ role: 'crew' });
  const { status, body } = await asAdmin.put(`${USERS}/${id}`, { role: 'admin', name: 'x' });
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'role_managed_by_provider' });
});

test.each(['name', 'password'])('a user of the provider cannot be given a %s', async (member) => {
  const { id } = await world.anOidcUser();
  const answer = await asAdmin.put(`${USERS}/${id}`, { [member]: PASSWORD });
  expect(answer.status).toBe(400);
  expect(pathsOf(answer)).toEqual([member]);
  expect((await sql.user.findUniqueOrThrow({ where: { id } })).password_hash).toBeNull();
});

test('a removed user of the provider is gone, and their e-mail address can be used again', async () => {
  const { id } = await world.anOidcUser();
  await sql.user.update({ where: { id }, data: { email: 'elsewhere@example.test' } });
  expect(await asAdmin.delete(`${USERS}/${id}`)).toMatchObject({ status: 204, text: '' });
  for (const answer of [
    await asAdmin.get(`${USERS}/${id}`),
    await asAdmin.put(`${USERS}/${id}`, {}),
    await asAdmin.delete(`${USERS}/${id}`),
  ]) {
    expect(answer.status).toBe(404);
  }
  expect((await asAdmin.get(`${USERS}?limit=100`)).text).not.toContain(id);
  expect(
    (await asAdmin.post(USERS, { email: 'elsewhere@example.test', role: 'viewer', password: PASSWORD })).status,
  ).toBe(201);
});
