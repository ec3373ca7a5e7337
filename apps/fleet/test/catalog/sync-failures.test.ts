import { inTurn } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { aCategory, type Behaviour, type Call, fromCall, refuse, sendChanged } from '../fake-hub.ts';
import { SHORT_TIMEOUT_MS } from '../world.ts';
import { type Failure, failuresOf, LEAK_MARKER } from './failures.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';

const { hub, world, mirror } = await startSyncWorld({ pageSize: 2 });

/** A replica with a short timeout, for failures that end with a timeout. */
const impatient = world.aReplica({ hub, outboundTimeoutMs: SHORT_TIMEOUT_MS });
const asImpatientOperator = impatient.api(`Bearer ${(await world.aToken({ role: 'operator' })).secret}`);

interface FailingCall {
  readonly where: string;
  readonly call: Call;
  /** How many calls of this kind succeed before the failure. */
  readonly after?: number;
  readonly full?: boolean;
}

const places: readonly FailingCall[] = [
  { where: 'asked for the organization', call: 'organization' },
  { where: 'asked for what changed', call: 'updates' },
  { where: 'asked for a page in the middle', call: 'updates', after: 1 },
  { where: 'asked for a page in the middle of a full walk', call: 'updates', after: 1, full: true },
  { where: 'asked for the categories', call: 'categories' },
];

/**
 * Each failure in each place where it can happen. At depth `short`, each failure in one place, in
 * turn.
 */
const cases = [...new Set(Object.values(failuresOf).flat())].flatMap((failure, index, failures) => {
  const possible = places.filter(({ call }) => failuresOf[call].includes(failure));
  // A timeout happens at the first call, so that no other call times out on a slow machine.
  const turn = { index: failure.timesOut ? 0 : index, of: failures.length };
  return inTurn(possible, turn).map((place) => ({ ...place, ...failure }));
});

test('at each depth, each place has a failure', () => {
  expect(new Set(cases.map(({ where }) => where))).toEqual(new Set(places.map(({ where }) => where)));
});

/**
 * Makes the fleet mirror five templates and a category, and then changes all of them on the hub.
 */
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

/** Makes the hub fail. @returns the rows of the mirror at each failure */
function failing({ call, after = 0, how }: FailingCall & { readonly how: Behaviour }) {
  const found: ReturnType<typeof mirror.rows>[] = [];
  const look: Behaviour = async (exchange) => {
    const rows = mirror.rows();
    found.push(rows);
    await rows;
    await how(exchange);
  };
  hub.behave(fromCall(after + 1, look), call);
  return found;
}

test.each(cases)(
  'when the hub, $where, $what, the mirror and cursor stay, the state has the reason, and the next sync fetches everything',
  async ({ full = false, timesOut = false, reason, ...failure }: FailingCall & Failure) => {
    const before = await changeEverything();
    const found = failing(failure);

    const operator = timesOut ? asImpatientOperator : world.asOperator;
    const refused = await operator.post(SYNC, { full });
    expect(refused).toMatchObject({ status: 502, body: { code: 'hub_unreachable' } });
    expect(refused.body.detail).toMatch(reason);
    expect(await Promise.all(found)).toEqual([await mirror.rows()]);
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
    expect(`${refused.text}${JSON.stringify(state)}`).not.toMatch(new RegExp(`${LEAK_MARKER}|${hub.key}`));

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

test('an unreachable hub leaves the mirror unchanged, and the next sync fetches everything', async () => {
  await changeEverything();
  const before = await mirror.rows();
  await hub.stopListening();
  const refused = await world.asOperator.post(SYNC);
  expect(refused).toMatchObject({ status: 502, body: { detail: expect.stringContaining('does not respond') } });
  expect(await mirror.rows()).toEqual(before);
  await hub.startListening();
  expect((await world.asOperator.post(SYNC)).status).toBe(200);
  await mirror.expectLike(hub);
});

test('a hub that stops during a walk leaves the pages that were stored, and the next sync fetches everything', async () => {
  await changeEverything();
  hub.behave(fromCall(2, hub.stopListening));
  expect((await world.asOperator.post(SYNC)).status).toBe(502);
  const names = await mirror.names();
  expect(names).toHaveLength(5);
  expect(names.filter((name) => name.endsWith('changed'))).toHaveLength(2);
  await hub.startListening();
  hub.recover();
  expect((await world.asOperator.post(SYNC)).status).toBe(200);
  await mirror.expectLike(hub);
});

test('a walk whose cursors form a cycle fails', async () => {
  await changeEverything();
  let cursor: string | undefined;
  const leadBack = sendChanged((good) => {
    cursor ??= good.cursor;
    return { ...good, cursor, has_more: true };
  });
  hub.behave(fromCall(20, refuse('internal'), leadBack));
  const refused = await world.asOperator.post(SYNC);
  expect(refused).toMatchObject({ status: 502, body: { detail: expect.stringContaining('not a catalog') } });
  hub.recover();
  expect((await world.asOperator.post(SYNC)).status).toBe(200);
  await mirror.expectLike(hub);
});
