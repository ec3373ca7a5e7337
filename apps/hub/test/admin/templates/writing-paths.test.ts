// Each way to change the content of a template leaves exactly one revision, and one audit entry except SQL.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { commandUser } from '@svc/http';
import { advise, restore, withdrawAdvisory } from '../../../src/commands/history.ts';
import { importCatalog } from '../../../src/commands/import.ts';
import { writeCatalog } from '../../../src/database/catalog-write.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
const me: { readonly id: string; readonly email: string } = (await admin.get('/api/v1/account/profile')).body.profile;
const category = await world.aCategory({ slug: 'tools', name: 'Tools' });
const token = await world.aServiceToken(admin, { categories: [category.id] });
const folder = mkdtempSync(path.join(tmpdir(), 'writing-paths-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.stop();
});

const PATH = '/api/v1/admin/templates';
const aTemplate = () => world.aTemplate({ category_id: category.id, description: 'one' });
const fileOf = (name: string, description: string) =>
  `name: ${name}\ncategory: tools\ndescription: ${JSON.stringify(description)}\n`;
const CATEGORIES = '- { slug: tools, name: Tools }\n';

const publish = (files: Record<string, string>, message: string) =>
  token.post('/api/v1/publish/import', {
    files: [
      { path: 'categories.yaml', content: CATEGORIES },
      ...Object.entries(files).map(([slug, content]) => ({ path: `templates/${slug}.yaml`, content })),
    ],
    message,
  });

/** Imports a file with the command. */
function importFile(slug: string, content: string) {
  const catalog = mkdtempSync(path.join(folder, 'catalog-'));
  mkdirSync(path.join(catalog, 'templates'));
  writeFileSync(path.join(catalog, 'categories.yaml'), CATEGORIES);
  writeFileSync(path.join(catalog, 'templates', `${slug}.yaml`), content);
  return importCatalog(world.database, { folder: catalog, dryRun: false, message: 'why' });
}

const byUser = { author: me.email, author_id: me.id, message: 'why' };
const byCommand = { author: commandUser(), author_id: null, message: 'why' };
const unknown = { author: null, author_id: null, message: '' };
type Author = Readonly<Record<'author' | 'author_id' | 'message', string | null>>;

interface WritingPath {
  readonly by: Author;
  /** The number of audit entries. */
  readonly entries: 0 | 1;
  /** Creates what the change needs. @returns the change, which resolves to the slug of the template */
  readonly prepare: () => Promise<() => Promise<string>>;
}

const succeeds = async (answer: Promise<{ readonly status: number }>, slug: string) => {
  expect((await answer).status).toBeLessThan(300);
  return slug;
};
const deleted = async () => {
  const template = await aTemplate();
  await admin.delete(`${PATH}?id=${template.id}`);
  return template;
};

/** A statement about a template, which the catalog writes without an author. */
const bySql = (statementFor: (id: string) => Prisma.Sql): WritingPath => ({
  by: unknown,
  entries: 0,
  prepare: async () => {
    const { id, slug } = await aTemplate();
    return async () => {
      await writeCatalog(world.database, (transaction) => transaction.$executeRaw(statementFor(id)));
      return slug;
    };
  },
});

const paths: Readonly<Record<string, WritingPath>> = {
  'a creation over the API': {
    by: byUser,
    entries: 1,
    prepare: async () => () =>
      succeeds(admin.post(PATH, { name: 'x', slug: 'created', category_id: category.id, message: 'why' }), 'created'),
  },
  'a change over the API': {
    by: byUser,
    entries: 1,
    prepare: async () => {
      const { id, slug } = await aTemplate();
      return () => succeeds(admin.put(PATH, { id, description: 'two', message: 'why' }), slug);
    },
  },
  'a deletion over the API': {
    by: byUser,
    entries: 1,
    prepare: async () => {
      const { id, slug } = await aTemplate();
      return () => succeeds(admin.delete(`${PATH}?id=${id}`, { message: 'why' }), slug);
    },
  },
  'a restoration of an earlier revision': {
    by: byUser,
    entries: 1,
    prepare: async () => {
      const { id, slug } = await aTemplate();
      await admin.put(PATH, { id, description: 'two' });
      return () => succeeds(admin.post(`${PATH}/${id}/restore`, { revision: 1, message: 'why' }), slug);
    },
  },
  'a restoration of a deleted template': {
    by: byUser,
    entries: 1,
    prepare: async () => {
      const { id, slug } = await deleted();
      return () => succeeds(admin.post(`${PATH}/${id}/restore`, { revision: 1, message: 'why' }), slug);
    },
  },
  'a creation with a service token': {
    by: byUser,
    entries: 1,
    prepare: async () => () => succeeds(publish({ published: fileOf('x', 'one') }, 'why'), 'published'),
  },
  'a change with a service token': {
    by: byUser,
    entries: 1,
    prepare: async () => {
      const { slug, name } = await aTemplate();
      return () => succeeds(publish({ [slug]: fileOf(name, 'two') }, 'why'), slug);
    },
  },
  'a creation by the command import': {
    by: byCommand,
    entries: 1,
    prepare: async () => async () => {
      await importFile('imported', fileOf('x', 'one'));
      return 'imported';
    },
  },
  'a change by the command import': {
    by: byCommand,
    entries: 1,
    prepare: async () => {
      const { slug, name } = await aTemplate();
      return async () => {
        await importFile(slug, fileOf(name, 'two'));
        return slug;
      };
    },
  },
  'a restoration by the command restore': {
    by: byCommand,
    entries: 1,
    prepare: async () => {
      const { slug } = await deleted();
      return async () => {
        await restore(slug, { revision: '1', message: 'why' })(world.database);
        return slug;
      };
    },
  },
  'a change by SQL, or by an earlier release of the hub': bySql(
    (id) => Prisma.sql`UPDATE templates SET description = 'two' WHERE id = ${id}::uuid`,
  ),
  'a deletion by SQL': bySql((id) => Prisma.sql`DELETE FROM templates WHERE id = ${id}::uuid`),
};

