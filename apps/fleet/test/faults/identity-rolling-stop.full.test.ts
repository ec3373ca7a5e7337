import { figure } from '@svc/testing';
import { aBalancer, moreAcknowledged, queryOn, startLoad, statusesOf, summaryOf } from '@svc/testing/faults';
import { openLedger } from './identity-ledger.ts';
import { anAdminToken, prepareFleetFaults } from './identity-world.ts';

const { aDatabase, aFleet } = prepareFleetFaults();
const SOME_CHANGES = 20;

test('no request fails while one of two fleet processes stops, if the client honors readiness', async () => {
  const databaseUrl = await aDatabase();
  const [leaving, staying] = await Promise.all([aFleet({ databaseUrl }), aFleet({ databaseUrl })]);
  const balancer = aBalancer([leaving, staying]);
  const ledger = openLedger({ url: balancer.url, secret: await anAdminToken(databaseUrl) });
  const load = startLoad([ledger.writer('a'), ledger.writer('b'), ledger.reader('/api/v1/tokens')]);
  try {
    await moreAcknowledged(ledger, SOME_CHANGES);
    leaving.child.kill('SIGTERM');
    expect(await leaving.ended).toBe(0);
    await moreAcknowledged(ledger, SOME_CHANGES);
  } finally {
    await load.stop();
    await balancer.stop();
  }
  expect(statusesOf(load.seen)).toEqual([200, 201]);
  expect(Math.min(...balancer.sent())).toBeGreaterThan(0);
  expect(await ledger.lost(queryOn(databaseUrl))).toEqual([]);
  expect(await ledger.misrecorded(queryOn(databaseUrl))).toEqual([]);
  figure(`SIGTERM of one of two: ${balancer.sent().join(' and ')} requests; ${summaryOf(load.seen)}`);
}, 120_000);
