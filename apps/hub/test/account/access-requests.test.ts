import type { Api } from '@svc/testing';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const sql = world.database.client;
afterAll(() => world.stop());

const OWN = '/api/v1/account/access-requests';
const ALL = '/api/v1/admin/access-requests';
const admin = await world.aUser('admin');

/** A member of an organization, and a private category with a template. */
async function aScene() {
  const organization = await world.anOrganization();
  const category = await world.aCategory({ is_private: true });
  const template = await world.aTemplate({ category_id: category.id });
  const sees = async () =>
    (await world.as(organization).get(`/api/v1/catalog/templates/${template.slug}`)).status === 200;
  return { organization, category, template, sees, member: await world.aMember(organization, 'member') };
}

const request = async (member: Api, body: object): Promise<{ id: string }> => {
  const { status, body: reply } = await member.post(OWN, { reason: 'For the team', ...body });
  expect(status).toBe(201);
  return reply.request;
};

test('an administrator sees what a request would grant, and grants it', async () => {
  const { organization, category, member, sees } = await aScene();
  const { id } = await request(member, { category_slug: category.slug });
  const { requests } = (await admin.get(`${ALL}?status=open`)).body;
  expect(requests.find((each: { id: string }) => each.id === id)).toMatchObject({
    org_slug: organization.slug,
    category_slug: category.slug,
    template_slug: null,
    reason: 'For the team',
    status: 'open',
    has_grant: false,
    category: { id: category.id, is_private: true },
  });
  expect(await sees()).toBe(false);
  const shown = { id: category.id, version: 1 };
  const { status, body } = await admin.put(`${ALL}/${id}`, { status: 'granted', answer: 'Welcome', category: shown });
  expect(status).toBe(200);
  expect(body.request).toMatchObject({ status: 'granted', has_grant: true });
  expect(await sees()).toBe(true);
  expect((await member.get(OWN)).body.requests).toMatchObject([{ id, status: 'granted', answer: 'Welcome' }]);
  const entry = await sql.auditEntry.findFirstOrThrow({ where: { object_id: id } });
  expect(entry).toMatchObject({ method: 'PUT', path: `${ALL}/${id}`, status: 200 });
});

test('a request for a template grants its category, also if there is a grant already', async () => {
  const { organization, category, template, member, sees } = await aScene();
  const { id } = await request(member, { template_slug: template.slug });
  await world.aGrant(organization, category);
  const shown = { id: category.id, version: 1 };
  expect((await admin.put(`${ALL}/${id}`, { status: 'granted', category: shown })).body.request).toMatchObject({
    has_grant: true,
    category: { id: category.id },
  });
  expect(await sees()).toBe(true);
});

test('a grant applies to what the administrator saw: the category and its version', async () => {
  const { category, template, member, sees } = await aScene();
  const other = await world.aCategory({ is_private: true });
  const { id } = await request(member, { template_slug: template.slug });
  const decide = (shown: object) => admin.put(`${ALL}/${id}`, { status: 'granted', ...shown });
  await writeCatalog(world.database, (t) =>
    t.template.update({ where: { id: template.id }, data: { category_id: other.id } }),
  );
  for (const shown of [{}, { category: { id: category.id, version: 1 } }, { category: { id: other.id, version: 2 } }]) {
    expect(await decide(shown)).toMatchObject({ status: 409, body: { code: 'outdated_decision' } });
  }
  expect(await sees()).toBe(false);
  const { requests } = (await admin.get(`${ALL}?status=open`)).body;
  const [{ category: now }] = requests.filter((each: { id: string }) => each.id === id);
  expect((await decide({ category: { id: now.id, version: now.version } })).status).toBe(200);
  expect(await sql.catalogAccess.count({ where: { category_id: category.id } })).toBe(0);
});

test('the response is the same whether what is requested exists or not', async () => {
  const { category, template, member } = await aScene();
  const shapes = await Promise.all(
    [{ category_slug: category.slug }, { category_slug: 'nothing' }, { template_slug: template.slug }].map(
      async (body) => {
        const { status, headers, body: reply } = await member.post(OWN, body);
        const { id: _, created_at: __, category_slug: ___, template_slug: ____, ...rest } = reply.request;
        return { status, cache: headers['cache-control'], rest };
      },
    ),
  );
  expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
});

test('a request for something that does not exist cannot be granted, only declined', async () => {
  const { member } = await aScene();
  const { id } = await request(member, { category_slug: 'nothing-of-this-name' });
  expect((await admin.put(`${ALL}/${id}`, { status: 'granted' })).body.code).toBe('unknown_category');
  expect((await admin.put(`${ALL}/${id}`, { status: 'declined' })).body.request).toMatchObject({
    status: 'declined',
    category: null,
  });
});

test('a decision is final, and a declined request grants nothing', async () => {
  const { category, member, sees } = await aScene();
  const { id } = await request(member, { category_slug: category.slug });
  const answers = await Promise.all(
    ['declined', 'declined'].map((status) => admin.put(`${ALL}/${id}`, { status, answer: 'Not now' })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await admin.put(`${ALL}/${id}`, { status: 'granted' })).body.code).toBe('already_decided');
  expect(await sees()).toBe(false);
  await request(member, { category_slug: category.slug });
});

test('a repeated request is the one that is open', async () => {
  const { category, organization, member } = await aScene();
  const { id } = await request(member, { category_slug: category.slug });
  const again = await (await world.aMember(organization, 'member')).post(OWN, { category_slug: category.slug });
  expect({ status: again.status, id: again.body.request.id }).toEqual({ status: 200, id });
});

test('an organization sees only its own requests, and has at most 50 open ones', async () => {
  const { member, organization } = await aScene();
  await request((await aScene()).member, { category_slug: 'of-another-organization' });
  expect((await member.get(OWN)).body.requests).toEqual([]);
  const data = Array.from({ length: 50 }, (_, index) => ({ org_id: organization.id, category_slug: `c-${index}` }));
  await sql.accessRequest.createMany({ data });
  const { status, body } = await member.post(OWN, { category_slug: 'one-more' });
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: 409,
    code: 'too_many_requests',
    detail: expect.stringContaining('50'),
  });
  expect((await member.get(`${OWN}?limit=2&page=25`)).body).toMatchObject({
    requests: [{}, {}],
    pagination: { total: 50 },
  });
});

test('a user without an organization, and a suspended organization, cannot request access', async () => {
  const user = await world.aUser('user');
  expect((await user.post(OWN, { category_slug: 'x' })).body.code).toBe('no_organization');
  expect((await user.get(OWN)).body.requests).toEqual([]);
  const suspended = await world.anOrganization({ status: 'suspended' });
  const member = await world.aMember(suspended, 'org_admin');
  expect((await member.post(OWN, { category_slug: 'x' })).body.code).toBe('organization_suspended');
});

test.each([
  ['neither slug', {}],
  ['both slugs', { category_slug: 'a', template_slug: 'b' }],
])('%s is a 400', async (_, body) => {
  const { member } = await aScene();
  const { status, body: problem } = await member.post(OWN, body);
  expect({ status, path: problem.errors[0].path }).toEqual({ status: 400, path: 'category_slug' });
});

test('an unknown request is a 404', async () => {
  const { status } = await admin.put(`${ALL}/0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10`, { status: 'declined' });
  expect(status).toBe(404);
});
