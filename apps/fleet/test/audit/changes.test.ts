import { fleetEndpoints } from '@svc/contract/fleet';
import { inTurn } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { anApplication } from '../an-application.ts';
import { changingOperations, changingRequest, changingRequests, FOR_SESSIONS, PASSWORD } from './changing-requests.ts';
import { contentsOf } from './contents.ts';
import { startPeopleWorld } from './world.ts';

const { hub, provider, world, client } = await startPeopleWorld();
// Updates have put a template and an application into the mirror, so that a sync with an empty hub would be refused at first.
hub.publish(aTemplate({ slug: 'of-the-hub' }));
hub.publishApplications(anApplication());

/** Endpoints that change nothing: a request to the hub or the provider leaves no trace. */
const TRIALS: readonly string[] = [
  'testOidcSettings',
  'testHubSettings',
  'planDeployment',
  'planUpdateRun',
  'planApplication',
  'planTrust',
  'runDoctor',
  'createSupportBundle',
];
/**
 * Endpoints that write no entry for people: they start a sign-in, or continue one that has its own
 * entry.
 */
const UNRECORDED: readonly string[] = [
  ...TRIALS,
  'startOidcLogin',
  'finishOidcLogin',
  'exchangeSignInCode',
  'refresh',
  'notifySource',
];

const ways = [
  {
    way: 'rejected by the database',
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

/** Everything that a change can leave in the database, at the hub and at the provider. */
const tracesOf = async (operation: string) => ({
  contents: await contentsOf(world.database),
  syncs: hub.cursors().length,
  redeemed: TRIALS.includes(operation) ? 0 : provider.redeemed(),
});

const entries = () => client.auditEntry.findMany({ select: { id: true, status: true } });

test('each endpoint that can change something has a request here, and no other endpoint has one', () => {
  expect(Object.keys(changingRequests(world)).sort()).toEqual([...changingOperations].sort());
});

type Operation = (typeof changingOperations)[number];

/** A token, or a person as the endpoint sees it: anonymous before a sign-in. */
const callers = {
  'a token': async (_: Operation) => world.as(await world.aToken({ role: 'admin' })),
  'a person': async (operation: Operation) =>
    fleetEndpoints[operation].access === 'anyone' || operation === 'connectProgram' // in a browser
      ? world.nobody
      : (await world.aUser('admin', { password: PASSWORD })).api(),
};

/**
 * Each operation with each kind of caller. At depth `short`, each operation has one failure and one
 * kind of caller.
 */
const casesOf = (way: number) =>
  changingOperations.flatMap((operation, index) => {
    if (!inTurn([...ways.keys()], { index, of: changingOperations.length }).includes(way)) return [];
    const recorded: (keyof typeof callers)[] = UNRECORDED.includes(operation) ? ['a token'] : ['a token', 'a person'];
    const turn = { index: Math.floor(index / ways.length), of: changingOperations.length };
    return inTurn(recorded, turn).map((caller) => ({ operation, caller }));
  });

describe.each(ways.map((given, way) => ({ ...given, cases: casesOf(way) })))(
  'while audit entries are $way,',
  ({ away, back, cases }) => {
    test.each(cases)(
      '$operation by $caller is answered 503 and changes nothing; afterwards it succeeds',
      async ({ operation, caller }) => {
        const api = await callers[caller](operation);
        const { done, ...request } = await changingRequest(world, operation);
        const before = await tracesOf(operation);
        await away();
        const refused = await api.send(request).finally(back);
        expect({ status: refused.status, code: refused.body?.code }).toEqual({ status: 503, code: 'unavailable' });
        expect(await tracesOf(operation)).toEqual(before);

        const known = (await entries()).map(({ id }) => id);
        const carriedOut = await api.send(request);
        const added = (await entries()).filter(({ id }) => !known.includes(id)).map(({ status }) => status);
        const expected = FOR_SESSIONS.includes(operation) && caller === 'a token' ? 403 : done;
        expect({ status: carriedOut.status, added }).toEqual({ status: expected, added: [expected] });
      },
    );
  },
);
