import { byDepth, figure } from '@svc/testing';
import { ask, moreAcknowledged, type RunningService, startLoad, statusesOf } from '@svc/testing/faults';
import { openLedger } from './ledger.ts';
import { adminOf, makeCategory, prepareHubFaults } from './world.ts';

const { aDatabase, anIssuer, aHub } = prepareHubFaults();
const ROUNDS = byDepth({ short: 1, full: 3, long: 20 });
const WRITERS = 4;
/** Writes that are acknowledged before each kill. */
const SOME_WRITES = byDepth({ short: 15, full: 30, long: 30 });

let hub: RunningService;
let admin: string;
let settings: { readonly databaseUrl: string; readonly issuer: string };

beforeAll(async () => {
  const issuer = await anIssuer();
  settings = { databaseUrl: await aDatabase(), issuer: issuer.issuer };
  admin = await adminOf(issuer);
  hub = await aHub(settings);
});

/** A client that asks for what changed since its last request, as a fleet does. */
function aMirror() {
  const slugs = new Set<string>();
  let since = '1970-01-01T00:00:00Z';
  return async () => {
    const { body } = await ask(`${hub.url}/api/v1/catalog/templates/updates?since=${encodeURIComponent(since)}`);
    for (const { slug } of body.templates) slugs.add(slug);
    since = body.checked_at;
    return slugs;
  };
}

test(
  'a hub that is killed during writes starts again, loses no acknowledged write, and sends every change to its clients',
  async () => {
    const ledger = openLedger({ url: () => hub.url, admin, categoryId: await makeCategory(hub, admin) });
    const sync = aMirror();
    const readyAgain: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const load = startLoad(Array.from({ length: WRITERS }, (_, lane) => ledger.writer(`r${round}w${lane}`)));
      try {
        await moreAcknowledged(ledger, SOME_WRITES);
        await sync();
        await moreAcknowledged(ledger, Math.ceil(Math.random() * WRITERS)); // the other writers are anywhere in a write
      } finally {
        hub.child.kill('SIGKILL');
        await hub.ended;
        await load.stop();
      }
      expect(statusesOf(load.seen)).toEqual([0, 200, 201]);
      hub = await aHub({ ...settings, port: hub.port });
      readyAgain.push(hub.readyAfterMs);
      await sync();
      expect(await ledger.lost()).toEqual([]);
    }
    const all = await ask(`${hub.url}/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z`);
    expect([...(await sync())].sort()).toEqual(all.body.templates.map(({ slug }: { slug: string }) => slug).sort());
    figure(`kill -9 of the hub, ${ROUNDS} times: ${ledger.acknowledged()} writes acknowledged, none lost`);
    figure(`ready again after (ms): ${readyAgain.join(' ')}`);
  },
  30_000 + ROUNDS * 10_000,
);
