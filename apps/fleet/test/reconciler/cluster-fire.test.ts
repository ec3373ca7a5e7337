import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { byDepth, figure } from '@svc/testing';
import { DEFAULT_TIMINGS } from '../../src/reconciler/timings.ts';
import { KEYS } from '../../src/render/labels.ts';
import { SHORT_TIMINGS } from '../timings.ts';
import { startClusterFireWorld } from './cluster-fire-world.ts';
import { wrongIn } from './cluster-recorder.ts';
import { ownedBy } from './cluster-world.ts';
import type { Fate } from './fates.ts';
import { differences, type Row, rest, rowsIn } from './fire-books.ts';
import { openLedger } from './fire-ledger.ts';
import { storm } from './fire-storm.ts';

const { deployments: DEPLOYMENTS, seconds: SECONDS } = byDepth({
  short: { deployments: 8, seconds: 4 },
  full: { deployments: 20, seconds: 15 },
  long: { deployments: 60, seconds: 300 },
});
/** From depth full on with the lease of production. */
const TIMINGS = byDepth({ short: SHORT_TIMINGS.reconciler, full: DEFAULT_TIMINGS, long: DEFAULT_TIMINGS });
/** Share of the requests to the API server that fail. */
const SHARE = 0.15;
const REST_MS = 60_000 + DEPLOYMENTS * 1000;

describe('three replicas while the cluster misbehaves and replicas are frozen and killed', () => {
  let world: Awaited<ReturnType<typeof startClusterFireWorld>>;
  beforeAll(async () => {
    world = await startClusterFireWorld(TIMINGS);
  }, 120_000);
  afterAll(() => world?.stop(), 60_000);

  /** What runs of a deployment, in words. */
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
    `bring ${DEPLOYMENTS} deployments that change at random for ${SECONDS} s to their last desired state`,
    async () => {
      const { workloads, query, server, proxy, secret, url, target } = world;
      const kinds = [workloads.plain, workloads.port, workloads.volume];
      const workloadOf = (slot: number) => kinds[slot % kinds.length] ?? workloads.plain;
      const ledger = openLedger({ url, secret, target, workloadOf });
      const slots = Array.from({ length: DEPLOYMENTS }, (_, slot) => slot);
      for (const slot of slots) await ledger.create(slot);
      const before = { ...proxy.seen };
      world.misbehave(SHARE);
      const tormented = await storm(world, { ledger, slots, seconds: SECONDS });
      const requests = Object.entries(proxy.seen).map(([fate, count]) => `${fate} ${count - before[fate as Fate]}`);
      await world.beAwayForAWhile();
      const since = Date.now();
      await rest({ query, withinMs: REST_MS, withGpus: 'running' });
      const resting = Date.now() - since;

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
          `${tormented} times, requests ${requests.join(', ')}, at rest after ${(resting / 1000).toFixed(1)} s, ` +
          `${gone.length} gone, ${server.store.changes.length} changes in the cluster`,
      );
    },
    60_000 + SECONDS * 1000 + REST_MS,
  );
});
