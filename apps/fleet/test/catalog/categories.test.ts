import { aTemplate } from '../a-template.ts';
import { aCategory, answerWell, fromCall, refuse, startFakeHub } from '../fake-hub.ts';
import { startWorld } from '../world.ts';
import { mirrorIn } from './mirror.ts';

const CATEGORIES = '/api/v1/catalog/categories';

const hub = await startFakeHub();
const world = await startWorld({ hub });
afterEach(async () => {
  hub.recover();
  hub.setPageSize(500);
  hub.withdrawAll();
  hub.setCategories();
  await world.sync.run();
});
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

const mirror = mirrorIn((sql) => world.database.client.$queryRawUnsafe(sql));
const list = async () => {
  const { status, body } = await world.asViewer.get(CATEGORIES);
  expect(status).toBe(200);
  return body.categories;
};
const names = async (): Promise<string[]> => (await list()).map(({ name }: { name: string }) => name);

test('before the first sync the list of categories is empty', async () => {
  expect((await world.asViewer.get(CATEGORIES)).body).toEqual({ categories: [] });
});

test('a category has the members that the hub sent, and a count of mirrored templates', async () => {
  const category = aCategory({ name: 'Private', icon: 'lock', is_private: true, template_count: 99 });
  const { id } = category;
  hub.setCategories(category);
  hub.publish(aTemplate({ category_id: id }), aTemplate({ category_id: id }), aTemplate());
  await world.sync.run();
  expect(await list()).toEqual([{ ...category, template_count: 2 }]);
});

test('categories are in the order of the hub: by sort_order, then by folded name', async () => {
  hub.setCategories(
    aCategory({ name: 'second', sort_order: 1 }),
    aCategory({ name: 'Éclairs', sort_order: 2 }),
    aCategory({ name: 'zebra', sort_order: 2 }),
    aCategory({ name: 'Apples', sort_order: 2 }),
    aCategory({ name: 'last', sort_order: 2_147_483_647 }),
    aCategory({ name: 'first', sort_order: -5 }),
    aCategory({ name: 'bread', sort_order: 2 }),
  );
  await world.sync.run();
  expect(await names()).toEqual(['first', 'second', 'Apples', 'bread', 'zebra', 'Éclairs', 'last']);
});

test('the template count of a category follows added, moved and removed templates', async () => {
  const one = aCategory({ name: 'one' });
  const other = aCategory({ name: 'other' });
  const template = aTemplate({ category_id: one.id });
  const counts = async () => {
    await world.sync.run();
    return (await list()).map(({ template_count }: { template_count: number }) => template_count);
  };
  hub.setCategories(one, other);
  expect(await counts()).toEqual([0, 0]);
  hub.publish(template);
  expect(await counts()).toEqual([1, 0]);
  hub.publish({ ...template, category_id: other.id });
  expect(await counts()).toEqual([0, 1]);
  hub.withdraw(template);
  expect(await counts()).toEqual([0, 0]);
});

test('new, renamed and deleted categories are mirrored by the next sync, even if no template changed', async () => {
  const renamed = aCategory({ name: 'Before' });
  hub.setCategories(renamed, aCategory({ name: 'Deleted' }));
  await world.sync.run();
  hub.setCategories({ ...renamed, name: 'After' }, aCategory({ name: 'New' }));
  await world.sync.run();
  expect(await names()).toEqual(['After', 'New']);
});

test('two categories may swap their slugs and names', async () => {
  const one = aCategory({ name: 'one' });
  const other = aCategory({ name: 'other' });
  hub.setCategories(one, other);
  await world.sync.run();
  hub.setCategories({ ...one, name: 'other', slug: 'other' }, { ...other, name: 'one', slug: 'one' });
  await world.sync.run();
  expect((await list()).map(({ id }: { id: string }) => id)).toEqual([other.id, one.id]);
});

describe('in a walk of several pages, categories', () => {
  beforeEach(async () => {
    hub.setPageSize(1);
    hub.publish(aTemplate({ name: 'old 1' }), aTemplate({ name: 'old 2' }));
    hub.setCategories(aCategory({ name: 'Old' }));
    await world.sync.run();
    hub.publish(...hub.shown().map((template) => ({ ...template, name: template.name.replace('old', 'new') })));
    hub.setCategories(aCategory({ name: 'New' }));
    hub.requests.splice(0);
  });

  test('are requested once, after the last page, and stored together with it', async () => {
    const seen: string[][] = [];
    const look = async () => {
      seen.push([...(await mirror.names()), ...(await names())]);
    };
    hub.behave(async (exchange) => {
      await look();
      await answerWell(exchange);
    }, 'categories');
    await world.sync.run();
    expect(hub.requests.map(({ call }) => call)).toEqual(['organization', 'updates', 'updates', 'categories']);
    await look();
    expect(seen).toEqual([
      [expect.stringMatching(/new/), expect.stringMatching(/old/), 'Old'],
      ['new 1', 'new 2', 'New'],
    ]);
  });

  test('are required for the last page: it is not stored if they cannot be fetched', async () => {
    hub.behave(refuse('unavailable'), 'categories');
    await expect(world.sync.run()).rejects.toMatchObject({ code: 'hub_unreachable' });
    expect(await mirror.names()).toEqual([expect.stringMatching(/new/), expect.stringMatching(/old/)]);
    expect(await names()).toEqual(['Old']);
    const cursor = hub.cursors().at(-1);
    hub.recover();
    await world.sync.run();
    expect(hub.cursors().at(-1)).toBe(cursor);
    await mirror.expectLike(hub);
  });

  test('are requested at the end of a full walk, even if nothing changed', async () => {
    await world.sync.run();
    hub.requests.splice(0);
    await world.sync.run({ full: true });
    expect(hub.requests.map(({ call }) => call)).toEqual(['organization', 'updates', 'updates', 'categories']);
  });

  test('are requested at the end of a walk that another replica started', async () => {
    hub.behave(fromCall(2, refuse('unavailable')));
    await expect(world.sync.run()).rejects.toMatchObject({ code: 'hub_unreachable' });
    hub.recover();
    await world.aReplica({ hub }).sync.run();
    await mirror.expectLike(hub);
  });
});
