// Entries of the hub that this version of the fleet cannot read: they are skipped, named and
// fetched again.
import { type Template, templateDefaults } from '@svc/contract';
import { aTemplate } from '../a-template.ts';
import { aCategory, fromCall, refuse, sendChanged } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';
const TEMPLATES = '/api/v1/catalog/templates';

const { hub, world, mirror } = await startSyncWorld({ pageSize: 3 });

const sync = async (body = {}) => {
  const answer = await world.asOperator.post(SYNC, body);
  expect(answer).toMatchObject({ status: 200, body: { status: 'fresh' } });
  return answer.body;
};
const skippedNow = async () => (await world.asViewer.get(SYNC)).body.skipped;
const read = async (slug: string) => (await world.asViewer.get(`${TEMPLATES}/${slug}`)).body;
const NONE = { total: 0, entries: [] };

type Damage = Readonly<Record<string, unknown>>;

/**
 * From now on, the hub sends these members of a template instead of its own. Nothing changes in its
 * catalog.
 */
const damage = (id: string, given: Damage) =>
  hub.behave(
    sendChanged((good) => ({
      ...good,
      templates: good.templates.map((each: Template) => (each.id === id ? { ...each, ...given } : each)),
    })),
  );

/** Templates in the order in which a full walk lists them. */
const templates = (count: number): Template[] =>
  Array.from({ length: count }, (_, index) =>
    aTemplate({ id: `${index}0000000-0000-4000-8000-000000000000`, slug: `t${index}`, name: `Template ${index}` }),
  );

const unreadable: readonly { readonly what: string; readonly given: Damage; readonly reason: RegExp }[] = [
  { what: 'a member of another type', given: { gpu_count: 'many' }, reason: /^gpu_count must be a number/ },
  { what: 'an invalid category ID', given: { category_id: 'tools' }, reason: /^category_id must be a UUID/ },
  { what: 'NUL', given: { description: 'a\0b' }, reason: /^description must not contain NUL/ },
  { what: 'NUL in a nested member', given: { env: [{ name: 'A', value: '\0' }] }, reason: /^env must not contain NUL/ },
  { what: 'half of a surrogate pair', given: { name: 'a\ud800' }, reason: /^name .*surrogate/ },
  { what: 'a day that does not exist', given: { updated_at: '2026-02-31T00:00:00.000Z' }, reason: /^updated_at must/ },
  { what: 'no creation time', given: { created_at: undefined }, reason: /^created_at / },
  { what: 'a name that no index can store', given: { name: 'n'.repeat(5000) }, reason: /^name must have at most 600/ },
  { what: 'a tag that no index can store', given: { tags: ['t'.repeat(9000)] }, reason: /^tags each tag/ },
  {
    what: 'a nested member of another type',
    given: { ports: [{ containerPort: '80' }] },
    reason: /^ports\.0\.containerPort/,
  },
];

test.each(unreadable)(
  'a template with $what is skipped and named, keeps its previous copy, and all others are stored',
  async ({ given, reason }) => {
    const [first, second, third, fourth, last] = templates(5);
    if (!first || !second || !third || !fourth || !last) throw new Error('too few templates');
    hub.publish(first, second, third, fourth);
    hub.setCategories(aCategory());
    await sync();
    hub.publish({ ...first, name: 'First' }, { ...second, name: 'Second' }, last);
    hub.withdraw(fourth);
    damage(second.id, given);
    expect(await sync()).toMatchObject({
      checked_at: hub.checkedAt(),
      last_sync: { full: false, updated: 2, removed: 1 },
      counts: { templates: 4 },
      skipped: {
        total: 1,
        entries: [{ kind: 'template', id: second.id, slug: second.slug, reason: expect.stringMatching(reason) }],
      },
    });
    expect(await mirror.names()).toEqual(['First', 'Template 1', 'Template 2', 'Template 4']);
    expect(await read(second.slug)).toMatchObject({ name: 'Template 1', stale: true });
    expect(await read(first.slug)).toMatchObject({ name: 'First', stale: false });
    const { body } = await world.asViewer.get(TEMPLATES);
    expect(body.templates.filter(({ stale }: { stale: boolean }) => stale)).toMatchObject([{ id: second.id }]);

    hub.recover();
    hub.requests.splice(0);
    expect(await sync()).toMatchObject({ skipped: NONE, last_sync: { full: false, updated: 1 } });
    expect(hub.requests.map(({ call }) => call)).toEqual(['organization', 'updates', 'updates']);
    expect(await read(second.slug)).toMatchObject({ name: 'Second', stale: false });
    await mirror.expectLike(hub);
  },
);

