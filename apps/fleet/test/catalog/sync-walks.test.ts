import { inTurn } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { aCategory, answerWell, type Behaviour, fromCall, refuse } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const { hub, world, mirror } = await startSyncWorld({ pageSize: 2 });

/** In the order in which a full walk lists them. */
const templates = (count: number) =>
  Array.from({ length: count }, (_, index) => aTemplate({ id: anId(index), name: `Template ${index}` }));
const anId = (index: number) => `${index}0000000-0000-4000-8000-000000000000`;

/** Acts before the page with this number is made. */
function justBefore(page: number, happens: () => void) {
  let calls = 0;
  const atCall =
    (number: number): Behaviour =>
    (exchange) => {
      if (++calls === number) happens();
      return answerWell(exchange); // a prepared response, made before the action
    };
  if (page === 1) hub.behave(atCall(1), 'organization');
  else hub.behave(atCall(page - 1));
}

/**
 * Templates that are new, changed, removed and shown again, before and after the position of a
 * walk.
 */
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

const kinds = ['a first', 'an incremental', 'a full'].map((kind, index) => ({ kind, index }));

describe.each(kinds)('$kind walk', ({ kind, index }) => {
  /** At depth `short` the kinds of walks share the pages in turn. */
  const pages = (test: number, all = [1, 2, 3, 4]) => inTurn(all, { index: index + test, of: kinds.length });

  /** Seven templates in four pages, all of which the walk must fetch. */
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

  // Nobody continues a full walk that did not start: its caller received the failure.
  const begun = kind === 'a full' ? [2, 3, 4] : [1, 2, 3, 4];
  test.each(pages(0, begun))('that fails at page %d is continued there by another replica', async (page) => {
    await prepare();
    hub.behave(fromCall(page, refuse('unavailable')));
    await expect(run()).rejects.toMatchObject({ code: 'hub_unreachable' });
    hub.recover();
    const failedAt = hub.cursors().at(-1);
    await world.aReplica({ hub }).sync.run();
    expect(hub.cursors()[page]).toBe(failedAt);
    await mirror.expectLike(hub);
  });

  test.each(pages(1))('that fails at page %d also fetches what changes until it continues', async (page) => {
    const given = await prepare();
    hub.behave(fromCall(page, refuse('unavailable')));
    await expect(run()).rejects.toMatchObject({ code: 'hub_unreachable' });
    hub.recover();
    changeALot(given);
    await world.aReplica({ hub }).sync.run();
    await mirror.expectLike(hub);
  });

  test.each(pages(2))('also fetches what changes just before page %d', async (page) => {
    const given = await prepare();
    justBefore(page, () => changeALot(given));
    await run();
    await mirror.expectLike(hub);
  });

  test.each(pages(3))(
    'ends with the catalog of the hub that is restored from a backup before page %d',
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
