// The number of replicas of deployments on a fake cluster, through the API of the fleet.
import { describe, expect, test } from '@jest/globals';
import { byDepth, eventually } from '@svc/testing';
import { autoscale, kubectlScale } from '../../engines/kubernetes/scaling/programs.ts';
import { aClusterWorld, PLAIN } from './world.ts';

const ROUNDS = byDepth({ short: 1, full: 100, long: 300 });

const BOUNDS = { min_replicas: 1, max_replicas: 9, cpu_percent: 80 };
const WORKLOAD = { ...PLAIN, cpu_request: '100m' };

describe('on a cluster,', () => {
  const world = aClusterWorld();

  const replicasOf = (name: string) =>
    (world().server.object('deployments', name).spec as { readonly replicas: number }).replicas;
  const nameOf = (id: string) =>
    world()
      .server.objects('deployments')
      .find(({ metadata }) => metadata.labels?.['fleet/deployment'] === id)?.metadata.name ?? '';
  const change = async (id: string, body: object) =>
    (await world().good(world().api.put(`/api/v1/deployments/${id}`, body))).deployment;

  test('a number that others set is left alone, is a condition, and can be kept or taken over', async () => {
    const { deployed, deploymentIs, server, ask, deployment, removed } = world();
    const { id } = await deployed('shared', WORKLOAD, { replicas: 2 });
    await deploymentIs(id, 'running');
    const name = nameOf(id);
    await kubectlScale(server, name, 4);
    await ask(id, 'restart');
    const left = await deploymentIs(id, 'running');
    expect(left).toMatchObject({ replicas: 2, current_replicas: 4, conditions: [{ type: 'ReplicasSetInCluster' }] });
    expect(left.conditions[0].message).toMatch(/^kubectl has set 4 replicas, and the deployment requests 2\./);
    await change(id, { scaled_by: 'cluster' });
    expect((await deploymentIs(id, 'running')).conditions).toEqual([]);
    await kubectlScale(server, name, 3);
    expect(await change(id, { scaled_by: 'fleet' })).toMatchObject({ scaled_by: 'fleet' });
    await deploymentIs(id, 'running');
    expect({ stored: (await deployment(id)).replicas, present: replicasOf(name) }).toEqual({ stored: 3, present: 3 });
    await kubectlScale(server, name, 5);
    await change(id, { take_over: true });
    expect(await deploymentIs(id, 'running')).toMatchObject({ replicas: 3, current_replicas: 3, conditions: [] });
    await removed(id);
  });

  test('switching autoscaling on and off keeps the number that an autoscaler has set last', async () => {
    const { deployed, deploymentIs, server, deployment, good, api, database, removed } = world();
    const { id } = await deployed('autoscaled', WORKLOAD, { replicas: 2 });
    await deploymentIs(id, 'running');
    const name = nameOf(id);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const before = replicasOf(name);
      await change(id, { autoscaling: BOUNDS });
      await eventually('the autoscaler exists', () => server.objects('horizontalpodautoscalers').length === 1);
      expect({ round, replicas: replicasOf(name) }).toEqual({ round, replicas: before });
      // The fleet has not observed this number yet when it receives the change.
      const { replicas: last } = await autoscale(server, name, (round % 7) + 1);
      await change(id, { autoscaling: null });
      const shown = await deploymentIs(id, 'running');
      expect({ round, conditions: shown.conditions, present: replicasOf(name), stored: shown.replicas }).toEqual({
        round,
        conditions: [],
        present: last,
        stored: last,
      });
      expect(server.objects('horizontalpodautoscalers')).toEqual([]);
    }
    const { replicas } = await deployment(id);
    const { revisions } = await good(api.get(`/api/v1/deployments/${id}/revisions?limit=1`));
    expect(revisions).toMatchObject([{ replicas, autoscaling: null }]);
    const { cpu_millis } = await database.client.deployment.findUniqueOrThrow({ where: { id } });
    expect(cpu_millis).toBe(BigInt(100 * replicas));
    await removed(id);
    expect(server.objects('horizontalpodautoscalers')).toEqual([]);
  });
});
