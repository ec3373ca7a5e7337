import { PARTS } from '../objects.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const sql = world.database.client;
afterAll(() => world.stop());

const PLAN = '/api/v1/admin/visibility/plan';
const ACCESS = '/api/v1/admin/catalog-access';
const admin = await world.aUser('admin');

type Counts = { readonly gained: number; readonly lost: number };
type Change = Counts & { readonly applications: Counts };
type Planned = Change & { readonly id: string; readonly categories: readonly (Change & { readonly slug: string })[] };

const plan = async (body: object): Promise<{ everyone: Change; organizations: Planned[]; total: number }> => {
  const { status, body: reply } = await admin.post(PLAN, body);
  expect(status).toBe(200);
  return reply;
};
/** A change of templates only. */
const ofTemplates = (gained: number, lost: number): Change => ({ gained, lost, applications: { gained: 0, lost: 0 } });
const of = ({ organizations }: { readonly organizations: readonly Planned[] }, { id }: { readonly id: string }) => {
  const found = organizations.find((each) => each.id === id);
  return found && { gained: found.gained, lost: found.lost, applications: found.applications };
};

/** A private category with templates, and organizations with and without a grant. */
async function aScene() {
  const category = await world.aCategory({ is_private: true });
  const granted = await world.anOrganization();
  const other = await world.anOrganization();
  const owner = await world.anOrganization();
  await world.aGrant(granted, category);
  const templates = [
    await world.aTemplate({ category_id: category.id }),
    await world.aTemplate({ category_id: category.id, is_public: false }),
    await world.aTemplate({ category_id: category.id, is_public: false, owner_org_id: owner.id }),
  ];
  return { category, granted, other, owner, templates };
}

const total = async (organization: Parameters<typeof world.as>[0]) =>
  (await world.as(organization).get('/api/v1/catalog/templates?limit=1')).body.pagination.total;

test('a plan states what a grant shows and a revocation hides, and changes nothing', async () => {
  const { category, granted, other, owner } = await aScene();
  const totals = async () => ({
    granted: await total(granted),
    other: await total(other),
    owner: await total(owner),
  });
  const before = await totals();
  const planned = await plan({
    grants: [other, owner].map(({ id }) => ({ org_id: id, category_id: category.id })),
    revokes: [{ org_id: granted.id, category_id: category.id }],
  });
  expect(of(planned, other)).toEqual(ofTemplates(2, 0));
  // The template that it owns is visible already.
  expect(of(planned, owner)).toEqual(ofTemplates(2, 0));
  expect(of(planned, granted)).toEqual(ofTemplates(0, 2));
  expect(planned.everyone).toEqual(ofTemplates(0, 0));
  expect(planned.organizations.find(({ id }) => id === other.id)?.categories).toEqual([
    { id: category.id, slug: category.slug, ...ofTemplates(2, 0) },
  ]);
  expect(await totals()).toEqual(before);
});

test('the plan agrees with what organizations see after the change', async () => {
  const { category, granted, other, owner } = await aScene();
  const organizations = [granted, other, owner];
  const before = await Promise.all(organizations.map(total));
  const body = {
    grants: [{ org_id: other.id, category_id: category.id }],
    revokes: [{ org_id: granted.id, category_id: category.id }],
  };
  const planned = await plan(body);
  expect((await admin.put(ACCESS, body)).body).toEqual({ granted: 1, revoked: 1 });
  const after = await Promise.all(organizations.map(total));
  const differences = organizations.map((organization) => {
    const { gained, lost } = of(planned, organization) ?? ofTemplates(0, 0);
    return gained - lost;
  });
  expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual(differences);
});

test('a plan states whom a category hides from when it becomes private, and who keeps it by a grant', async () => {
  const category = await world.aCategory();
  const granted = await world.anOrganization();
  const owner = await world.anOrganization();
  await world.aGrant(granted, category);
  await world.aTemplate({ category_id: category.id });
  await world.aTemplate({ category_id: category.id, owner_org_id: owner.id });
  const planned = await plan({ categories: [{ id: category.id, is_private: true }] });
  expect(planned.everyone).toEqual(ofTemplates(0, 2));
  expect(of(planned, granted)).toEqual(ofTemplates(0, 0));
  expect(of(planned, owner)).toEqual(ofTemplates(0, 1));
  expect(planned.total).toBe(2);
});

test('a plan states what a withdrawal hides', async () => {
  const { granted, owner, other, templates } = await aScene();
  const open = await world.aTemplate();
  const planned = await plan({ withdrawn: [open.id, ...templates.map(({ id }) => id)] });
  expect(planned.everyone).toEqual(ofTemplates(0, 1));
  expect(of(planned, granted)).toEqual(ofTemplates(0, 3));
  expect(of(planned, owner)).toEqual(ofTemplates(0, 2));
  expect(of(planned, other)).toBeUndefined(); // it loses what everyone loses
});

