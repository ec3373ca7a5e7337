import { aTemplate } from '../a-template.ts';
import { aCategory, answerWell, type Behaviour, fromCall, refuse } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const { hub, world, mirror } = await startSyncWorld({ pageSize: 2 });

/** In the order in which a full walk lists them. */
const templates = (count: number) =>
  Array.from({ length: count }, (_, index) => aTemplate({ id: anId(index), name: `Template ${index}` }));
const anId = (index: number) => `${index}0000000-0000-4000-8000-000000000000`;

/** Does something before the page with that number is made. */
function justBefore(page: number, happens: () => void) {
  let calls = 0;
  const atCall =
    (number: number): Behaviour =>
    (exchange) => {
      if (++calls === number) happens();
      return answerWell(exchange); // which is ready: what happens comes after it
    };
  if (page === 1) hub.behave(atCall(1), 'organization');
  else hub.behave(atCall(page - 1));
}

/** Something of everything: new, changed, gone, and shown again, on both sides of what a walk has listed. */
function changeALot(given: ReturnType<typeof templates>) {
  const [first, second, third] = given;
  const [last, lastButOne] = given.toReversed();
  if (!first || !second || !third || !last || !lastButOne) throw new Error('too few templates');
  hub.publish({ ...first, name: 'First, changed' }, { ...last, name: 'Last, changed' }, aTemplate({ name: 'New' }));
  hub.withdraw(second, lastButOne);
  hub.withdraw(third);
  hub.publish({ ...third, name: 'Shown again' });
  hub.setCategories(aCategory({ name: 'New' }));
}

describe.each(['a first', 'an incremental', 'a full'])('%s walk', (kind) => {
  /** Seven templates in four pages, all of which the walk has to bring. */
  const prepare = async () => {
    const given = templates(7);
    if (kind !== 'a first') {
      hub.publish(...given, aTemplate({ id: anId(8), name: 'Gone' }));
      await world.sync.run();
      hub.withdraw({ id: anId(8) });
    }
    hub.publish(...given.map((template) => ({ ...template, name: `${template.name}, now` })));
    hub.setCategories(aCategory());
    hub.requests.splice(0);
    return given;
  };
  const run = () => world.sync.run({ full: kind === 'a full' });

  // A full walk that did not begin was a wish of its caller, who heard that it failed.
  const begun = kind === 'a full' ? [2, 3, 4] : [1, 2, 3, 4];
  test.each(begun)('that breaks off at page %d is ended by another replica, from there', async (page) => {
    await prepare();
    hub.behave(fromCall(page, refuse('unavailable')));
    await expect(run()).rejects.toMatchObject({ code: 'hub_unreachable' });
    hub.recover();
    const failedAt = hub.cursors().at(-1);
    await world.aReplica({ hub }).sync.run();
    expect(hub.cursors()[page]).toBe(failedAt);
    await mirror.expectLike(hub);
  });

  test.each([1, 2, 3, 4])('that breaks off at page %d brings also what changed until it goes on', async (page) => {
    const given = await prepare();
    hub.behave(fromCall(page, refuse('unavailable')));
    await expect(run()).rejects.toMatchObject({ code: 'hub_unreachable' });
    hub.recover();
    changeALot(given);
    await world.aReplica({ hub }).sync.run();
    await mirror.expectLike(hub);
  });

  test.each([1, 2, 3, 4])('brings also what changes just before page %d', async (page) => {
    const given = await prepare();
    justBefore(page, () => changeALot(given));
    await run();
    await mirror.expectLike(hub);
  });

  test.each([1, 2, 3, 4])(
    'ends with what the hub shows when that is restored from a backup before page %d',
    async (page) => {
      const given = await prepare();
      const backup = hub.now();
      hub.publish(...given.map((template) => ({ ...template, name: 'Lost' })), aTemplate({ name: 'Lost' }));
      hub.setCategories(aCategory({ name: 'Lost' }));
      justBefore(page, () => hub.restore(backup));
      await run();
      await mirror.expectLike(hub);
    },
  );
});