test('a skipped template that the mirror does not contain is stored as soon as it can be read', async () => {
  const [first, second] = templates(2);
  if (!first || !second) throw new Error('too few templates');
  hub.publish(first, second);
  damage(second.id, { slug: 7 });
  expect(await sync()).toMatchObject({ skipped: { total: 1, entries: [{ id: second.id, slug: null }] } });
  expect(await mirror.names()).toEqual([first.name]);
  await sync();
  expect(await skippedNow()).toMatchObject({ total: 1 });
  hub.recover();
  await sync();
  expect(await skippedNow()).toEqual(NONE);
  await mirror.expectLike(hub);
});

test('a full walk keeps the previous copy of a template that it lists and that cannot be read, and removes others', async () => {
  const given = templates(7);
  const [kept, gone] = given;
  if (!kept || !gone) throw new Error('too few templates');
  hub.publish(...given.filter((each) => each !== gone));
  const backup = hub.now();
  hub.publish(gone);
  await sync();
  hub.restore(backup);
  damage(kept.id, { description: '\0' });
  for (const updated of [5, 5]) {
    expect(await sync({ full: true })).toMatchObject({ last_sync: { full: true, updated }, skipped: { total: 1 } });
    expect(await mirror.names()).toEqual(given.filter((each) => each !== gone).map(({ name }) => name));
    expect(await read(kept.slug)).toMatchObject({ name: kept.name, stale: true });
  }
});

test('a catalog of which no template can be read is not an empty catalog', async () => {
  const [only] = templates(1);
  if (!only) throw new Error('no template');
  hub.publish(only);
  await sync();
  damage(only.id, { name: 1 });
  expect(await sync({ full: true })).toMatchObject({ counts: { templates: 1 }, skipped: { total: 1 } });
});

test('a full walk with a template without a readable ID removes nothing until the template can be read', async () => {
  const given = templates(3);
  const [bad, gone] = given;
  if (!bad || !gone) throw new Error('too few templates');
  hub.publish(...given.filter((each) => each !== gone));
  const backup = hub.now();
  hub.publish(gone);
  await sync();
  hub.restore(backup);
  damage(bad.id, { id: 'none' });
  expect(await sync({ full: true })).toMatchObject({
    last_sync: { full: true, removed: 0 },
    skipped: { total: 1, entries: [{ id: null, slug: bad.slug, reason: 'id must be a UUID' }] },
  });
  expect(await mirror.names()).toEqual(given.map(({ name }) => name));
  await sync();
  expect(await skippedNow()).toMatchObject({ total: 1 });
  hub.recover();
  await sync(); // finds that the page can be read
  expect(await sync()).toMatchObject({ last_sync: { full: true, removed: 1 }, skipped: NONE });
  await mirror.expectLike(hub);
});

test('a skipped template that changes or is withdrawn leaves the list with that change', async () => {
  const given = templates(2);
  const [changed, withdrawn] = given;
  if (!changed || !withdrawn) throw new Error('too few templates');
  hub.publish(...given);
  hub.behave(
    sendChanged((good) => ({ ...good, templates: good.templates.map((each: Template) => ({ ...each, name: 1 })) })),
  );
  expect(await sync()).toMatchObject({ skipped: { total: 2 }, counts: { templates: 0 } });
  hub.recover();
  hub.publish({ ...changed, name: 'Changed' });
  hub.withdraw(withdrawn);
  hub.requests.splice(0);
  expect(await sync()).toMatchObject({ skipped: NONE, last_sync: { full: false } });
  expect(hub.cursors()).toHaveLength(1);
  await mirror.expectLike(hub);
});

test('a skipped template that its page no longer contains is found by a full walk', async () => {
  const given = templates(3);
  const [, second, third] = given;
  if (!second || !third) throw new Error('too few templates');
  hub.publish(...given);
  damage(third.id, { name: 1 });
  await sync();
  hub.recover();
  hub.setPageSize(1);
  await sync();
  expect(await sync()).toMatchObject({ last_sync: { full: true }, skipped: NONE });
  await mirror.expectLike(hub);
});

test('a hub that rejects the cursor of a page with skipped templates gets a full walk', async () => {
  const given = templates(2);
  const [first] = given;
  if (!first) throw new Error('no template');
  hub.publish(...given);
  damage(first.id, { name: 1 });
  await sync();
  hub.behave(fromCall(2, refuse('validation_failed')));
  await sync();
  hub.recover();
  expect(await sync()).toMatchObject({ last_sync: { full: true }, skipped: NONE });
  await mirror.expectLike(hub);
});