const counts = async () => ({
  revisions: await client.templateRevision.count(),
  entries: await client.auditEntry.count(),
});

test.each(Object.entries(paths))('%s leaves one revision', async (_, { by, entries, prepare }) => {
  const write = await prepare();
  const before = await counts();
  const slug = await write();
  expect(await counts()).toEqual({ revisions: before.revisions + 1, entries: before.entries + entries });
  const newest = await client.templateRevision.findFirstOrThrow({ where: { slug }, orderBy: { at: 'desc' } });
  expect(newest).toMatchObject(by);
  if (entries === 0) return;
  const entry = await client.auditEntry.findFirstOrThrow({ orderBy: { at: 'desc' } });
  expect(entry.object_id).toBe(newest.template_id);
});

test('an import of several objects has an audit entry for each of them, with the same request', async () => {
  const own = await world.aCategory();
  const aTemplateThere = () => world.aTemplate({ category_id: own.id, description: 'one' });
  const [one, two] = await Promise.all([aTemplateThere(), aTemplateThere()]);
  const publisher = await world.aServiceToken(admin, { categories: [own.id] });
  const before = await counts();
  const there = (content: string) => content.replace('tools', own.slug);
  const answer = await publisher.post('/api/v1/publish/import?prune=true', {
    files: [
      { path: 'categories.yaml', content: '[]' },
      { path: `templates/${one.slug}.yaml`, content: there(fileOf(one.name, 'two')) },
      { path: 'templates/several.yaml', content: there(fileOf('x', 'x')) },
    ],
  });
  expect(answer.body).toMatchObject({ created: 1, updated: 1, deleted: 1 });
  expect(await counts()).toEqual({ revisions: before.revisions + 3, entries: before.entries + 3 });
  const entries = await client.auditEntry.findMany({ orderBy: { at: 'desc' }, take: 3 });
  const created = await client.template.findUniqueOrThrow({ where: { slug: 'several' } });
  expect(entries.map(({ object_id }) => object_id).sort()).toEqual([one.id, two.id, created.id].sort());
  expect(new Set(entries.map(({ request_id }) => request_id)).size).toBe(1);
});

const unchanged: Readonly<Record<string, (template: { id: string; slug: string; name: string }) => Promise<unknown>>> =
  {
    'a PUT without a change': ({ id }) => admin.put(PATH, { id, description: 'one', message: 'why' }),
    'a PUT of the status': ({ id }) => admin.put(PATH, { id, status: 'blocked', status_message: 'Broken' }),
    'an import without a change': ({ slug, name }) => importFile(slug, fileOf(name, 'one')),
    'an import of the status': ({ slug, name }) => importFile(slug, `${fileOf(name, 'one')}status: deprecated\n`),
    'a new advisory': ({ id }) =>
      admin.post(`${PATH}/${id}/advisories`, { severity: 'note', message: 'x', first_revision: 1 }),
    'the command advise, and withdraw-advisory': async ({ slug }) => {
      const id = await advise(slug, { severity: 'note', message: 'x', from: '1' })(world.database);
      await withdrawAdvisory(id)(world.database);
    },
    'a failed change': ({ id }) => admin.put(PATH, { id, description: 'two', category_id: crypto.randomUUID() }),
  };

test.each(Object.entries(unchanged))('%s leaves no revision', async (_, write) => {
  const template = await aTemplate();
  const before = await client.templateRevision.count();
  await write(template);
  expect(await client.templateRevision.count()).toBe(before);
});

test('a change whose revision cannot be stored changes nothing', async () => {
  const { id } = await aTemplate();
  await client.$executeRaw`ALTER TABLE template_revisions ADD CONSTRAINT refused CHECK (false) NOT VALID`;
  try {
    expect((await admin.put(PATH, { id, description: 'two' })).status).toBeGreaterThanOrEqual(500);
  } finally {
    await client.$executeRaw`ALTER TABLE template_revisions DROP CONSTRAINT refused`;
  }
  expect(await client.template.findUniqueOrThrow({ where: { id } })).toMatchObject({ description: 'one', revision: 1 });
});
