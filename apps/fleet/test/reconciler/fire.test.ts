// The long form: DEPLOYMENTS=100 FIRE_SECONDS=300 (30 and 18 by default). FAULT_FIGURES=1 prints what was measured.
import { setTimeout as pause } from 'node:timers/promises';
import { figure } from '@svc/testing/faults';
import { describeWithPodman } from '@svc/testing/podman';
import { type Known, openLedger } from './fire-ledger.ts';
import { askEngine, doubledIn, shownBy, watchEngine } from './fire-watch.ts';
import { startFireWorld } from './fire-world.ts';

const DEPLOYMENTS = Number(process.env.DEPLOYMENTS ?? '30');
const SECONDS = Number(process.env.FIRE_SECONDS ?? '18');
const SHARE = 0.15;
/** Longer than a lease. */
const FROZEN_MS = 18_000;
const WRITERS = 3;
/** To come to rest: a copy takes a second or so, and the last trouble has its wait. */
const REST_MS = 60_000 + DEPLOYMENTS * 4000;

const UNSETTLED = `
  SELECT name, phase, reason, message, generation, observed_generation, desired_state, failures, due_at - now() AS due
  FROM deployments
  WHERE deleting OR (desired_state = 'running' AND (observed_generation IS DISTINCT FROM generation
    OR phase <> CASE WHEN gpu_count > 0 THEN 'failed' ELSE 'running' END))
    OR (desired_state = 'stopped' AND phase <> 'stopped')`;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly replicas: number;
  readonly round: string | null;
  readonly desired_state: 'running' | 'stopped';
  readonly gpu_count: number;
}

describeWithPodman('three processes of the fleet under fire', () => {
  let world: Awaited<ReturnType<typeof startFireWorld>>;
  beforeAll(async () => {
    world = await startFireWorld();
  }, 60_000);
  afterAll(() => world?.stop(), 120_000);

  const rows = (): Promise<Row[]> =>
    world.query("SELECT id, name, replicas, env->>'ROUND' AS round, desired_state, gpu_count FROM deployments");

  /** One is frozen past its leases again and again, and another one killed meanwhile. */
  const torment = async (until: AbortSignal) => {
    let times = 0;
    for (; !until.aborted; times += 1) {
      world.freeze(1);
      await pause(FROZEN_MS / 3);
      await world.replace(2);
      await pause((2 * FROZEN_MS) / 3);
      world.wake(1);
      await pause(1000);
    }
    return times;
  };

  const rest = async () => {
    let left: unknown[] = [];
    for (const deadline = Date.now() + REST_MS; Date.now() < deadline; await pause(250)) {
      left = await world.query(UNSETTLED);
      if (left.length === 0) return;
    }
    throw new Error(`does not come to rest: ${JSON.stringify(left, null, 1)}`);
  };

  const expectAsKnown = (row: Row | undefined, known: Known) => {
    const { replicas, round, desired, gone, name } = known;
    const seen = row && { replicas: row.replicas, round: row.round ?? '0', desired: row.desired_state };
    const isAsKnown =
      seen === undefined
        ? gone !== 'no'
        : gone !== 'yes' && replicas.has(seen.replicas) && round.has(seen.round) && desired.has(seen.desired);
    const values = { replicas: [...replicas], round: [...round], desired: [...desired], gone };
    return isAsKnown ? [] : [`${name} is ${JSON.stringify(seen)}, and should be ${JSON.stringify(values)}`];
  };

  test(
    `${DEPLOYMENTS} deployments are changed at random for ${SECONDS} s and come to be as was asked for last`,
    async () => {
      const { workloads, query, podman, proxy, secret, url, hostId } = world;
      const workloadOf = (slot: number) => workloads[slot % 5 === 3 ? 'gpu' : slot % 3 === 0 ? 'port' : 'plain'];
      const ledger = openLedger({ url, secret, hostId, workloadOf });
      const slots = Array.from({ length: DEPLOYMENTS }, (_, slot) => slot);
      for (const slot of slots) await ledger.create(slot);
      const ended = new AbortController();
      const watched = new AbortController();
      const watching = watchEngine(podman.endpoint, watched.signal);
      world.misbehave(SHARE);
      const tormented = torment(ended.signal);
      const writing = Array.from({ length: WRITERS }, (_, writer) =>
        ledger.write(
          slots.filter((slot) => slot % WRITERS === writer),
          ended.signal,
        ),
      );
      await pause(SECONDS * 1000);
      ended.abort();
      await Promise.all([...writing, tormented]);
      const failed = { ...proxy.seen };
      await world.beAwayForAWhile();
      const since = Date.now();
      await rest();
      const resting = Date.now() - since;
      watched.abort();

      const now = await rows();
      const find = (id: string) => now.find((row) => row.id === id);
      expect([...ledger.wrong, ...ledger.all.flatMap((known) => expectAsKnown(find(known.id), known))]).toEqual([]);
      expect(now.filter(({ id }) => !ledger.all.some((known) => known.id === id))).toEqual([]);
      expect(await query('SELECT what FROM fire_wrong')).toEqual([]);
      const revisions = await query('SELECT deployment_id, generation, operation FROM deployment_revisions');
      const kept = new Set(revisions.map((it) => `${it.deployment_id} ${it.generation} ${it.operation}`));
      const acknowledged = ledger.all
        .filter(({ id }) => find(id))
        .flatMap(({ id, acknowledged }) => acknowledged.map((it) => `${id} ${it.generation} ${it.operation}`));
      expect(acknowledged.filter((change) => !kept.has(change))).toEqual([]);

      const shown = await shownBy(podman.endpoint);
      expect([...(await watching), ...doubledIn(shown)]).toEqual([]);
      const wanted = now
        .filter((row) => row.desired_state === 'running' && row.gpu_count === 0)
        .flatMap(({ id, replicas }) => Array.from({ length: replicas }, (_, ordinal) => `${id} ${ordinal} running`));
      expect(shown.map((it) => `${it.deployment} ${it.ordinal} ${it.state}`).sort()).toEqual(wanted.sort());
      const told = await Promise.all(
        shown.map(async ({ id, deployment }) => {
          const { Config } = await askEngine<{ Config: { Env: string[] } }>(
            podman.endpoint,
            `/v1.41/containers/${id}/json`,
          );
          return Config.Env.includes(`ROUND=${find(deployment)?.round ?? '0'}`);
        }),
      );
      expect(told).not.toContain(false);
      const allocated = await query('SELECT gpu_id FROM allocated_gpus');
      expect(allocated.length).toBe(new Set(allocated.map(({ gpu_id }) => gpu_id)).size);

      figure(
        `${DEPLOYMENTS} slots, ${SECONDS} s, ${ledger.all.length} deployments, ${JSON.stringify(ledger.counts)}, frozen and killed ` +
          `${await tormented} times, requests ${JSON.stringify(failed)}, at rest after ${(resting / 1000).toFixed(1)} s, ${shown.length} containers`,
      );
    },
    120_000 + SECONDS * 1000 + REST_MS,
  );
});
