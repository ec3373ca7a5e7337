import { byDepth, figure } from '@svc/testing';
import { aBalancer, ask, moreAcknowledged, startLoad, statusesOf, summaryOf } from '@svc/testing/faults';
import { openLedger } from './ledger.ts';
import { adminOf, makeCategory, prepareHubFaults } from './world.ts';

const { aDatabase, anIssuer, aHub } = prepareHubFaults();
const SOME_WRITES = byDepth({ short: 8, full: 20, long: 20 });

test('no request fails when one of two replicas stops, for a client that respects readiness', async () => {
  const issuer = await anIssuer();
  const admin = await adminOf(issuer);
  const settings = { databaseUrl: await aDatabase(), issuer: issuer.issuer };
  const [leaving, staying] = await Promise.all([aHub(settings), aHub(settings)]);
  const balancer = aBalancer([leaving, staying]);
  const ledger = openLedger({ url: balancer.url, admin, categoryId: await makeCategory(staying, admin) });
  const lanes = [
    ledger.writer('a'),
    ledger.writer('b'),
    () => ask(`${balancer.url()}/api/v1/catalog/templates`),
    () => ask(`${balancer.url()}/api/v1/catalog/categories`),
  ];
  const load = startLoad(lanes, { pauseMs: byDepth({ short: 40, full: 10, long: 10 }) });
  try {
    await moreAcknowledged(ledger, SOME_WRITES);
    leaving.child.kill('SIGTERM');
    expect(await leaving.ended).toBe(0);
    await moreAcknowledged(ledger, SOME_WRITES);
  } finally {
    await load.stop();
    await balancer.stop();
  }
  expect(statusesOf(load.seen)).toEqual([200, 201]);
  expect(Math.min(...balancer.sent())).toBeGreaterThan(0);
  expect(await ledger.lost()).toEqual([]);
  figure(`SIGTERM of one of two: ${balancer.sent().join(' and ')} requests; ${summaryOf(load.seen)}`);
}, 60_000);
