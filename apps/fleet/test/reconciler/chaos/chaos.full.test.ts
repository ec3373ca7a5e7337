import { figure, fromFull, LONG_TEST_MS } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { DEFAULT_TIMINGS } from '../../../src/reconciler/timings.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import { openLedger } from './ledger.ts';
import { runLoad } from './load.ts';
import { differences, rowsIn, waitForDesiredState } from './stored-state.ts';
import { askEngine, doubledIn, shownBy, watchEngine } from './watch.ts';
import { startChaosWorld } from './world.ts';

const { deployments: DEPLOYMENTS, seconds: SECONDS } = fromFull({
  full: { deployments: 30, seconds: 9 },
  long: { deployments: 100, seconds: 300 },
});
const TIMINGS = fromFull({
  full: SHORT_TIMINGS.reconciler,
  long: DEFAULT_TIMINGS,
});
/** Share of the requests to the engine that fail. */
const SHARE = 0.15;
const REST_MS = 60_000 + DEPLOYMENTS * 4000;

describeWithEngine('three fleet processes with a faulty engine, while processes are frozen and killed,', () => {
  let world: Awaited<ReturnType<typeof startChaosWorld>>;
  beforeAll(async () => {
    world = await startChaosWorld(TIMINGS);
  });
  afterAll(() => world?.stop());

  test(
    `bring ${DEPLOYMENTS} deployments with random changes for ${SECONDS} s to their last desired state`,
    async () => {
      const { workloads, query, podman, proxy, secret, url, target } = world;
      const workloadOf = (slot: number) => workloads[slot % 5 === 3 ? 'gpu' : slot % 3 === 0 ? 'port' : 'plain'];
      const ledger = openLedger({ url, secret, target, workloadOf });
      const slots = Array.from({ length: DEPLOYMENTS }, (_, slot) => slot);
      for (const slot of slots) await ledger.create(slot);
      const watched = new AbortController();
      const watching = watchEngine(podman.endpoint, watched.signal);
      world.misbehave(SHARE);
      const disruptions = await runLoad(world, { ledger, slots, seconds: SECONDS });
      const failed = { ...proxy.seen };
      await world.beAwayForAWhile();
      const since = Date.now();
      await waitForDesiredState({ query, withinMs: REST_MS, withGpus: 'failed' });
      const settleMs = Date.now() - since;
      watched.abort();

      expect(await differences(query, ledger)).toEqual([]);
      const now = await rowsIn(query);
      const find = (id: string) => now.find((row) => row.id === id);
      const shown = await shownBy(podman.endpoint);
      expect([...(await watching), ...doubledIn(shown)]).toEqual([]);
      const wanted = now
        .filter((row) => row.desired_state === 'running' && row.gpu_count === 0)
        .flatMap(({ id, replicas }) => Array.from({ length: replicas }, (_, ordinal) => `${id} ${ordinal} running`));
      expect(shown.map((instance) => `${instance.deployment} ${instance.ordinal} ${instance.state}`).sort()).toEqual(
        wanted.sort(),
      );
      const areCurrent = await Promise.all(
        shown.map(async ({ id, deployment }) => {
          const { Config } = await askEngine<{ Config: { Env: string[] } }>(
            podman.endpoint,
            `/v1.41/containers/${id}/json`,
          );
          return Config.Env.includes(`ROUND=${find(deployment)?.round ?? '0'}`);
        }),
      );
      expect(areCurrent).not.toContain(false);
      const allocated = await query('SELECT gpu_id FROM allocated_gpus');
      expect(allocated.length).toBe(new Set(allocated.map(({ gpu_id }) => gpu_id)).size);

      figure(
        `${DEPLOYMENTS} slots, ${SECONDS} s, ${ledger.all.length} deployments, ${JSON.stringify(ledger.counts)}, frozen and killed ` +
          `${disruptions} times, requests ${JSON.stringify(failed)}, settled after ${(settleMs / 1000).toFixed(1)} s, ${shown.length} containers`,
      );
    },
    LONG_TEST_MS,
  );
});
