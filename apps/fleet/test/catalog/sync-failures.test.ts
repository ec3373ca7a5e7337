import { aTemplate } from '../a-template.ts';
import { aCategory, type Behaviour, type Call, fromCall, refuse, sendChanged, startFakeHub } from '../fake-hub.ts';
import { startWorld } from '../world.ts';
import { type Failure, failuresOf, SLIP } from './failures.ts';
import { mirrorIn } from './mirror.ts';

const SYNC = '/api/v1/catalog/sync';

const hub = await startFakeHub();
hub.setPageSize(2);
const world = await startWorld({ hub });
const mirror = mirrorIn((sql) => world.database.client.$queryRawUnsafe(sql));
afterEach(async () => {
  hub.recover();
  hub.withdrawAll();
  await world.asOperator.post(SYNC);
});
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

interface Place {
  readonly where: string;
  readonly call: Call;
  /** How many calls of the kind are answered well before. */
  readonly after?: number;
  readonly full?: boolean;
}

const places: readonly Place[] = [
  { where: 'asked for the organization', call: 'organization' },
  { where: 'asked for what changed', call: 'updates' },
  { where: 'asked for a page in the middle', call: 'updates', after: 1 },
  { where: 'asked for a page in the middle of a full walk', call: 'updates', after: 1, full: true },
  { where: 'asked for the categories', call: 'categories' },
];
const cases = places.flatMap((place) => failuresOf[place.call].map((failure) => ({ ...place, ...failure })));

/** Five templates and a category that the fleet has, and then a change of everything there is. */
async function changeEverything() {
  const templates = Array.from({ length: 5 }, (_, index) => aTemplate({ name: `Kept ${index}` }));
  const category = aCategory({ name: 'Kept' });
  hub.publish(...templates);
  hub.setCategories(category);
  hub.changeOrganization({ tier: 'free' });
  const { status, body } = await world.asOperator.post(SYNC);
  expect(status).toBe(200);
  hub.publish(...templates.slice(1).map((template) => ({ ...template, name: `${template.name}, changed` })));
  hub.withdraw(...templates.slice(0, 1));
  hub.setCategories({ ...category, name: 'Changed' });
  hub.changeOrganization({ tier: 'enterprise' });
  return body;
}

/** What the mirror was when the hub began to fail. */
function failing({ call, after = 0, how }: Place & { readonly how: Behaviour }) {
  const found: Awaited<ReturnType<typeof mirror.rows>>[] = [];
  const look: Behaviour = async (exchange) => {
    found.push(await mirror.rows());
    await how(exchange);
  };
  hub.behave(fromCall(after + 1, look), call);
  return found;
}

test.each(cases)(
  'when the hub, $where, $what, mirror and cursor stay, the state says why, and the next sync brings all',
  async ({ full = false, reason, ...failure }: Place & Failure) => {
    const before = await changeEverything();
    const found = failing(failure);

    const refused = await world.asOperator.post(SYNC, { full });
    expect([refused.status, refused.body.code]).toEqual([502, 'hub_unreachable']);
    expect(refused.body.detail).toMatch(reason);
    expect(found).toEqual([await mirror.rows()]);
    const state = (await world.asViewer.get(SYNC)).body;
    expect(state).toMatchObject({
      status: 'stale',
      checked_at: before.checked_at,
      last_success_at: before.last_success_at,
      age_seconds: expect.any(Number),
      stale_since: state.last_failure.at,
      last_failure: { reason: refused.body.detail },
      last_sync: before.last_sync,
    });
    expect(`${refused.text}${JSON.stringify(state)}`).not.toMatch(new RegExp(`${SLIP}|${hub.key}`));

    hub.recover();
    expect((await world.asOperator.post(SYNC)).body).toMatchObject({
      status: 'fresh',
      checked_at: hub.checkedAt(),
      stale_since: null,
      last_sync: { full },
      organization: { tier: 'enterprise' },
    });
    await mirror.expectLike(hub);
  },
);

test('a hub that is not there leaves the mirror, and the next sync brings all', async () => {
  await changeEverything();
  const before = await mirror.rows();
  await hub.goAway();
  const refused = await world.asOperator.post(SYNC);
  expect([refused.status, refused.body.detail]).toEqual([502, expect.stringContaining('does not answer')]);
  expect(await mirror.rows()).toEqual(before);
  await hub.comeBack();
  expect((await world.asOperator.post(SYNC)).status).toBe(200);
  await mirror.expectLike(hub);
});

test('a hub that dies in the middle of a walk leaves the mirror as far as it got, and the next sync brings all', async () => {
  await changeEverything();
  hub.behave(fromCall(2, hub.goAway));
  expect((await world.asOperator.post(SYNC)).status).toBe(502);
  const names = await mirror.names();
  expect(names).toHaveLength(5);
  expect(names.filter((name) => name.endsWith('changed'))).toHaveLength(2);
  await hub.comeBack();
  hub.recover();
  expect((await world.asOperator.post(SYNC)).status).toBe(200);
  await mirror.expectLike(hub);
});

test('a hub whose pages lead back to themselves is not asked for ever', async () => {
  await changeEverything();
  let cursor: string | undefined;
  const leadBack = sendChanged((good) => {
    cursor ??= good.cursor;
    return { ...good, cursor, has_more: true };
  });
  hub.behave(fromCall(20, refuse('internal'), leadBack));
  const refused = await world.asOperator.post(SYNC);
  expect([refused.status, refused.body.detail]).toEqual([502, expect.stringContaining('not a catalog')]);
  hub.recover();
  expect((await world.asOperator.post(SYNC)).status).toBe(200);
  await mirror.expectLike(hub);
});
