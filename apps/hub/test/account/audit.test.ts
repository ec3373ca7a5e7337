// Changes by members leave entries, which the org_admins of their organization read.
import { startWorld } from '../world.ts';

const world = await startWorld();
const administrator = await world.aUser('admin');
const sql = world.database.client;
afterAll(() => world.stop());

const ACCOUNT = '/api/v1/account';
const idOf = async (api: typeof administrator): Promise<string> =>
  (await api.get(`${ACCOUNT}/profile`)).body.profile.id;

test('each change of an organization by its members has an entry with the user and the object', async () => {
  const founder = await world.aUser('user');
  const founderId = await idOf(founder);
  const { body } = await founder.post(`${ACCOUNT}/organizations`, { name: 'Recorded', slug: 'recorded' });
  const orgId = body.organization.id;
  const { body: invited } = await founder.post(`${ACCOUNT}/invitations`, { org_role: 'member' });
  const { body: other } = await founder.post(`${ACCOUNT}/invitations`, {});
  await founder.delete(`${ACCOUNT}/invitations/${other.invitation.id}`);
  const joiner = await world.aUser('user');
  const joinerId = await idOf(joiner);
  await joiner.post(`${ACCOUNT}/members`, { code: invited.invitation.code });
  const { body: created } = await founder.post(`${ACCOUNT}/api-keys`, { name: 'ci' });
  const keyId = created.apiKey.id;
  await founder.put(`${ACCOUNT}/api-keys/${keyId}`, { name: 'build' });
  await founder.put(`${ACCOUNT}/api-keys?id=${keyId}`, {});
  await founder.delete(`${ACCOUNT}/api-keys?id=${keyId}`);
  await founder.put(`${ACCOUNT}/members/${joinerId}`, { org_role: 'org_admin' });
  await founder.delete(`${ACCOUNT}/members/${joinerId}`);
  const { entries } = (await founder.get(`${ACCOUNT}/audit`)).body;
  const listed = entries
    .reverse()
    .map((entry: Record<string, string>) => [entry.method, entry.path, entry.user_id, entry.object_id]);
  expect(listed).toEqual([
    ['POST', `${ACCOUNT}/organizations`, founderId, orgId],
    ['POST', `${ACCOUNT}/invitations`, founderId, invited.invitation.id],
    ['POST', `${ACCOUNT}/invitations`, founderId, other.invitation.id],
    ['DELETE', `${ACCOUNT}/invitations/${other.invitation.id}`, founderId, other.invitation.id],
    ['POST', `${ACCOUNT}/members`, joinerId, joinerId],
    ['POST', `${ACCOUNT}/api-keys`, founderId, keyId],
    ['PUT', `${ACCOUNT}/api-keys/${keyId}`, founderId, keyId],
    ['PUT', `${ACCOUNT}/api-keys`, founderId, keyId],
    ['DELETE', `${ACCOUNT}/api-keys`, founderId, keyId],
    ['PUT', `${ACCOUNT}/members/${joinerId}`, founderId, joinerId],
    ['DELETE', `${ACCOUNT}/members/${joinerId}`, founderId, joinerId],
  ]);
  expect(JSON.stringify(await sql.auditEntry.findMany({ where: { org_id: orgId } }))).not.toContain(created.apiKey.key);
});

test('an org_admin reads the log of the own organization only, and a member none', async () => {
  const [one, other] = [await world.anOrganization(), await world.anOrganization()];
  const [admin, stranger] = [await world.aMember(one, 'org_admin'), await world.aMember(other, 'org_admin')];
  await admin.post(`${ACCOUNT}/api-keys`, { name: 'ci' });
  await administrator.put(`/api/v1/admin/api-keys?id=${one.keyRow.id}`, { name: 'renamed' });
  const { entries, next_cursor } = (await admin.get(`${ACCOUNT}/audit?limit=1`)).body;
  expect(entries).toMatchObject([{ method: 'PUT', path: '/api/v1/admin/api-keys', object_id: one.keyRow.id }]);
  const { body: rest } = await admin.get(`${ACCOUNT}/audit?limit=1&cursor=${next_cursor}`);
  expect(rest).toMatchObject({ entries: [{ method: 'POST' }], next_cursor: null });
  expect((await stranger.get(`${ACCOUNT}/audit`)).body.entries).toEqual([]);
  expect((await stranger.get(`${ACCOUNT}/audit?org_id=${one.id}`)).status).toBe(400);
  expect((await (await world.aMember(one, 'member')).get(`${ACCOUNT}/audit`)).status).toBe(403);
  expect((await (await world.aUser('user')).get(`${ACCOUNT}/audit`)).body.code).toBe('no_organization');
});
