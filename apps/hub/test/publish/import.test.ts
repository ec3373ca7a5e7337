import { publishLimits } from '@svc/contract/hub';
import { connectionsBlocked } from '@svc/testing';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
const anonymous = world.anonymous;
afterAll(() => world.stop());

const IMPORT = '/api/v1/publish/import';
type Api = typeof admin;

interface Files {
  readonly categories?: string;
  readonly templates?: Readonly<Record<string, string>>;
}
const body = ({ categories = '[]\n', templates = {} }: Files) => ({
  files: [
    { path: 'categories.yaml', content: categories },
    ...Object.entries(templates).map(([name, content]) => ({ path: `templates/${name}.yaml`, content })),
  ],
});
const send = (by: Api, files: Files, query = '') => by.post(`${IMPORT}?${query}`, body(files));

/** Everything that an import could change. */
const stored = async () =>
  JSON.stringify([
    await client.category.findMany({ orderBy: { id: 'asc' } }),
    await client.template.findMany({ orderBy: { id: 'asc' } }),
    await client.catalogAccess.findMany({ orderBy: { id: 'asc' } }),
    await client.organization.findMany({ orderBy: { id: 'asc' }, include: { subscription: true } }),
    await client.catalogClock.findMany(),
    await client.auditEntry.count(),
  ]);

let scenes = 0;
/** A category of a token with two templates, and a private category of others with a grant and a template. */
async function aScene() {
  const count = ++scenes;
  const own = await world.aCategory({ slug: `own-${count}`, name: 'Own' });
  const foreign = await world.aCategory({ slug: `foreign-${count}`, is_private: true });
  const organization = await world.anOrganization({ slug: `acme-${count}` });
  await world.aGrant(organization, foreign);
  for (const name of ['one', 'two']) {
    await world.aTemplate({ slug: `${name}-${count}`, name, category_id: own.id });
  }
  const owner_org_id = organization.id;
  await world.aTemplate({ slug: `secret-${count}`, name: 'secret', category_id: foreign.id, owner_org_id });
  const token = await world.aServiceToken(admin, { categories: [own.id], scopes: ['import', 'prune'] });
  return { count, own: own.slug, foreign: foreign.slug, organization: organization.slug, token };
}
/** For requests that change nothing. */
const shared = await aScene();
const file = (name: string, category: string, rest = '') => `name: ${name}\ncategory: ${category}\n${rest}`;

