// Attacks with former rights: what a caller held and knows from before gives no access.
import type { Api } from '@svc/testing';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { anInstance, startWorld, type TestOrganization } from '../world.ts';

const world = await startWorld();
const replica = anInstance(world.databaseUrl, world.issuer);
afterAll(async () => {
  await replica.stop();
  await world.stop();
});
const sql = world.database.client;
const admin = await world.aUser('admin');
const next = await world.anOrganization();
await world.aMember(next, 'org_admin');

const TEMPLATES = '/api/v1/catalog/templates';
const ACCOUNT = '/api/v1/account';
const OF_ORG_ADMINS = ['members', 'invitations', 'audit', 'access-requests', 'api-keys'].map(
  (list) => `${ACCOUNT}/${list}`,
);

type Caller = (service: Pick<typeof world, 'api'>) => Api;

/** A template that the organization owns and nobody else sees, and one in a category that it was granted. */
async function aScene() {
  const organization = await world.anOrganization();
  const category = await world.aCategory({ is_private: true });
  await world.aGrant(organization, category);
  const own = await world.aTemplate({ is_public: false, owner_org_id: organization.id });
  const granted = await world.aTemplate({ category_id: category.id });
  return { organization, slugs: [own.slug, granted.slug] };
}

/** Reads everything that the caller sees of the templates, and keeps it as a client does. */
async function heldBy(caller: Caller, slugs: readonly string[]) {
  const api = caller(world);
  const started = await api.get(`${TEMPLATES}/updates?cursor=start&limit=1000`);
  const { cursor, checked_at } = started.body;
  const paths = [
    `${TEMPLATES}?limit=100`,
    `${TEMPLATES}/updates?since=${new Date(0).toISOString()}`,
    `${TEMPLATES}/updates?cursor=${encodeURIComponent(cursor)}`,
    `${TEMPLATES}/updates?since=${checked_at}`,
    '/api/v1/catalog/categories',
    ...slugs.map((slug) => `${TEMPLATES}/${slug}`),
  ];
  const read = await Promise.all(paths.map(async (path) => ({ path, answer: await api.get(path) })));
  const seen = read.map(({ answer }) => answer.text).join();
  expect(slugs.filter((slug) => seen.includes(slug))).toEqual(slugs);
  return read.map(({ path, answer }) => ({ path, etag: answer.headers.etag ?? '' }));
}

/**
 * Repeats the reads with and without the entity tags that the caller holds, on both replicas.
 * @returns the responses that show a template: its members, or that the caller's copy is current
 */
async function stillShown(caller: Caller, held: Awaited<ReturnType<typeof heldBy>>, slugs: readonly string[]) {
  const shown: string[] = [];
  for (const service of [world, replica]) {
    const api = caller(service);
    for (const { path, etag } of held) {
      for (const headers of [{}, { 'If-None-Match': etag }]) {
        const { status, body, text } = await api.get(path, headers);
        // The sync names removed templates, so that the caller deletes its copy.
        const { removed: _, ...rest } = status === 200 ? body : { removed: [] };
        if (status === 304 || slugs.some((slug) => JSON.stringify(rest).includes(slug))) shown.push(`${path} ${text}`);
      }
    }
  }
  return shown;
}

const idOf = async (api: Api): Promise<string> => (await api.get(`${ACCOUNT}/profile`)).body.profile.id;
const change = async (id: string, body: object) =>
  expect((await admin.put(`/api/v1/admin/users?id=${id}`, body)).status).toBe(200);

const memberEndings: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  'was removed': (id) => change(id, { org_id: null }),
  'moved to another organization': (id) => change(id, { org_id: next.id, org_role: 'member' }),
  'moved to another organization as an org_admin': (id) => change(id, { org_id: next.id, org_role: 'org_admin' }),
  'is blocked': (id) => change(id, { blocked: true }),
};

test.each(Object.entries(memberEndings))(
  'an org_admin who %s reads and changes nothing of the organization',
  async (_, end) => {
    const { organization } = await aScene();
    await world.aMember(organization, 'org_admin');
    const sub = `former-${organization.slug}`;
    const authorization = `Bearer ${await world.issuer.sign(sub)}`;
    const former: Caller = ({ api }) => api(authorization);
    await former(world).get(TEMPLATES);
    const membership = { org_id: organization.id, org_role: 'org_admin' as const };
    await sql.user.update({ where: { iss_sub: { iss: world.issuer.issuer, sub } }, data: membership });
    const id = await idOf(former(world));
    const { invitation } = (await former(world).post(`${ACCOUNT}/invitations`, { org_role: 'org_admin' })).body;
    const { apiKey } = (await former(world).post(`${ACCOUNT}/api-keys`, { name: 'own' })).body;
    await end(id);
    for (const service of [world, replica]) {
      const api = former(service);
      for (const path of OF_ORG_ADMINS) {
        expect((await api.get(path)).text).not.toMatch(
          new RegExp(`${organization.slug}|${apiKey.id}|${invitation.id}`),
        );
      }
      const attempts = [
        await api.put(`${ACCOUNT}/api-keys`, { id: organization.keyRow.id }),
        await api.put(`${ACCOUNT}/api-keys/${organization.keyRow.id}`, { name: 'mine' }),
        await api.delete(`${ACCOUNT}/api-keys?id=${organization.keyRow.id}`),
        await api.delete(`${ACCOUNT}/invitations/${invitation.id}`),
        await api.put(`${ACCOUNT}/members/${id}`, { org_role: 'org_admin', keys: 'keep' }),
        await api.post(`${ACCOUNT}/members`, { code: invitation.code }),
      ];
      const succeeded = attempts.filter(({ status, body }) => status < 300 && body?.member?.id !== id);
      expect(succeeded).toEqual([]);
      expect((await service.api(`Bearer ${apiKey.key}`).get(TEMPLATES)).status).toBe(401);
    }
    expect((await world.as(organization).get('/api/v1/catalog/organization')).status).toBe(200);
  },
);

const organizationEndings: Readonly<Record<string, (organization: TestOrganization) => Promise<unknown>>> = {
  'lost its grant and its template': async ({ id: org_id }) => {
    await writeCatalog(world.database, async ({ catalogAccess, template }) => {
      await catalogAccess.deleteMany({ where: { org_id } });
      await template.updateMany({ where: { owner_org_id: org_id }, data: { owner_org_id: next.id } });
    });
  },
  'is suspended': ({ id }) => admin.put(`/api/v1/admin/organizations?id=${id}`, { status: 'suspended' }),
  'was deleted': async ({ id: org_id }) => {
    await writeCatalog(world.database, async ({ catalogAccess, template }) => {
      await catalogAccess.deleteMany({ where: { org_id } });
      await template.updateMany({ where: { owner_org_id: org_id }, data: { owner_org_id: next.id } });
    });
    await sql.apiKey.deleteMany({ where: { org_id } });
    await sql.subscription.deleteMany({ where: { org_id } });
    await sql.organization.delete({ where: { id: org_id } });
  },
  'has its key revoked': ({ keyRow }) => admin.delete(`/api/v1/admin/api-keys?id=${keyRow.id}`),
};

test.each(Object.entries(organizationEndings))(
  'the key of an organization that %s reads nothing that it saw before',
  async (_, end) => {
    const { organization, slugs } = await aScene();
    const former: Caller = ({ api }) => api(`Bearer ${organization.key}`);
    const held = await heldBy(former, slugs);
    await end(organization);
    expect(await stillShown(former, held, slugs)).toEqual([]);
  },
);