test('a plan states what happens to applications beside templates', async () => {
  const { category, granted, other } = await aScene();
  const application = async (given: object) => {
    const body = { name: 'Wiki', category_id: category.id, parts: PARTS, ...given };
    return (await admin.post('/api/v1/admin/applications', body)).body.application;
  };
  const wiki = await application({});
  const own = await application({ name: 'Own wiki', is_public: false, owner_org_id: other.id });
  const planned = await plan({
    grants: [{ org_id: other.id, category_id: category.id }],
    revokes: [{ org_id: granted.id, category_id: category.id }],
  });
  expect(of(planned, other)).toEqual({ gained: 2, lost: 0, applications: { gained: 1, lost: 0 } });
  expect(of(planned, granted)).toEqual({ gained: 0, lost: 2, applications: { gained: 0, lost: 1 } });
  const withdrawn = await plan({ withdrawn: [wiki.id, own.id] });
  expect(of(withdrawn, granted)).toEqual({ gained: 0, lost: 0, applications: { gained: 0, lost: 1 } });
  expect(of(withdrawn, other)).toEqual({ gained: 0, lost: 0, applications: { gained: 0, lost: 1 } });
});

test('a plan without changes, and one of unknown objects, changes nothing', async () => {
  const unknown = '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10';
  const nothing = { everyone: ofTemplates(0, 0), organizations: [], total: 0 };
  expect(await plan({})).toEqual(nothing);
  const grants = [{ org_id: unknown, category_id: unknown }];
  expect(await plan({ grants, withdrawn: [unknown], categories: [{ id: unknown, is_private: true }] })).toEqual(
    nothing,
  );
});

test('a plan has at most 256 changes of each kind', async () => {
  const pair = { org_id: '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10', category_id: '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10' };
  const { status, body } = await admin.post(PLAN, { grants: Array.from({ length: 257 }, () => pair) });
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: [{ path: 'grants', message: 'must have at most 256 entries' }],
  });
});

describe('a set of grants', () => {
  test('is stored in one transaction with one audit entry, and repeating it changes nothing', async () => {
    const { category, granted, other } = await aScene();
    const body = {
      grants: [{ org_id: other.id, category_id: category.id }],
      revokes: [{ org_id: granted.id, category_id: category.id }],
    };
    const entries = () => sql.auditEntry.count({ where: { method: 'PUT', path: ACCESS } });
    const before = await entries();
    expect((await admin.put(ACCESS, body)).body).toEqual({ granted: 1, revoked: 1 });
    expect(await entries()).toBe(before + 1);
    expect((await admin.put(ACCESS, body)).body).toEqual({ granted: 0, revoked: 0 });
    const grants = await sql.catalogAccess.findMany({ where: { category_id: category.id } });
    expect(grants.map(({ org_id }) => org_id)).toEqual([other.id]);
  });

  test('with an unknown object changes nothing', async () => {
    const { category, granted, other } = await aScene();
    const unknown = '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10';
    for (const [pair, code] of [
      [{ org_id: unknown, category_id: category.id }, 'unknown_organization'],
      [{ org_id: other.id, category_id: unknown }, 'unknown_category'],
    ] as const) {
      const grants = [{ org_id: other.id, category_id: category.id }, pair];
      const { body } = await admin.put(ACCESS, { grants, revokes: [{ org_id: granted.id, category_id: category.id }] });
      expect(body.code).toBe(code);
    }
    const stored = await sql.catalogAccess.findMany({ where: { category_id: category.id } });
    expect(stored.map(({ org_id }) => org_id)).toEqual([granted.id]);
  });

  test('must not grant and revoke the same', async () => {
    const { category, other } = await aScene();
    const pair = [{ org_id: other.id, category_id: category.id }];
    const { status, body } = await admin.put(ACCESS, { grants: pair, revokes: pair });
    expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'revokes' });
  });
});

describe('GET /admin/templates?as=', () => {
  const slugs = async (query: string) => {
    const { body } = await admin.get(`/api/v1/admin/templates?${query}`);
    return body.templates.map(({ slug }: { slug: string }) => slug);
  };

  test('lists what an organization sees with its API keys', async () => {
    const { granted, other, owner } = await aScene();
    for (const organization of [granted, other, owner]) {
      const { body } = await world.as(organization).get('/api/v1/catalog/templates?limit=100');
      const expected = body.templates.map(({ slug }: { slug: string }) => slug);
      expect(await slugs(`as=${organization.id}&limit=100`)).toEqual(expected);
    }
  });

  test('combines with a search, paging and view=summary', async () => {
    const { granted, templates } = await aScene();
    const [first] = templates;
    expect(await slugs(`as=${granted.id}&search=${first?.slug}&view=summary`)).toEqual([first?.slug]);
    const { body } = await admin.get(`/api/v1/admin/templates?as=${granted.id}&limit=1&page=2`);
    expect(body).toMatchObject({ templates: [{}], pagination: { page: 2, limit: 1, total: await total(granted) } });
    const beyond = await admin.get(`/api/v1/admin/templates?as=${granted.id}&page=1000`);
    expect(beyond.body).toMatchObject({ templates: [], pagination: { total: await total(granted) } });
  });

  test('requires an organization that exists, and no org_id', async () => {
    const { granted } = await aScene();
    const unknown = await admin.get('/api/v1/admin/templates?as=0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10');
    expect(unknown.body.code).toBe('unknown_organization');
    const both = await admin.get(`/api/v1/admin/templates?as=${granted.id}&org_id=${granted.id}`);
    expect({ status: both.status, path: both.body.errors[0].path }).toEqual({ status: 400, path: 'as' });
  });
});