describe('a service token', () => {
  test('creates, updates and keeps templates of its categories, with an audit entry of the token and its owner for each of them', async () => {
    const { count, own, token } = await aScene();
    const templates = {
      [`one-${count}`]: file('one', own, 'description: Edited.\n'),
      [`new-${count}`]: file('new', own, 'memory_request: 500m\n'),
    };
    const { status, body: reply } = await send(token, { templates });
    expect({ status, reply }).toEqual({
      status: 200,
      reply: {
        applied: true,
        changes: [
          { verb: 'create', kind: 'template', slug: `new-${count}`, members: [] },
          { verb: 'update', kind: 'template', slug: `one-${count}`, members: ['description'] },
        ],
        created: 1,
        updated: 1,
        deleted: 0,
        unchanged: 0,
        warnings: [expect.stringMatching(`^templates/new-${count}.yaml:3: warning: memory_request: must not`)],
      },
    });
    expect((await anonymous.get(`/api/v1/catalog/templates/one-${count}`)).body.description).toBe('Edited.');
    expect((await anonymous.get(`/api/v1/catalog/templates/two-${count}`)).status).toBe(200);
    const { entries } = (await admin.get(`/api/v1/admin/audit?token_id=${token.id}`)).body;
    const { id, email } = (await admin.get('/api/v1/account/profile')).body.profile;
    const changed = await client.template.findMany({ where: { slug: { in: Object.keys(templates) } } });
    const entry = { user_id: id, email, token_id: token.id, method: 'POST', path: IMPORT, status: 200 };
    expect(entries).toHaveLength(2);
    expect(entries).toEqual(
      expect.arrayContaining(changed.map((template) => expect.objectContaining({ ...entry, object_id: template.id }))),
    );
    const before = await stored();
    expect((await send(token, { templates })).body).toMatchObject({ changes: [], unchanged: 2 });
    expect(await stored()).toBe(before);
  });

  test('changes the texts of its category, and not whether it is private', async () => {
    const { own, token } = await aScene();
    const described = (rest: string) => `- { slug: ${own}, name: Own, description: Edited.${rest} }\n`;
    expect((await send(token, { categories: described('') })).body).toMatchObject({ updated: 1 });
    const before = await stored();
    const { status, body: problem } = await send(token, { categories: described(', is_private: true') });
    expect({ status, errors: problem.errors }).toEqual({
      status: 400,
      errors: [{ path: 'files', message: expect.stringMatching(/^categories\.yaml:1: is_private: must be false/) }],
    });
    expect(await stored()).toBe(before);
  });

  test('receives a plan with prune, which changes nothing, and then deletes only templates of its categories', async () => {
    const { count, own, token } = await aScene();
    const files = { templates: { [`one-${count}`]: file('one', own) } };
    const before = await stored();
    const { body: plan } = await send(token, files, 'plan=true&prune=true');
    const deletion = { verb: 'delete', kind: 'template', slug: `two-${count}`, members: [] };
    expect(plan).toMatchObject({ applied: false, changes: [deletion], deleted: 1, unchanged: 1 });
    const refused = await send(token, files, 'prune=true&max_deletions=0');
    expect(refused).toMatchObject({ status: 409, body: { code: 'too_many_deletions' } });
    expect(refused.body.detail).toMatch(/would delete 1 objects, but at most 0/);
    expect(await stored()).toBe(before);
    expect((await send(token, files, 'prune=true')).body).toMatchObject({ applied: true, changes: [deletion] });
    expect(await client.template.count({ where: { slug: `secret-${count}` } })).toBe(1);
    expect(await client.category.count({ where: { slug: own } })).toBe(1);
    expect((await send(token, {}, 'prune=true')).body.changes).toEqual([{ ...deletion, slug: `one-${count}` }]);
    expect(await client.category.count({ where: { slug: own } })).toBe(1);
  });

  test.each([
    ['without the scope prune, prunes', ['import'], 'prune=true'],
    ['without the scope prune, plans to prune', ['import'], 'plan=true&prune=true'],
    ['without the scope import, imports', ['export'], ''],
    ['without the scope import, plans an import', ['export'], 'plan=true'],
  ])('%s nothing', async (_, scopes, query) => {
    const token = await world.aServiceToken(admin, { categories: [shared.own], scopes });
    const before = await stored();
    const { status, body: problem } = await send(token, {}, query);
    expect({ status, code: problem.code }).toEqual({ status: 403, code: 'insufficient_scope' });
    expect(await stored()).toBe(before);
  });

  /** Attempts to read or change what is outside the categories of the token. */
  const attempts: readonly (readonly [string, (scene: Awaited<ReturnType<typeof aScene>>) => Files, RegExp])[] = [
    ['describes a foreign category', ({ foreign }) => ({ categories: `- { slug: ${foreign}, name: X }\n` }), /not for/],
    [
      'creates a category',
      () => ({ categories: '- { slug: absent, name: X }\n' }),
      /^categories\.yaml:1: slug: .*not for/,
    ],
    [
      'creates a template in a foreign category',
      ({ foreign }) => ({ templates: { fresh: file('x', foreign) } }),
      /^templates\/fresh\.yaml:2: category: .*not for/,
    ],
    [
      'moves a template to a foreign category',
      ({ count, foreign }) => ({ templates: { [`one-${count}`]: file('one', foreign) } }),
      /:2: category: .*not for/,
    ],
    [
      'takes a template of a foreign category',
      ({ count, own }) => ({ templates: { [`secret-${count}`]: file('x', own) } }),
      /:1: slug: is already in use outside the categories of the token$/,
    ],
    [
      'takes the slug of a foreign template',
      ({ count, own }) => ({ templates: { fresh: file('x', own, `slug: secret-${count}\n`) } }),
      /:3: slug: is already in use outside the categories of the token$/,
    ],
    [
      'gives a template to an organization',
      ({ count, own, organization }) => ({
        templates: { [`one-${count}`]: file('one', own, `owner: ${organization}\n`) },
      }),
      /:3: owner: must not be stated/,
    ],
    [
      'asks whether an organization exists',
      ({ own }) => ({ templates: { fresh: file('x', own, 'owner: absent\n') } }),
      /:3: owner: must not be stated/,
    ],
    [
      'takes a template from its owner',
      ({ count, own }) => ({ templates: { [`one-${count}`]: file('one', own, 'owner: null\n') } }),
      /:3: owner: must not be stated/,
    ],
  ];

  test.each(attempts)(
    'that %s is refused with the line, and with prune deletes nothing',
    async (_, filesOf, message) => {
      const before = await stored();
      for (const query of ['', 'plan=true', 'prune=true']) {
        const { status, body: problem, text } = await send(shared.token, filesOf(shared), query);
        expect({ status, code: problem.code, errors: problem.errors }).toEqual({
          status: 400,
          code: 'validation_failed',
          errors: [{ path: 'files', message: expect.stringMatching(message) }],
        });
        expect(text).not.toMatch(/private|grant/);
      }
      expect(await stored()).toBe(before);
    },
  );

  test('receives the same response for a foreign and for an absent category', async () => {
    const { foreign, token } = shared;
    const answerTo = async (slug: string) => {
      const { status, body: problem } = await send(token, {
        categories: `- { slug: ${slug}, name: X }\n`,
        templates: { x: file('x', slug) },
      });
      return JSON.stringify({ status, ...problem, request_id: '' }).replaceAll(slug, 'slug');
    };
    expect(await answerTo(foreign)).toBe(await answerTo('not-there-at-all'));
  });

  test('keeps the owner and the grants of what it changes', async () => {
    const { count, own, foreign } = await aScene();
    const { id } = await client.category.findUniqueOrThrow({ where: { slug: foreign } });
    const token = await world.aServiceToken(admin, { categories: [own, id] });
    const grants = await client.catalogAccess.findMany({ where: { category_id: id } });
    const template = { templates: { [`secret-${count}`]: file('secret', own) } };
    expect((await send(token, template)).body).toMatchObject({ updated: 1 });
    const moved = await client.template.findUniqueOrThrow({ where: { slug: `secret-${count}` } });
    expect(moved.owner_org_id).toBe(grants[0]?.org_id);
    expect((await send(token, {}, 'prune=true')).body).toMatchObject({ deleted: 3 });
    expect(await client.catalogAccess.findMany({ where: { category_id: id } })).toEqual(grants);
  });

  test('is of no use in a category that has the slug of a deleted one', async () => {
    const { own, token } = await aScene();
    await writeCatalog(world.database, async ({ template, category }) => {
      await template.deleteMany({ where: { category: { slug: own } } });
      await category.delete({ where: { slug: own } });
    });
    await world.aCategory({ slug: own });
    const { status, body: problem } = await send(token, { templates: { x: file('x', own) } });
    expect({ status, message: problem.errors[0].message }).toEqual({
      status: 400,
      message: expect.stringMatching(/not for a category/),
    });
  });

  test('that is revoked while its import waits for another writer changes nothing', async () => {
    const { count, own, token } = await aScene();
    const before = await client.template.findMany();
    const waiting = await client.$transaction(async (transaction) => {
      await transaction.$queryRaw`SELECT FROM catalog_clock FOR UPDATE`;
      const sent = send(token, { templates: { [`late-${count}`]: file('late', own) } });
      await connectionsBlocked(client, 1);
      await client.serviceToken.update({ where: { id: token.id }, data: { revoked_at: new Date() } });
      return { sent };
    });
    expect(await waiting.sent).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    expect(await client.template.findMany()).toEqual(before);
  });
});

