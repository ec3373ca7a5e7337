// FAULT_FIGURES=1 prints what was measured.
import { setTimeout as wait } from 'node:timers/promises';
import { openLedger } from './ledger.ts';
import { ask, startLoad, statusesOf, summaryOf } from './load.ts';
import { adminOf, figure, makeCategory, prepareFaults, type RunningHub } from './world.ts';

const { aDatabase, anIssuer, aHub } = prepareFaults();
const POLL_MS = 100;

/** What a load balancer does: asks each replica whether it is ready, and sends to those in turn that said so last. */
function aBalancer(replicas: readonly RunningHub[]) {
  let ready = [...replicas];
  let turn = 0;
  let polling = true;
  const polled = (async () => {
    while (polling) {
      const answers = await Promise.all(replicas.map(({ url }) => ask(`${url}/readyz`)));
      ready = replicas.filter((_, index) => answers[index]?.status === 200);
      await wait(POLL_MS);
    }
  })();
  return {
    next: (): RunningHub => {
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
  const issuer = await anIssuer();
  const admin = await adminOf(issuer);
  const settings = { databaseUrl: await aDatabase(), issuer: issuer.issuer };
  const [leaving, staying] = [await aHub(settings), await aHub(settings)];
  const balancer = aBalancer([leaving, staying]);
  const sent = new Map<RunningHub, number>();
  const url = () => {
    const chosen = balancer.next();
    sent.set(chosen, (sent.get(chosen) ?? 0) + 1);
    return chosen.url;
  };
  const ledger = openLedger({ url, admin, categoryId: await makeCategory(staying, admin) });
  const load = startLoad([
    ledger.writer('a'),
    ledger.writer('b'),
    () => ask(`${url()}/api/v1/catalog/templates`),
    () => ask(`${url()}/api/v1/catalog/categories`),
  ]);
  try {
    await wait(500);
    leaving.child.kill('SIGTERM');
    expect(await leaving.ended).toBe(0);
    await wait(300);
  } finally {
    await load.stop();
    await balancer.stop();
  }
  expect(statusesOf(load.seen)).toEqual([200, 201]);
  expect([sent.get(leaving), sent.get(staying)]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(await ledger.lost()).toEqual([]);
  figure(`SIGTERM of one of two: ${sent.get(leaving)} and ${sent.get(staying)} requests; ${summaryOf(load.seen)}`);
}, 60_000);
