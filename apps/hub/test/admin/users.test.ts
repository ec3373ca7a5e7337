import { type Api, byDepth } from '@svc/testing';
import { startWorld } from '../world.ts';

const PATH = '/api/v1/admin/users';
const ROUNDS = byDepth({ short: 20, full: 100, long: 1000 });
const ABSENT = '00000000-0000-4000-8000-000000000000';

let world: Awaited<ReturnType<typeof startWorld>>;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const idOf = async (api: Api): Promise<string> => (await api.get('/api/v1/account/profile')).body.profile.id;
const roleOf = async (api: Api): Promise<string> => (await api.get('/api/v1/account/profile')).body.profile.role;

test('lists all users with their organizations, the newest first', async () => {
  const admin = await world.aUser('admin');
  const organization = await world.anOrganization({ slug: 'acme' });
  const member = await world.aMember(organization, 'member');
  const { body } = await admin.get(PATH);
  expect(body.users.map(({ id }: { id: string }) => id)).toEqual([await idOf(member), await idOf(admin)]);
  expect(body.users[0]).toMatchObject({
    iss: world.issuer.issuer,
    role: 'user',
    org_role: 'member',
    organization: { slug: 'acme', tier: 'free' },
  });
  expect(body.users[1]).toMatchObject({ role: 'admin', organization: null, email_verified: true });
});

test('lets an admin assign and remove the role admin, with effect at the next request', async () => {
  const admin = await world.aUser('admin');
  const user = await world.aUser('user');
  const id = await idOf(user);
  expect((await admin.put(PATH, { id, role: 'admin' })).body.user).toMatchObject({ id, role: 'admin' });
  expect((await user.get(PATH)).status).toBe(200);
  await admin.put(PATH, { id, role: 'user' });
  expect((await user.get(PATH)).status).toBe(403);
});

test('lets only a superadmin assign and remove the role superadmin', async () => {
  const admin = await world.aUser('admin');
  const root = await world.aUser('superadmin');
  const user = await world.aUser('user');
  const id = await idOf(user);
  expect((await admin.put(PATH, { id, role: 'superadmin' })).body.code).toBe('insufficient_scope');
  expect((await admin.put(PATH, { id: await idOf(root), role: 'user' })).body.code).toBe('insufficient_scope');
  expect((await root.put(PATH, { id, role: 'superadmin' })).body.user.role).toBe('superadmin');
  expect((await root.put(PATH, { id, role: 'user' })).body.user.role).toBe('user');
});

test('rejects a user who raises their own role, and accepts a user who lowers it', async () => {
  await world.aUser('superadmin');
  const admin = await world.aUser('admin');
  const id = await idOf(admin);
  expect((await admin.put(PATH, { id, role: 'superadmin' })).body.code).toBe('insufficient_scope');
  expect((await admin.put(PATH, { id, role: 'user' })).body.user.role).toBe('user');
});

test('rejects the demotion of the last superadmin', async () => {
  const root = await world.aUser('superadmin');
  const id = await idOf(root);
  expect((await root.put(PATH, { id, role: 'admin' })).body.code).toBe('last_superadmin');
  expect(await roleOf(root)).toBe('superadmin');
});

test(
  'keeps one of two superadmins who demote each other concurrently',
  async () => {
    const one = await world.aUser('superadmin');
    const other = await world.aUser('superadmin');
    const oneId = await idOf(one);
    const otherId = await idOf(other);
    const { client } = world.database;
    for (let round = 0; round < ROUNDS; round++) {
      await client.user.updateMany({ where: { id: { in: [oneId, otherId] } }, data: { role: 'superadmin' } });
      const answers = await Promise.all([
        one.put(PATH, { id: otherId, role: 'user' }),
        other.put(PATH, { id: oneId, role: 'user' }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
      expect(await client.user.count({ where: { role: 'superadmin' } })).toBe(1);
    }
  },
  30_000 + ROUNDS * 300,
);

test('lets an admin add a user to an organization, change their role in it, and remove them', async () => {
  const admin = await world.aUser('admin');
  const user = await world.aUser('user');
  const { id: org_id } = await world.anOrganization();
  const id = await idOf(user);
  expect((await admin.put(PATH, { id, org_id })).body.user).toMatchObject({ org_id, org_role: 'member' });
  expect((await admin.put(PATH, { id, org_role: 'org_admin' })).body.user).toMatchObject({
    org_id,
    org_role: 'org_admin',
  });
  expect((await user.post('/api/v1/account/api-keys', { name: 'x' })).status).toBe(201);
  const { body } = await admin.put(PATH, { id, org_id: null });
  expect(body.user).toMatchObject({ org_id: null, org_role: null, organization: null });
  expect((await user.post('/api/v1/account/api-keys', { name: 'x' })).body.code).toBe('no_organization');
});

test('rejects invalid and contradictory changes of a user, and changes nothing', async () => {
  const admin = await world.aUser('admin');
  const user = await world.aUser('user');
  const id = await idOf(user);
  expect((await admin.put(PATH, { id: ABSENT, role: 'admin' })).body.code).toBe('not_found');
  expect((await admin.put(PATH, { id, org_id: ABSENT })).body.code).toBe('unknown_organization');
  expect((await admin.put(PATH, { id, org_role: 'member' })).body.errors[0].path).toBe('org_id');
  expect((await admin.put(PATH, { id, org_id: null, org_role: 'member' })).body.errors[0].path).toBe('org_role');
  expect((await admin.put(PATH, { id, role: 'owner' })).body.errors[0].path).toBe('role');
  expect((await admin.put(PATH, { role: 'admin' })).body.errors[0].path).toBe('id');
  expect(await roleOf(user)).toBe('user');
});

test('ignores read-only members of a user', async () => {
  const admin = await world.aUser('admin');
  const user = await world.aUser('user');
  const id = await idOf(user);
  const row = (await admin.get(PATH)).body.users.find((one: { id: string }) => one.id === id);
  const { org_role: _, ...sent } = row;
  const { status, body } = await admin.put(PATH, { ...sent, email: 'other@example.test', sub: 'other' });
  expect(status).toBe(200);
  expect(body.user).toMatchObject({ email: row.email, sub: row.sub });
});