test('an administrator imports categories, owners and deletions, as with the command', async () => {
  const { count, own, foreign, organization } = await aScene();
  const files = {
    categories: `- { slug: ${own}, name: Own, is_private: true }\n- { slug: made-${count}, name: Made }\n`,
    templates: { [`one-${count}`]: file('one', `made-${count}`, `owner: ${organization}\n`) },
  };
  const { status, body: reply } = await send(admin, files, 'prune=true&max_deletions=1000');
  expect({ status, applied: reply.applied }).toEqual({ status: 200, applied: true });
  expect(reply.changes).toEqual(
    expect.arrayContaining([
      { verb: 'update', kind: 'category', slug: own, members: ['is_private'] },
      { verb: 'create', kind: 'category', slug: `made-${count}`, members: [] },
      { verb: 'update', kind: 'template', slug: `one-${count}`, members: ['category', 'owner'] },
      { verb: 'delete', kind: 'template', slug: `secret-${count}`, members: [] },
      { verb: 'delete', kind: 'category', slug: foreign, members: [] },
    ]),
  );
  const { id: user_id } = (await admin.get('/api/v1/account/profile')).body.profile;
  const [entry] = (await admin.get(`/api/v1/admin/audit?path=${IMPORT}&limit=1`)).body.entries;
  expect(entry).toMatchObject({ user_id, token_id: null, path: IMPORT });
});

test.each([
  ['a file that cannot be read', { broken: 'name: [\n' }, /^templates\/broken\.yaml:2: cannot be read/],
  [
    'a value that parsers read differently',
    { a: 'name: no\ncategory: x\n' },
    /^templates\/a\.yaml:1: no must be quoted/,
  ],
  [
    'an unknown member',
    { a: 'name: A\ncategory: x\nimge_name: x\n' },
    /a\.yaml:3: imge_name: .*did you mean image_name/,
  ],
  [
    'an unknown category',
    { a: 'name: A\ncategory: nowhere\n' },
    /^templates\/a\.yaml:2: category: no category has the slug/,
  ],
  [
    'a slug of two files',
    { a: file('A', 'x'), b: file('B', 'x', 'slug: a\n') },
    /b\.yaml:3: the slug a is already used in/,
  ],
])('%s is refused with the message of the command, and nothing is changed', async (_, templates, message) => {
  const before = await stored();
  const { status, body: problem } = await send(admin, { categories: '- { slug: x, name: X }\n', templates });
  expect({ status, code: problem.code }).toEqual({ status: 400, code: 'validation_failed' });
  expect(problem.errors.map((error: { message: string }) => error.message)).toEqual(
    expect.arrayContaining([expect.stringMatching(message)]),
  );
  expect(await stored()).toBe(before);
});