test('a page with skipped templates that cannot be fetched again does not fail the sync', async () => {
  const [first] = templates(1);
  if (!first) throw new Error('no template');
  hub.publish(first);
  damage(first.id, { name: 1 });
  await sync();
  hub.behave(fromCall(2, refuse('internal')));
  expect(await sync()).toMatchObject({ skipped: { total: 1 } });
  hub.recover();
  expect(await sync()).toMatchObject({ skipped: NONE, last_sync: { full: false } });
});

test('a page and its cursor are stored only together with the record of its skipped templates', async () => {
  const given = templates(4);
  const [first] = given;
  if (!first) throw new Error('no template');
  hub.publish(...given);
  await sync();
  hub.publish({ ...first, name: 'Changed' }, aTemplate());
  damage(first.id, { name: 1 });
  const { client } = world.database;
  const before = await mirror.rows();
  await client.$executeRaw`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`;
  await client.$executeRaw`CREATE TRIGGER refuse BEFORE INSERT ON catalog_skipped EXECUTE FUNCTION refuse()`;
  expect((await world.asOperator.post(SYNC)).status).toBe(502);
  expect(await mirror.rows()).toEqual(before);
  await client.$executeRaw`DROP FUNCTION refuse CASCADE`;
  expect(await sync()).toMatchObject({ skipped: { total: 1 }, counts: { templates: 5 } });
});

test('the sync state lists at most 20 skipped templates, with the total number, and another replica fetches them again', async () => {
  hub.setPageSize(Number.POSITIVE_INFINITY);
  hub.publish(...Array.from({ length: 23 }, () => aTemplate()));
  hub.behave(
    sendChanged((good) => ({ ...good, templates: good.templates.map((each: Template) => ({ ...each, tags: 'x' })) })),
  );
  const { skipped } = await sync();
  expect(skipped.total).toBe(23);
  expect(skipped.entries).toHaveLength(20);
  hub.recover();
  await world.aReplica({ hub }).sync.run();
  expect(await skippedNow()).toEqual(NONE);
  await mirror.expectLike(hub);
});

test('if a page lists a template twice, the last entry applies', async () => {
  const [first] = templates(1);
  if (!first) throw new Error('no template');
  hub.publish(first);
  hub.behave(
    sendChanged((good) => ({
      ...good,
      templates: [{ ...first, name: 1 }, ...good.templates, { ...first, name: 'Last' }],
    })),
  );
  expect(await sync()).toMatchObject({ skipped: NONE, last_sync: { updated: 1 } });
  expect(await mirror.names()).toEqual(['Last']);
});

test('after a removal without a readable ID, the next sync is a full walk', async () => {
  const given = templates(2);
  const [gone] = given;
  if (!gone) throw new Error('no template');
  hub.publish(...given);
  await sync();
  hub.withdraw(gone);
  hub.behave(sendChanged((good) => ({ ...good, removed: [{ id: 'none' }] })));
  expect(await sync()).toMatchObject({ counts: { templates: 2 } });
  hub.recover();
  expect(await sync()).toMatchObject({ last_sync: { full: true, removed: 1 } });
  expect(await sync()).toMatchObject({ last_sync: { full: false } });
  await mirror.expectLike(hub);
});

describe('a hub of another version', () => {
  test('can leave out members with a default, also in entries of lists', async () => {
    const template = aTemplate({ slug: 'short' });
    const names = Object.keys(templateDefaults).filter((member) => member !== 'ports' && member !== 'env_schema');
    hub.publish(template);
    damage(template.id, {
      ...Object.fromEntries(names.map((member) => [member, undefined])),
      ports: [{ containerPort: 80 }],
      env_schema: [{ name: 'A' }],
    });
    expect(await sync()).toMatchObject({ skipped: NONE });
    expect(await read('short')).toEqual({
      ...template,
      ...templateDefaults,
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      env_schema: [{ name: 'A', required: false, default_value: '', description: '' }],
      stale: false,
      trust: null,
    });
  });

  test('can send unknown members and unknown values of enumerations', async () => {
    const template = aTemplate({ slug: 'new' });
    hub.publish(template);
    const values = { kind: 'cronjob', min_tier: 'galactic', ports: [{ containerPort: 80, protocol: 'QUIC' }] };
    damage(template.id, {
      ...values,
      shm_size: '1Gi',
      tolerations: [{ operator: 'Like', effect: 'Warn', scope: 'x' }],
    });
    hub.behave(
      sendChanged((good) => ({ organization: { ...good.organization, status: 'trial' }, more: 1 })),
      'organization',
    );
    expect(await sync()).toMatchObject({ skipped: NONE, organization: { status: 'trial' } });
    expect(await read('new')).toEqual({
      ...template,
      ...values,
      stale: false,
      trust: null,
      tolerations: [{ operator: 'Like', effect: 'Warn' }],
    });
  });
});

