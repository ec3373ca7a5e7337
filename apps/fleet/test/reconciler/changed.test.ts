import { eventually } from '@svc/testing';
// Which of the deployments that watches report become due.
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../../src/generated/prisma/client.ts';
import { collectChanges } from '../../src/reconciler/changed.ts';
import type { ReconcilerContext } from '../../src/reconciler/targets.ts';
import { DEFAULT_TIMINGS } from '../../src/reconciler/timings.ts';
import { startDeploymentWorld } from '../deployments/world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;

const HOUR_MS = 3_600_000;

/** A deployment that a worker has reconciled a minute ago, and that is due in an hour. */
async function aDeployment(given: Partial<Prisma.DeploymentUncheckedCreateInput>) {
  const { id: workload_id } = await fleet.aWorkload();
  return client.deployment.create({
    data: {
      name: uuidv7(),
      created_by: 'test',
      workload_id,
      revision: 1,
      replicas: 1,
      observed_generation: 1,
      phase: 'running',
      observed_at: new Date(Date.now() - 60_000),
      due_at: new Date(Date.now() + HOUR_MS),
      ...given,
    },
  });
}

/** Collects changes, and counts the statements. */
function collecting() {
  const count = { statements: 0 };
  const counted = {
    $executeRaw: (...args: Parameters<typeof client.$executeRaw>) => {
      count.statements += 1;
      return client.$executeRaw(...args);
    },
  };
  const timings = { ...DEFAULT_TIMINGS, collect: 50, afterChange: 1000 };
  // Only this part of the context is used.
  const context = { database: { client: counted }, log: world.log, timings } as unknown as ReconcilerContext;
  return { ...collectChanges(context), count };
}

const isDueSoon = async ({ id }: { readonly id: string }) =>
  (await client.deployment.findUniqueOrThrow({ where: { id } })).due_at.getTime() < Date.now() + HOUR_MS / 2;

test('reported deployments become due soon, with one statement', async () => {
  const { id: host_id } = await fleet.aHost();
  const { id: cluster_id } = await fleet.aCluster();
  const onHost = await Promise.all([1, 2, 3].map(() => aDeployment({ host_id })));
  const onCluster = await aDeployment({ cluster_id });
  const changes = collecting();
  for (const { id } of [...onHost, ...onHost]) changes.report(host_id, id);
  changes.report(cluster_id, onCluster.id);
  for (const row of [...onHost, onCluster]) await eventually('it is due soon', () => isDueSoon(row));
  await changes.stop();
  expect(changes.count.statements).toBe(1);
});

test('a deployment does not become due if a report tells nothing new, or is about another target', async () => {
  const { id: host_id } = await fleet.aHost();
  const other = await fleet.aHost();
  const later = { lease_owner: uuidv7(), lease_until: new Date(Date.now() + HOUR_MS) };
  const unchanged = await Promise.all([
    aDeployment({ host_id, ...later }),
    aDeployment({ host_id, failures: 1 }),
    aDeployment({ host_id, phase: 'starting' }),
    // Reconciled after the report.
    aDeployment({ host_id, observed_at: new Date(Date.now() + 10_000) }),
    aDeployment({ host_id: other.id }),
  ]);
  const changed = await aDeployment({ host_id });
  const changes = collecting();
  for (const text of ['', 'no-id', "'"]) changes.report(host_id, text);
  for (const { id } of [...unchanged, changed]) changes.report(host_id, id);
  await eventually('it is due soon', () => isDueSoon(changed));
  expect(await Promise.all(unchanged.map(isDueSoon))).toEqual(unchanged.map(() => false));
  await changes.stop();
});

test('a deployment whose rollout waits with ready instances becomes due', async () => {
  const { id: host_id } = await fleet.aHost();
  const ready_since = new Date().toISOString();
  const row = await aDeployment({ host_id, phase: 'starting', rollout: { state: 'progressing', ready_since } });
  const changes = collecting();
  changes.report(host_id, row.id);
  await eventually('it is due soon', () => isDueSoon(row));
  await changes.stop();
});

test('a target that reports very many deployments does not exceed its share', async () => {
  const { id: host_id } = await fleet.aHost();
  const other = await fleet.aHost();
  const late = await aDeployment({ host_id });
  const elsewhere = await aDeployment({ host_id: other.id });
  const changes = collecting();
  for (let count = 0; count < 5000; count += 1) changes.report(host_id, uuidv7());
  changes.report(host_id, late.id);
  changes.report(other.id, elsewhere.id);
  await eventually('it is due soon', () => isDueSoon(elsewhere));
  expect(await isDueSoon(late)).toBe(false);
  await changes.stop();
});

test('nothing is stored after the stop', async () => {
  const { id: host_id } = await fleet.aHost();
  const row = await aDeployment({ host_id });
  const changes = collecting();
  changes.report(host_id, row.id);
  await changes.stop();
  expect(changes.count.statements).toBe(0);
});
