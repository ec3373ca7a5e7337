import { eventually, LONG_TEST_MS } from '@svc/testing';
import type { Creation } from '../simulated-host.ts';
import { startKills, stepsOf } from './kills.ts';

const STEP = `NEW.generation <> OLD.generation OR NEW.extra_instances <> OLD.extra_instances
  OR NEW.rollout->>'state' IS DISTINCT FROM OLD.rollout->>'state'`;
const world = await startKills([stepsOf('deployments', STEP)]);
const { query, made, host, send, sent } = world;
afterAll(world.stop);

const updates = { ready_seconds: 1, deadline_seconds: 600 };
const WITHIN_MS = 200_000;

const containersOf = async (id: string) => (await host.creationsOf(id)).filter(({ removedAt }) => removedAt === null);

/** Waits until the last rollout of a deployment has ended in a state, and only its instances are left. */
const ended = (id: string, state: string) =>
  eventually(
    `the rollout has ${state}`,
    async () => {
      const [row] = await query(
        `SELECT phase, replicas, generation, observed_generation, rollout, message FROM deployments WHERE id = '${id}'`,
      );
      return { ...row, containers: (await containersOf(id)).length };
    },
    {
      until: ({ phase, rollout, generation, replicas, containers }) =>
        phase === 'running' && rollout?.state === state && rollout.generation === generation && containers === replicas,
      withinMs: WITHIN_MS,
    },
  );

/** A deployment whose first generation is good. */
async function aGoodOne(name: string, workload_id: string, replicas: number): Promise<string> {
  const { id } = await made('deployments', { name, workload_id, replicas, updates });
  await ended(id, 'succeeded');
  return id;
}

/** Updates a deployment to the second revision of its workload. A request whose process is killed is repeated. */
const update = (id: string) =>
  eventually('the update is stored', async () => {
    const [{ generation }] = await query(`SELECT generation FROM deployments WHERE id = '${id}'`);
    if (generation > 1) return true;
    await send('PUT', `deployments/${id}`, { revision: 2 });
    return false;
  });

/** What is left of an update: it does not depend on kills. */
async function stateOf(id: string) {
  const of = `WHERE deployment_id = '${id}'`;
  const [deployment] = await query(
    `SELECT generation, observed_generation, revision, phase, reason, extra_instances, good_generation, cpu_millis,
       rollout->>'state' AS state, rollout->>'failed_generation' AS failed, rollout->>'leaving' AS leaving
     FROM deployments WHERE id = '${id}'`,
  );
  return {
    deployment,
    revisions: await query(
      `SELECT generation, operation, revision, outcome, outcome_reason FROM deployment_revisions ${of} ORDER BY generation`,
    ),
    events: await query(
      `SELECT reason, count(*)::int FROM deployment_events ${of} AND reason IN ('RolledBack', 'RolloutFailed', 'update', 'rollback')
       GROUP BY reason ORDER BY reason`,
    ),
    ports: await query(`SELECT ordinal, container_port FROM allocated_ports ${of} ORDER BY ordinal, container_port`),
    containers: (await containersOf(id))
      .map(({ labels }) => `${labels['fleet/ordinal']} of revision ${labels['fleet/revision']}`)
      .sort(),
  };
}

/** The largest number of containers that existed at the same time. */
const peakOf = (creations: readonly Creation[]) =>
  Math.max(
    ...creations.map(
      ({ at }) =>
        creations.filter((other) => other.at <= at && (other.removedAt === null || other.removedAt > at)).length,
    ),
  );

const CASES: readonly (readonly [string, number, object, string, number])[] = [
  ['a good update of two replicas', 2, { image_tag: '2' }, 'succeeded', 12],
  ['an update to a program that ends', 1, { command: ['false'] }, 'rolled_back', 6],
];

test.each(CASES)(
  '%s ends as without kills if each step is the last one of its process',
  async (what, replicas, change, state, leastKills) => {
    const name = what.replaceAll(' ', '-');
    const workload = { name, image_name: 'team/app', image_tag: '1', ports: [{ containerPort: 8080 }] };
    const { id: workload_id } = await made('workloads', workload);
    const undisturbed = await aGoodOne(`${name}-1`, workload_id, replicas);
    const disturbed = await aGoodOne(`${name}-2`, workload_id, replicas);
    await sent('PUT', `workloads/${workload_id}`, change);
    await update(undisturbed);
    await ended(undisturbed, state);
    const work = async () => {
      await update(disturbed);
      await ended(disturbed, state);
    };
    const kills = await world.whileKilled(work, { atRequests: true });
    expect(kills).toBeGreaterThanOrEqual(leastKills);
    expect(await stateOf(disturbed)).toEqual(await stateOf(undisturbed));
    const creations = await host.creationsOf(disturbed);
    expect(peakOf(creations)).toBe(replicas + 1);
    for (const { labels } of creations) {
      const same = creations.filter((other) => other.labels['fleet/ordinal'] === labels['fleet/ordinal']);
      expect(peakOf(same)).toBe(1);
    }
    expect(await query('SELECT what FROM fire_wrong')).toEqual([]);
  },
  LONG_TEST_MS,
);
