import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const PATH = '/api/v1/account/profile';

test('shows the role of a user, and the organization with its tier', async () => {
  const organization = await world.anOrganization();
  const member = await world.aMember(organization, 'member');
  const { id, name, slug } = organization;
  expect((await member.get(PATH)).body.profile).toEqual({
    id: expect.any(String),
    email: null,
    name: '',
    role: 'user',
    org_role: 'member',
    organization: { id, name, slug, tier: 'free', status: 'active' },
  });
});

test('keeps a name that the user has set when later tokens contain another name', async () => {
  const call = async (name: string) => world.api(`Bearer ${await world.issuer.sign('chooser', { name })}`);
  expect((await (await call('Given')).get(PATH)).body.profile.name).toBe('Given');
  expect((await (await call('Renamed there')).get(PATH)).body.profile.name).toBe('Renamed there');
  await (await call('Given')).put(PATH, { name: 'Chosen' });
  expect((await (await call('Another')).get(PATH)).body.profile.name).toBe('Chosen');
});

test('accepts a profile as it was read, and changes only the name', async () => {
  const user = await world.aUser('user');
  const { profile } = (await user.get(PATH)).body;
  const { status, body } = await user.put(PATH, { ...profile, name: 'Ada', role: 'superadmin', org_role: 'org_admin' });
  expect(status).toBe(200);
  expect(body.profile).toEqual({ ...profile, name: 'Ada' });
});

test.each([
  [{ name: '' }, 'name'],
  [{ name: null }, 'name'],
  [{ password: 'x' }, 'password'],
])('rejects %j with an error for the member %s', async (body, path) => {
  const answer = await (await world.aUser('user')).put(PATH, body);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(path);
});
