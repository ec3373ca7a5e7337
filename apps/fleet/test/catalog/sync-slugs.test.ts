import { aTemplate } from '../a-template.ts';
import { answerWell } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const { hub, world, mirror } = await startSyncWorld({ pageSize: 1 });

const nameOf = async (slug: string): Promise<string> =>
  (await world.asViewer.get(`/api/v1/catalog/templates/${slug}`)).body.name;

const left = aTemplate({ id: '10000000-0000-4000-8000-000000000000', name: 'Left' });
const right = aTemplate({ id: '20000000-0000-4000-8000-000000000000', name: 'Right' });
const last = aTemplate({ id: '30000000-0000-4000-8000-000000000000', name: 'Last' });
const LATER = '2026-02-01T00:00:00.000Z';

/** Acts once, after the page with this number was made and before it is sent. */
function afterPage(number: number, happens: () => void) {
  let pages = 0;
  hub.behave((exchange) => {
    if (++pages === number) happens();
    return answerWell(exchange);
  });
}

const walks = [
  { kind: 'a first', synced: false, full: false },
  { kind: 'an incremental', synced: true, full: false },
  { kind: 'a full', synced: true, full: true },
];

describe.each(walks)('between the pages of $kind walk,', ({ synced, full }) => {
  beforeEach(async () => {
    hub.publish(left, right, last);
    if (synced) await world.sync.run();
    hub.publish(left, right, last);
  });

  test.each([1, 2])('two templates may swap their slugs (after page %d)', async (page) => {
    const swapped = [
      { ...left, slug: 'right', updated_at: LATER },
      { ...right, slug: 'left', updated_at: LATER },
    ];
    afterPage(page, () => hub.publish(...swapped));
    await world.sync.run({ full });
    expect(await nameOf('left')).toBe('Right');
    expect(await nameOf('right')).toBe('Left');
    await mirror.expectLike(hub);
  });

  test.each([1, 2])('a slug may pass from a removed template to a new one (after page %d)', async (page) => {
    const heir = aTemplate({ name: 'Heir', slug: 'left', updated_at: LATER });
    afterPage(page, () => {
      hub.withdraw(left);
      hub.publish(heir);
    });
    await world.sync.run({ full });
    expect(await nameOf('left')).toBe('Heir');
    await mirror.expectLike(hub);
  });
});

test('if two templates temporarily have the same slug during a walk, the one that changed last is returned', async () => {
  hub.publish(left, right);
  await world.sync.run();
  hub.publish({ ...left, slug: 'right', updated_at: LATER }, { ...right, slug: 'left', updated_at: LATER });
  const seen: string[] = [];
  let pages = 0;
  hub.behave(async (exchange) => {
    if (++pages === 2) seen.push(await nameOf('right'));
    await answerWell(exchange);
  });
  await world.sync.run();
  expect(seen).toEqual(['Left']);
  expect(await nameOf('right')).toBe('Left');
});
