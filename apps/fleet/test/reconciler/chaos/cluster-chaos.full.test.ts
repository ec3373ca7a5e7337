import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { figure, fromFull, LONG_TEST_MS } from '@svc/testing';
import { DEFAULT_TIMINGS } from '../../../src/reconciler/timings.ts';
import { KEYS } from '../../../src/render/labels.ts';
import { wrongIn } from '../clusters/recorder.ts';
import { ownedBy } from '../clusters/world.ts';
import type { ProxyFault } from '../proxy-faults.ts';
import { startClusterChaosWorld } from './cluster-world.ts';
import { openLedger } from './ledger.ts';
import { runLoad } from './load.ts';
import { differences, type Row, rowsIn, waitForDesiredState } from './stored-state.ts';

const { deployments: DEPLOYMENTS, seconds: SECONDS } = fromFull({
  full: { deployments: 20, seconds: 15 },
  long: { deployments: 60, seconds: 300 },
});
/** Share of the requests to the API server that fail. */
const SHARE = 0.15;
const REST_MS = 60_000 + DEPLOYMENTS * 1000;

describe('three fleet processes with a faulty cluster, while processes are frozen and killed,', () => {
  let world: Awaited<ReturnType<typeof startClusterChaosWorld>>;
  beforeAll(async () => {
    world = await startClusterChaosWorld(DEFAULT_TIMINGS);
  });
  afterAll(() => world?.stop());

  /** What runs of a deployment, as text. */
  const running = (id: string): string[] => {
    const isOf = ({ metadata }: { metadata: { labels?: Readonly<Record<string, string>> } }) =>
      metadata.labels?.[KEYS.deployment] === id;
    const objects = world.server.objects('deployments').filter(isOf);
    const pods = world.server.objects('pods').filter(isOf);
    return [...objects, ...pods].map((object) => {
      const [, round] = /"ROUND","value":"(\d+)"/.exec(JSON.stringify(object.spec)) ?? [];
      const generation = object.metadata.annotations?.[KEYS.generation];
      return generation === undefined ? `pod in round ${round}` : `generation ${generation} in round ${round}`;
    });
  };
  const wanted = ({ desired_state, replicas, round, generation }: Row): string[] =>
    desired_state === 'stopped'
      ? []
      : [
          `generation ${generation} in round ${round ?? '0'}`,
          ...Array<string>(replicas).fill(`pod in round ${round ?? '0'}`),
        ];

  test(
    `bring ${DEPLOYMENTS} deployments with random changes for ${SECONDS} s to their last desired state`,
    async () => {
      const { workloads, query, server, proxy, secret, url, target } = world;
      const kinds = [workloads.plain, workloads.port, workloads.volume];
      const workloadOf = (slot: number) => kinds[slot % kinds.length] ?? workloads.plain;
      const ledger = openLedger({ url, secret, target, workloadOf });
      const slots = Array.from({ length: DEPLOYMENTS }, (_, slot) => slot);
      for (const slot of slots) await ledger.create(slot);
      const before = { ...proxy.seen };
      world.misbehave(SHARE);
      const disruptions = await runLoad(world, { ledger, slots, seconds: SECONDS });
      const requests = Object.entries(proxy.seen).map(
        ([fate, count]) => `${fate} ${count - before[fate as ProxyFault]}`,
      );
      await world.beAwayForAWhile();
      const since = Date.now();
      await waitForDesiredState({ query, withinMs: REST_MS, withGpus: 'running' });
      const settleMs = Date.now() - since;

      expect(await differences(query, ledger)).toEqual([]);
      expect(wrongIn(server.store.changes)).toEqual([]);
      const now = await rowsIn(query);
      expect(now.map((row) => [row.name, running(row.id)])).toEqual(now.map((row) => [row.name, wanted(row)]));
      const gone = ledger.all.filter(({ id }) => !now.some((row) => row.id === id));
      expect(gone.flatMap(({ id }) => ownedBy(server, id))).toEqual([]);
      const volumes: { id: string }[] = await query('SELECT id FROM volumes');
      const claims = server.objects('persistentvolumeclaims').map(({ metadata }) => metadata.labels?.[KEYS.storage]);
      expect(claims.filter((id) => !volumes.some((volume) => volume.id === id))).toEqual([]);

      figure(
        `${DEPLOYMENTS} slots, ${SECONDS} s, ${ledger.all.length} deployments, ${JSON.stringify(ledger.counts)}, frozen and killed ` +
          `${disruptions} times, requests ${requests.join(', ')}, settled after ${(settleMs / 1000).toFixed(1)} s, ` +
          `${gone.length} gone, ${server.store.changes.length} changes in the cluster`,
      );
    },
    LONG_TEST_MS,
  );
});