describe('the first sync of another version of the fleet', () => {
  test('is a full walk, and the following ones are not', async () => {
    const [template] = templates(1);
    if (!template) throw new Error('no template');
    hub.publish(template);
    await sync();
    const { client } = world.database;
    await client.$executeRaw`UPDATE catalog_templates SET document = document - 'tolerations'`;
    await client.$executeRaw`UPDATE catalog_sync SET cursor_reader = 'another version'`;
    expect((await read(template.slug)).tolerations).toEqual([]);
    expect(await sync()).toMatchObject({ last_sync: { full: true, updated: 1 } });
    await mirror.expectLike(hub);
    expect(await sync()).toMatchObject({ last_sync: { full: false } });
  });

  test('is a full walk if release 0.1.0 stored a page in between', async () => {
    hub.publish(...templates(2));
    const { client } = world.database;
    await sync();
    const [row] = await client.$queryRaw<{ cursor: string }[]>`SELECT cursor FROM catalog_sync`;
    hub.publish(aTemplate());
    await sync();
    // Release 0.1.0 writes only this column.
    await client.$executeRaw`UPDATE catalog_sync SET cursor = ${row?.cursor}`;
    expect(await sync()).toMatchObject({ last_sync: { full: true } });
  });
});

describe('a category that cannot be read', () => {
  const CATEGORIES = '/api/v1/catalog/categories';
  const names = async () =>
    (await world.asViewer.get(CATEGORIES)).body.categories.map(({ name }: { name: string }) => name).sort();

  test.each<[string, Damage, RegExp]>([
    ['an order out of range', { sort_order: 2 ** 40 }, /^sort_order must/],
    ['an order that is not an integer', { sort_order: 1.5 }, /^sort_order must be an integer/],
    ['NUL', { description: '\0' }, /^description must not contain NUL/],
  ])('because of %s keeps its previous copy, is named, and is fetched again', async (_, given, reason) => {
    const kept = aCategory({ name: 'Kept' });
    const gone = aCategory({ name: 'Gone' });
    const other = aCategory({ name: 'Other' });
    hub.setCategories(kept, gone, other);
    await sync();
    hub.setCategories({ ...kept, name: 'New' }, { ...other, name: 'Changed' });
    hub.behave(
      sendChanged(({ categories: [first, ...rest] }) => ({ categories: [{ ...first, ...given }, ...rest] })),
      'categories',
    );
    expect((await sync()).skipped).toEqual({
      total: 1,
      entries: [{ kind: 'category', id: kept.id, slug: kept.slug, reason: expect.stringMatching(reason) }],
    });
    expect(await names()).toEqual(['Changed', 'Kept']);
    hub.recover();
    expect(await sync()).toMatchObject({ skipped: NONE });
    await mirror.expectLike(hub);
  });

  test('because of its ID keeps all previous copies that are not listed', async () => {
    const one = aCategory({ name: 'One' });
    const two = aCategory({ name: 'Two' });
    hub.setCategories(one, two);
    await sync();
    hub.setCategories({ ...two, name: 'New' });
    hub.behave(
      sendChanged(({ categories }) => ({ categories: [...categories, { ...one, id: 'none' }] })),
      'categories',
    );
    expect(await sync()).toMatchObject({ skipped: { total: 1, entries: [{ id: null, slug: one.slug }] } });
    expect(await names()).toEqual(['New', 'One']);
  });

  test('because the hub leaves out a member with a default has the default', async () => {
    hub.setCategories(aCategory({ name: 'Short' }));
    hub.behave(
      sendChanged(({ categories: [{ id, name, slug, created_at, updated_at }] }) => ({
        categories: [{ id, name, slug, created_at, updated_at }],
      })),
      'categories',
    );
    expect(await sync()).toMatchObject({ skipped: NONE });
    await mirror.expectLike(hub);
  });
});
