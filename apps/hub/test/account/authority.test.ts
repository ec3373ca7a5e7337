// What a member created as an org_admin ends when the member is one no longer: attacks with former rights.
import { type Answered, connectionsBlocked } from '@svc/testing';
import { anInstance, startWorld } from '../world.ts';

const world = await startWorld();
const another = anInstance(world.databaseUrl, world.issuer);
const admin = await world.aUser('admin');
const sql = world.database.client;
afterAll(async () => {
  await another.stop();
  await world.stop();
});

const MEMBERS = '/api/v1/account/members';
const INVITATIONS = '/api/v1/account/invitations';
const KEYS = '/api/v1/account/api-keys';
const PROFILE = '/api/v1/account/profile';
const ORGANIZATIONS = '/api/v1/account/organizations';
const USERS = '/api/v1/admin/users';
const OWN = '/api/v1/catalog/organization';

type Api = typeof admin;
const idOf = async (api: Api): Promise<string> => (await api.get(PROFILE)).body.profile.id;

/** An organization with two org_admins; the second one has a key and invitations. */
async function aScene() {
  const organization = await world.anOrganization();
  const founder = await world.aMember(organization, 'org_admin');
  const attacker = await world.aMember(organization, 'org_admin');
  const code = await anInvitation(attacker);
  const { body } = await attacker.post(KEYS, { name: 'ci' });
  expect(await statuses(body.apiKey.key)).toEqual([200, 200]);
  return { organization, founder, attacker, attackerId: await idOf(attacker), code, key: body.apiKey };
}
async function anInvitation(by: Api, org_role = 'org_admin'): Promise<string> {
  const { status, body } = await by.post(INVITATIONS, { org_role });
  expect(status).toBe(201);
  return body.invitation.code;
}
const statuses = async (key: string) =>
  Promise.all([world, another].map(async ({ api }) => (await api(`Bearer ${key}`).get(OWN)).status));
const join = async (by: Api, code: string) => (await by.post(MEMBERS, { code })).status;

const endings: Readonly<Record<string, (scene: Awaited<ReturnType<typeof aScene>>) => Promise<{ status: number }>>> = {
  'was removed by a member': ({ founder, attackerId }) => founder.delete(`${MEMBERS}/${attackerId}`),
  'was demoted by a member': ({ founder, attackerId }) =>
    founder.put(`${MEMBERS}/${attackerId}`, { org_role: 'member' }),
  'was removed by an administrator': ({ attackerId }) => admin.put(`${USERS}?id=${attackerId}`, { org_id: null }),
  'was demoted by an administrator': ({ attackerId }) => admin.put(`${USERS}?id=${attackerId}`, { org_role: 'member' }),
  'was blocked': ({ attackerId }) => admin.put(`${USERS}?id=${attackerId}`, { blocked: true }),
};

test.each(Object.entries(endings))('nothing that an org_admin created works after the org_admin %s', async (_, end) => {
  const scene = await aScene();
  const { founder, attacker, code, key } = scene;
  expect((await end(scene)).status).toBeLessThan(300);
  expect(await statuses(key.key)).toEqual([401, 401]);
  expect(await join(attacker, code)).toBeGreaterThanOrEqual(401);
  expect(await join(await world.aUser('user'), code)).toBe(401);
  expect((await attacker.post(INVITATIONS, {})).status).toBeGreaterThanOrEqual(403);
  expect((await founder.get(PROFILE)).body.profile.org_role).toBe('org_admin');
});

test('an invitation of a user who is no longer an org_admin is not valid, also without a withdrawal', async () => {
  const { attackerId, code } = await aScene();
  await sql.user.update({ where: { id: attackerId }, data: { org_role: 'member' } });
  expect(await join(await world.aUser('user'), code)).toBe(401);
});

test('an invitation without a known creator is not valid', async () => {
  const { attackerId, code } = await aScene();
  await sql.invitation.updateMany({ where: { created_by_user: attackerId }, data: { created_by_user: null } });
  expect(await join(await world.aUser('user'), code)).toBe(401);
});

test.each(['of the organization', 'of another member'])(
  'a key %s that a member reissued, whose secret only the member knows, ends with the member',
  async (whose) => {
    const { organization, founder, attacker, attackerId } = await aScene();
    const { body: created } = await founder.post(KEYS, { name: 'ours' });
    const id = whose === 'of the organization' ? organization.keyRow.id : created.apiKey.id;
    const { body } = await attacker.put(KEYS, { id });
    expect(body.apiKey.owner.id).toBe(attackerId);
    expect(await statuses(body.apiKey.key)).toEqual([200, 200]);
    await founder.delete(`${MEMBERS}/${attackerId}`);
    expect(await statuses(body.apiKey.key)).toEqual([401, 401]);
  },
);

test.each([
  ['created', (by: Api) => by.post(KEYS, { name: 'late' })],
  ['reissued', (by: Api, id: string) => by.put(KEYS, { id })],
])('a key that is %s while its org_admin is removed is not valid afterwards', async (_, attempt) => {
  const { organization, founder, attacker, attackerId } = await aScene();
  let answers: Promise<[Answered, Answered]> | undefined;
  await sql.$transaction(async (transaction) => {
    // The row can be read, but not changed.
    await transaction.$executeRaw`LOCK TABLE api_keys IN SHARE MODE`;
    const attempted = attempt(attacker, organization.keyRow.id);
    await connectionsBlocked(sql, 1);
    answers = Promise.all([attempted, founder.delete(`${MEMBERS}/${attackerId}`)]);
    await connectionsBlocked(sql, 2);
  });
  const [attempted, removed] = (await answers) ?? [];
  expect(removed?.status).toBe(204);
  expect(await statuses(attempted?.body.apiKey.key)).toEqual([401, 401]);
});

