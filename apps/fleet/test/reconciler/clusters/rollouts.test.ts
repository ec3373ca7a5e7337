// Rollouts on a fake cluster: they end as on hosts, and a return keeps the pods that still run.
import { eventually } from '@svc/testing';
import * as podStatuses from '../../engines/kubernetes/api-server/controller/pod-status.ts';
import type { Body } from '../deployment-helpers.ts';
import { aClusterWorld, PLAIN } from './world.ts';

const workload = { ...PLAIN, env_schema: [{ name: 'MODE' }] };

describe('a rollout on a cluster', () => {
  const world = aClusterWorld();

  const rolloutIs = (id: string, state: string, generation: number) =>
    eventually(`the rollout is ${state}`, () => world().deployment(id), {
      until: ({ rollout }) => rollout?.state === state && rollout.generation === generation,
    });

  const pods = () =>
    world()
      .server.objects('pods')
      .map(({ metadata }) => metadata.name)
      .sort();

  test('that succeeds is good, and uses the policy of the deployment', async () => {
    const { deployed, server } = world();
    const updates = { ready_seconds: 3, deadline_seconds: 90, order: 'stop_first' };
    const { id } = await deployed('policy', workload, { updates, env: { MODE: 'old' } });
    expect(await rolloutIs(id, 'succeeded', 1)).toMatchObject({
      rollout: { good_generation: 1, updated: 1, ready: 1 },
      instances: [{ current: true, ready: true }],
    });
    const [deployment] = server.objects('deployments');
    expect(deployment?.spec).toMatchObject({
      minReadySeconds: 3,
      progressDeadlineSeconds: 90,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    });
    await world().removed(id);
  });

  test.each<[string, typeof podStatuses.creating, string]>([
    ['an image that does not exist', podStatuses.waiting('ErrImagePull', 'manifest unknown'), 'ImageNotFound'],
    ['a program that crashes', podStatuses.crashing({ exitCode: 3, restarts: 3 }), 'CrashLoop'],
  ])('to %s returns by itself, and keeps the pods of the earlier generation', async (title, podStatus, reason) => {
    const { deployed, api, good, server, events, removed } = world();
    const { id } = await deployed(`to-${title.replaceAll(' ', '-').slice(0, 20)}`, workload, { env: { MODE: 'old' } });
    await rolloutIs(id, 'succeeded', 1);
    const before = pods();
    server.controls.podStatus = podStatus;
    try {
      await good(api.put(`/api/v1/deployments/${id}`, { env: { MODE: 'new' } }));
      await eventually('the fleet returns', () => world().deployment(id), {
        until: ({ generation }) => generation === 3,
      });
    } finally {
      server.controls.podStatus = podStatuses.running();
    }
    expect(await rolloutIs(id, 'rolled_back', 3)).toMatchObject({
      env: { MODE: 'old' },
      phase: 'running',
      rollout: { failed_generation: 2, good_generation: 3 },
    });
    expect(pods()).toEqual(before);
    expect((await events(id)).filter((event) => event.startsWith('RolledBack'))).toEqual([
      `RolledBack: returned to generation 1: generation 2 has failed (${reason}).`,
    ]);
    await removed(id);
  });

  test('of a deployment with a volume or a GPU refuses to start the new pod first', async () => {
    const { deployed, api } = world();
    const change = { env: { MODE: 'new' }, updates: { order: 'start_first' } };
    const specs: [string, Body][] = [
      ['store', { volume_mounts: [{ name: 'data', mountPath: '/data' }] }],
      ['model', { gpu_count: 1 }],
    ];
    for (const [name, spec] of specs) {
      const { id } = await deployed(name, { ...workload, ...spec }, { env: { MODE: 'old' } });
      expect(await api.put(`/api/v1/deployments/${id}`, change)).toMatchObject({
        status: 422,
        body: { errors: [{ path: 'updates.order' }] },
      });
    }
  });
});
