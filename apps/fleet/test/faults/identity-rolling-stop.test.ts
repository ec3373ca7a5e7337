// FAULT_FIGURES=1 prints what was measured.
import { setTimeout as wait } from 'node:timers/promises';
import { openLedger } from './identity-ledger.ts';
import { eventually, startLoad, statusesOf, summaryOf } from './identity-load.ts';
import { anAdminToken, figure, isReady, prepareFaults, queryOn, type RunningFleet } from './identity-world.ts';

const { aDatabase, aFleet } = prepareFaults();
const POLL_MS = 100;
const SOME_CHANGES = 20;

/** What a load balancer does: asks each replica whether it is ready, and sends to those in turn that said so last. */
function aBalancer(replicas: readonly RunningFleet[]) {
  let ready = [...replicas];
  let turn = 0;
  let polling = true;
  const polled = (async () => {
    while (polling) {
      const answers = await Promise.all(replicas.map(isReady));
      ready = replicas.filter((_, index) => answers[index]);
      await wait(POLL_MS);
    }
  })();
  return {
    next: (): RunningFleet => {
      const chosen = ready[turn++ % ready.length];
      if (!chosen) throw new Error('no replica is ready');
      return chosen;
    },
    stop: () => {
      polling = false;
      return polled;
    },
  };
}

test('when one of two replicas is told to stop, no request fails for a client that honours readiness', async () => {
  const databaseUrl = await aDatabase();
  const [leaving, staying] = await Promise.all([aFleet({ databaseUrl }), aFleet({ databaseUrl })]);
  const balancer = aBalancer([leaving, staying]);
  const sent = new Map<RunningFleet, number>([
    [leaving, 0],
    [staying, 0],
  ]);
  const url = () => {
    const chosen = balancer.next();
    sent.set(chosen, (sent.get(chosen) ?? 0) + 1);
    return chosen.url;
  };
  const ledger = openLedger({ url, secret: await anAdminToken(databaseUrl) });
  const load = startLoad([ledger.writer('a'), ledger.writer('b'), ledger.reader('/api/v1/tokens')]);
  const someMore = async () => {
    const before = ledger.acknowledged();
    await eventually('changes are acknowledged', async () => ledger.acknowledged() >= before + SOME_CHANGES);
  };
  try {
    await someMore();
    leaving.child.kill('SIGTERM');
    expect(await leaving.ended).toBe(0);
    await someMore();
  } finally {
    await load.stop();
    await balancer.stop();
  }
  expect(statusesOf(load.seen)).toEqual([200, 201]);
  expect(Math.min(...sent.values())).toBeGreaterThan(0);
  expect(await ledger.lost(queryOn(databaseUrl))).toEqual([]);
  expect(await ledger.misrecorded(queryOn(databaseUrl))).toEqual([]);
  figure(`SIGTERM of one of two: ${sent.get(leaving)} and ${sent.get(staying)} requests; ${summaryOf(load.seen)}`);
}, 60_000);