test.each([
  ['a path outside the catalog', [{ path: '../categories.yaml', content: '' }], 'files.0.path'],
  ['a hidden file', [{ path: 'templates/.a.yaml', content: '' }], 'files.0.path'],
  ['a file in a folder', [{ path: 'templates/a/b.yaml', content: '' }], 'files.0.path'],
  [
    'a path twice',
    [
      { path: 'categories.yaml', content: '' },
      { path: 'categories.yaml', content: '' },
    ],
    'files.1.path',
  ],
  [
    'too many files',
    Array.from({ length: publishLimits.templates + publishLimits.applications + 2 }, () => ({
      path: 'categories.yaml',
      content: '',
    })),
    'files',
  ],
  ['a file that is nested deeply', [{ path: 'categories.yaml', content: '['.repeat(50_000) }], 'files.0.content'],
  ['too large a file', [{ path: 'categories.yaml', content: '#'.repeat(1_200_001) }], 'files.0.content'],
])('a request with %s is refused', async (_, files, path) => {
  const { status, body: problem } = await admin.post(IMPORT, { files });
  expect({ status, path: problem.errors[0].path }).toEqual({ status: 400, path });
});

test('a catalog without its file of categories is refused', async () => {
  const { body: problem } = await admin.post(IMPORT, {
    files: [{ path: 'templates/a.yaml', content: file('a', 'x') }],
  });
  expect(problem.errors[0].message).toMatch(/^categories\.yaml: the file does not exist/);
});

test('a body beyond the bound is refused with the bound', async () => {
  const { status, body: problem } = await admin.post(IMPORT, ' '.repeat(16 * 2 ** 20 + 1));
  expect({ status, detail: problem.detail }).toEqual({ status: 413, detail: expect.stringMatching(/16777216 bytes/) });
});

test('files with more lexemes than are allowed are refused with the bound', async () => {
  const content = `a: [${'0,'.repeat(6000)}0]\n`;
  const templates = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`t${index}`, content]));
  const { status, body: problem } = await send(admin, { templates });
  expect({ status, errors: problem.errors }).toEqual({
    status: 400,
    errors: [{ path: 'files', message: 'must have at most 1000000 lexemes in all files together' }],
  });
});

test('a change whose audit entry cannot be stored is rolled back as a whole', async () => {
  const { count, own, token } = await aScene();
  const files = {
    categories: `- { slug: ${own}, name: Renamed }\n`,
    templates: { [`two-${count}`]: file('renamed', own), [`new-${count}`]: file('new', own) },
  };
  const before = await stored();
  await client.$executeRaw`ALTER TABLE audit_entries ADD CONSTRAINT refused CHECK (false) NOT VALID`;
  try {
    expect(await send(token, files, 'prune=true')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  } finally {
    await client.$executeRaw`ALTER TABLE audit_entries DROP CONSTRAINT refused`;
  }
  expect(await stored()).toBe(before);
  expect((await send(token, files, 'prune=true')).body).toMatchObject({ created: 1, updated: 2, deleted: 1 });
});

// The last test: the catalog has too many categories afterwards.
test('a catalog beyond the bound is refused with the bound, and a token for few categories is not', async () => {
  const { own, count, token } = await aScene();
  const data = Array.from({ length: publishLimits.categories }, (_, index) => {
    const name = `many-${index}`;
    return { slug: name, name, sort_name: name };
  });
  await writeCatalog(world.database, ({ category }) => category.createMany({ data }));
  const before = await stored();
  const { status, body: problem } = await send(admin, {}, 'prune=true');
  expect({ status, code: problem.code }).toEqual({ status: 413, code: 'payload_too_large' });
  expect(problem.detail).toMatch(/^There are \d+ categories to read, and at most 1000 are allowed/);
  expect((await admin.get('/api/v1/publish/export')).body.detail).toMatch(/at most 1000 are allowed/);
  expect(await stored()).toBe(before);
  const files = { templates: { [`one-${count}`]: file('changed', own) } };
  expect((await send(token, files)).body).toMatchObject({ updated: 1 });
});
