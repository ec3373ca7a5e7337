import { fleetEndpoints } from '@svc/contract/fleet';
import type { Api } from '@svc/testing';
import { changingOperations, changingRequest, changingRequests } from './changing-requests.ts';
import { contentsOf } from './contents.ts';
import { startPeopleWorld } from './world.ts';

const { hub, provider, world, client } = await startPeopleWorld();

/** They change nothing: what they ask of the hub and the provider may be asked in vain. */
const TRIALS: readonly string[] = ['testOidcSettings', 'testHubSettings', 'planDeployment'];
/** Of people these have no entry either: they begin a sign-in, or go on with one that has its own. */
const UNRECORDED: readonly string[] = [...TRIALS, 'startOidcLogin', 'exchangeSignInCode', 'refresh'];

const ways = [
  {
    way: 'refused by the database',
    away: async () => {
      await client.$executeRaw`
        CREATE FUNCTION refuse_entries() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no entries now'; END $$`;
      await client.$executeRaw`
        CREATE TRIGGER refuse_entries BEFORE INSERT ON audit_entries EXECUTE FUNCTION refuse_entries()`;
    },
    back: () => client.$executeRaw`DROP FUNCTION refuse_entries CASCADE`,
  },
  {
    way: 'without their table',
    away: () => client.$executeRaw`ALTER TABLE audit_entries RENAME TO audit_entries_away`,
    back: () => client.$executeRaw`ALTER TABLE audit_entries_away RENAME TO audit_entries`,
  },
];

/** All that a change could leave: in the database, at the hub and at the provider. */
const tracesOf = async (operation: string) => ({
  contents: await contentsOf(world.database),
  syncs: hub.cursors().length,
  redeemed: TRIALS.includes(operation) ? 0 : provider.redeemed(),
});

const entries = () => client.auditEntry.findMany({ select: { id: true, status: true } });

test('every endpoint that may change something has a request here, and no other', () => {
  expect(Object.keys(changingRequests(world)).sort()).toEqual([...changingOperations].sort());
});

describe.each(ways)('while entries are $way', ({ away, back }) => {
  /** Sends a request while entries can't be written, and again when they can. */
  const sendTwice = async (operation: keyof typeof fleetEndpoints, api: Api) => {
    const { done, ...request } = await changingRequest(world, operation);
    const before = await tracesOf(operation);
    await away();
    let refused: Awaited<ReturnType<Api['send']>>;
    try {
      refused = await api.send(request);
    } finally {
      await back();
    }
    expect(await tracesOf(operation)).toEqual(before);
    const known = (await entries()).map(({ id }) => id);
    const carriedOut = await api.send(request);
    const added = (await entries()).filter(({ id }) => !known.includes(id)).map(({ status }) => status);
    return { refused: [refused.status, refused.body?.code], carriedOut: carriedOut.status, done, added };
  };

  test.each(changingOperations)(
    '%s by a token is answered 503 and leaves no trace; afterwards it works',
    async (operation) => {
      const { refused, carriedOut, done, added } = await sendTwice(operation, await asAdminToken());
      expect(refused).toEqual([503, 'unavailable']);
      const expected = operation === 'logout' ? 403 : done; // a token has no session
      expect([carriedOut, added]).toEqual([expected, [expected]]);
    },
  );

  const ofPeople = changingOperations.filter((operation) => !UNRECORDED.includes(operation));
  test.each(ofPeople)('%s by a person is answered 503 and leaves no trace; afterwards it works', async (operation) => {
    const { access } = fleetEndpoints[operation];
    const api = access === 'anyone' ? world.nobody : await (await world.aUser('admin')).api();
    const { refused, carriedOut, done, added } = await sendTwice(operation, api);
    expect(refused).toEqual([503, 'unavailable']);
    expect([carriedOut, added]).toEqual([done, [done]]);
  });
});

const asAdminToken = async () => world.as(await world.aToken({ role: 'admin' }));