describe('the keys of a member who leaves', () => {
  test('are kept on request, and then belong to the caller', async () => {
    const { founder, attackerId, key } = await aScene();
    const founderId = await idOf(founder);
    expect((await founder.get(KEYS)).body.apiKeys).toMatchObject([
      { id: key.id, owner: { id: attackerId } },
      { owner: null },
    ]);
    expect((await founder.delete(`${MEMBERS}/${attackerId}?keys=keep`)).status).toBe(204);
    expect(await statuses(key.key)).toEqual([200, 200]);
    expect((await founder.get(KEYS)).body.apiKeys).toMatchObject([
      { id: key.id, owner: { id: founderId } },
      { owner: null },
    ]);
  });

  test('belong to the organization if an administrator keeps them, and the response lists them', async () => {
    const { founder, attackerId, key } = await aScene();
    const { body } = await admin.put(`${USERS}?id=${attackerId}`, { org_role: 'member', keys: 'keep' });
    expect(body.keys).toMatchObject([{ id: key.id, name: 'ci', owner: null }]);
    expect(await statuses(key.key)).toEqual([200, 200]);
    const { body: demoted } = await founder.put(`${MEMBERS}/${attackerId}`, { org_role: 'member' });
    expect(demoted.keys).toEqual([]);
    expect((await founder.delete(`${MEMBERS}/${attackerId}?keys=none`)).status).toBe(400);
  });

  test('remain when the user gets another role at the hub, and keys of the organization remain always', async () => {
    const { organization, attackerId, key } = await aScene();
    expect((await admin.put(`${USERS}?id=${attackerId}`, { role: 'admin' })).body.keys).toEqual([]);
    expect(await statuses(key.key)).toEqual([200, 200]);
    await admin.put(`${USERS}?id=${attackerId}`, { org_id: null });
    expect(await statuses(organization.key)).toEqual([200, 200]);
  });
});

describe('an administrator', () => {
  test('cannot leave the other members of an organization without an org_admin', async () => {
    const organization = await world.anOrganization();
    const only = await world.aMember(organization, 'org_admin');
    const member = await world.aMember(organization, 'member');
    const id = await idOf(only);
    for (const change of [{ org_id: null }, { org_role: 'member' }, { blocked: true }]) {
      expect((await admin.put(`${USERS}?id=${id}`, change)).body.code).toBe('last_org_admin');
    }
    await admin.put(`${USERS}?id=${await idOf(member)}`, { org_id: null });
    expect((await admin.put(`${USERS}?id=${id}`, { org_id: null })).status).toBe(200);
  });

  test('removes the only org_admin before or after a user joins with an invitation, and not meanwhile', async () => {
    const organization = await world.anOrganization();
    const only = await world.aMember(organization, 'org_admin');
    await anInvitation(only);
    const [earlier] = (await only.get(INVITATIONS)).body.invitations;
    const code = await anInvitation(only, 'member');
    const joiner = await world.aUser('user');
    await idOf(joiner);
    const id = await idOf(only);
    const requests = await sql.$transaction(async (transaction) => {
      // The removal has counted the other members, and waits until it can withdraw this invitation.
      await transaction.$queryRaw`SELECT FROM invitations WHERE id = ${earlier.id}::uuid FOR UPDATE`;
      const removal = admin.put(`${USERS}?id=${id}`, { org_id: null });
      await connectionsBlocked(sql, 1);
      const joining = joiner.post(MEMBERS, { code });
      await connectionsBlocked(sql, 2);
      return { removal, joining };
    });
    expect((await requests.removal).status).toBe(200);
    expect((await requests.joining).body.code).toBe('invalid_grant');
    expect(await sql.user.count({ where: { org_id: organization.id } })).toBe(0);
  });

  test('blocks a user on each replica, until the user is unblocked', async () => {
    const authorization = await world.anAuthorization('user');
    const apis = [world.api(authorization), another.api(authorization)] as const;
    const id = await idOf(apis[0]);
    await apis[1].get(PROFILE);
    const { body } = await admin.put(`${USERS}?id=${id}`, { blocked: true });
    expect(body.user.blocked_at).toEqual(expect.any(String));
    for (const api of apis)
      expect(await api.get(PROFILE)).toMatchObject({ status: 403, body: { code: 'user_blocked' } });
    expect((await apis[0].get('/api/v1/catalog/templates')).status).toBe(403);
    expect((await admin.put(`${USERS}?id=${id}`, { blocked: false })).body.user.blocked_at).toBeNull();
    for (const api of apis) expect((await api.get(PROFILE)).status).toBe(200);
  });
});

test('a removed user cannot occupy any number of slugs', async () => {
  const user = await world.aUser('user');
  const id = await idOf(user);
  const create = async (slug: string) => (await user.post(ORGANIZATIONS, { name: slug, slug })).status;
  for (const slug of ['occupied-1', 'occupied-2', 'occupied-3']) {
    expect(await create(slug)).toBe(201);
    await admin.put(`${USERS}?id=${id}`, { org_id: null });
  }
  expect(await create('occupied-4')).toBe(409);
  expect(await sql.organization.count({ where: { slug: 'occupied-4' } })).toBe(0);
});
