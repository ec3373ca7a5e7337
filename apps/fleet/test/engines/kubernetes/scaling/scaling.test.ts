import { afterEach, describe, expect, test } from '@jest/globals';
import { byDepth } from '@svc/testing';
import type { RunningObjects } from '../../../../src/engines/kubernetes/objects.ts';
import { reconcile } from '../../../../src/engines/kubernetes/reconcile.ts';
import { at, isTree, type Tree } from '../api-server/objects.ts';
import type { ApiServer } from '../api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from '../world.ts';
import { autoscale, kubectlScale, lastOf } from './programs.ts';

afterEach(endAll);

const ROUNDS = byDepth({ short: 3, full: 100, long: 1000 });

const AUTOSCALING = { autoscaling: { min_replicas: 1, max_replicas: 9, cpu_percent: 80 } };
const byCluster = { by: 'cluster', handover: null, minimum: 1 } as const;
const byFleet = { by: 'fleet', handover: null, minimum: 1 } as const;

/** A deployment that runs with two replicas, and what its Deployment in the cluster states. */
async function aScaledDeployment({
  scaling = byFleet,
  ...given
}: Partial<RunningObjects> & { replicas?: number } = {}) {
  const server = await anApiServer();
  const client = clientOf(server);
  const isAutoscaled = scaling.by === 'cluster';
  const deployment = aDeployment({ cpu_request: '1' }, { replicas: 2, ...(isAutoscaled && AUTOSCALING) });
  const { name } = deployment;
  let generation = 7;
  /** Applies the next generation. */
  const next = (more: Partial<RunningObjects> = {}, changed: Parameters<typeof deployment.manifest>[0] = {}) => {
    generation += 1;
    const wanted = running(deployment.manifest({ generation, ...changed }), { scaling, ...given, ...more });
    return reconcile(client, wanted, deployment.fence(generation));
  };
  const again = (more: Partial<RunningObjects> = {}, changed: Parameters<typeof deployment.manifest>[0] = {}) =>
    reconcile(
      client,
      running(deployment.manifest({ generation, ...changed }), { scaling, ...given, ...more }),
      deployment.fence(generation),
    );
  await next();
  await again();
  const live = () => server.object('deployments', name);
  return { server, client, deployment, name, next, again, live, replicas: () => at(live(), 'spec.replicas') };
}

/** The managers that own the number of replicas, as the API returns them. */
async function ownersOf(server: ApiServer, client: ReturnType<typeof clientOf>, name: string): Promise<string[]> {
  const { apps } = await client.apis();
  const { metadata } = await apps.readNamespacedDeployment({ name, namespace: 'fleet' });
  expect(server.objects('deployments')).toHaveLength(1);
  return (metadata?.managedFields ?? [])
    .filter(({ fieldsV1 }) => isTree(at(fieldsV1, 'f:spec')) && 'f:replicas' in (at(fieldsV1, 'f:spec') as Tree))
    .map(({ manager, operation, subresource = '' }) => `${manager} ${operation} ${subresource}`.trimEnd());
}

const patches = ({ requests }: ApiServer) => requests.filter(({ method }) => method === 'PATCH').length;

describe('a number of replicas that the fleet sets', () => {
  test('is set by each generation', async () => {
    const { next, replicas } = await aScaledDeployment();
    expect(replicas()).toBe(2);
    expect(await next({}, { replicas: 4 })).toMatchObject({ reason: null, scale: { replicas: 4, manager: null } });
    expect(replicas()).toBe(4);
  });

  test('stays as somebody else has set it, and everything else is updated', async () => {
    const { server, name, next, again, live, replicas } = await aScaledDeployment();
    await kubectlScale(server, name, 5);
    const found = await next({}, { restarted_at: '2026-01-01T00:00:00.000Z' });
    expect(found).toMatchObject({ reason: null, scale: { replicas: 5, manager: 'kubectl', isKept: false } });
    expect(replicas()).toBe(5);
    expect(JSON.stringify(live().spec)).toContain('2026-01-01T00:00:00.000Z');
    expect(await again()).toMatchObject({ phase: 'running', scale: { replicas: 5, manager: 'kubectl' } });
  });

  test('stays although the cluster does not record who has scaled', async () => {
    const { server, name, next, live, replicas } = await aScaledDeployment();
    const { spec, ...rest } = live();
    server.put('deployments', { ...rest, spec: { ...spec, replicas: 5 } }); // as version 1.20 does
    const found = await next({}, { restarted_at: '2026-01-01T00:00:00.000Z' });
    expect(found).toMatchObject({ reason: null, scale: { replicas: 5, manager: 'another program' } });
    expect(replicas()).toBe(5);
    expect(await next({}, { replicas: 3 })).toMatchObject({ scale: { replicas: 5, manager: 'another program' } });
    expect(server.object('deployments', name).spec).toMatchObject({ replicas: 5 });
  });

  test('is taken over on request, and is the number of the fleet again', async () => {
    const { server, client, name, next, replicas } = await aScaledDeployment();
    await kubectlScale(server, name, 5);
    await next();
    expect(await next({ takeOver: true })).toMatchObject({ scale: { replicas: 2, manager: null } });
    expect(replicas()).toBe(2);
    expect(await ownersOf(server, client, name)).toEqual(['fleet Apply']);
    expect(await next({}, { replicas: 3 })).toMatchObject({ reason: null, scale: { replicas: 3 } });
  });

  test('is that of the fleet if somebody else sets the same one', async () => {
    const { server, client, name, next, replicas } = await aScaledDeployment();
    await kubectlScale(server, name, 5);
    await kubectlScale(server, name, 2);
    expect(await next()).toMatchObject({ reason: null, scale: { replicas: 2, manager: null } });
    expect((await ownersOf(server, client, name)).sort()).toEqual(['fleet Apply', 'kubectl Update scale']);
    expect(await next({}, { replicas: 3 })).toMatchObject({ reason: null, scale: { replicas: 3, manager: null } });
    expect(replicas()).toBe(3);
  });

  test('does not hide a conflict of another field', async () => {
    const { server, name, next, live } = await aScaledDeployment();
    const patch = { spec: { progressDeadlineSeconds: 60 } };
    await kubectlScale(server, name, 5);
    await kubectlScale(server, name, 2);
    server.edit('deployments', name, { manager: 'kubectl-edit', patch });
    const found = await next({}, { replicas: 3 });
    expect(found).toMatchObject({ reason: 'FieldConflict' });
    expect(found.message).toContain('.spec.progressDeadlineSeconds (kubectl-edit)');
    expect(live().spec).toMatchObject({ replicas: 2, progressDeadlineSeconds: 60 });
  });

  test('that somebody sets to 0 is degraded, and is not a completed deployment', async () => {
    const { server, name, again } = await aScaledDeployment();
    await kubectlScale(server, name, 0);
    expect(await again()).toMatchObject({ phase: 'degraded', message: 'It is scaled to 0 replicas.' });
  });
});

describe('a number of replicas that the cluster sets', () => {
  test('is not owned by the fleet, and has an owner from the start', async () => {
    const { server, client, name, again, replicas } = await aScaledDeployment({ scaling: byCluster });
    expect(await ownersOf(server, client, name)).toEqual(['fleet-handover Apply']);
    expect(replicas()).toBe(2);
    await autoscale(server, name, 7);
    expect(await again()).toMatchObject({ reason: null, scale: { replicas: 7, manager: null } });
    expect(await ownersOf(server, client, name)).toEqual(['kube-controller-manager Update scale']);
    expect(server.objects('horizontalpodautoscalers')).toMatchObject([
      {
        metadata: { name },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
          minReplicas: 1,
          maxReplicas: 9,
          targetCPUUtilizationPercentage: 80,
        },
      },
    ]);
  });

  test('starts within the bounds of the autoscaler', async () => {
    const { server } = await aScaledDeployment({ scaling: byCluster });
    const other = aDeployment(
      { cpu_request: '1' },
      { replicas: 1, autoscaling: { min_replicas: 3, max_replicas: 5, cpu_percent: 50 } },
    );
    const wanted = running(other.manifest(), { scaling: { ...byCluster, minimum: 3 } });
    await reconcile(clientOf(server), wanted, other.fence());
    expect(at(server.object('deployments', other.name), 'spec.replicas')).toBe(3);
  });

  test('stays when the fleet sets it again, also if it changed at the last moment', async () => {
    const { server, client, deployment, name, next, again, replicas } = await aScaledDeployment({ scaling: byCluster });
    await autoscale(server, name, 7);
    let isFirst = true;
    server.inject(({ method, path }) => {
      if (isFirst && method === 'PATCH' && path.endsWith(`/deployments/${name}`)) {
        isFirst = false;
        server.edit('deployments', name, { manager: 'late', patch: { spec: { replicas: 6 } } });
      }
      return undefined;
    });
    const handedBack = { scaling: { ...byFleet, handover: 'keep' as const } };
    const found = await next(handedBack, { autoscaling: null });
    expect(found).toMatchObject({ reason: null, scale: { replicas: 6, manager: null, isKept: true } });
    expect(found.actions).toEqual([
      `removed ${name} (HorizontalPodAutoscaler)`,
      `took over 6 replicas of ${name} (Deployment)`,
      `changed ${name} (Deployment)`,
    ]);
    expect(replicas()).toBe(6);
    expect(server.objects('horizontalpodautoscalers')).toEqual([]);
    expect(await ownersOf(server, client, name)).toContain('fleet Apply');
    const fixed = { autoscaling: null, replicas: 6 };
    expect((await again({ scaling: byFleet }, fixed)).actions).toEqual([]);
    expect(await next({ scaling: byFleet }, { ...fixed, replicas: 4 })).toMatchObject({ reason: null });
    expect(replicas()).toBe(4);
    expect(await ownersOf(server, client, name)).toEqual(['fleet Apply']);
    expect(deployment.name).toBe(name);
  });

  test('is replaced by another one that the change states', async () => {
    const { server, name, next, replicas } = await aScaledDeployment({ scaling: byCluster });
    await autoscale(server, name, 7);
    const found = await next({ scaling: { ...byFleet, handover: 'set' } }, { autoscaling: null, replicas: 3 });
    expect(found).toMatchObject({ reason: null, scale: { replicas: 3, manager: null, isKept: false } });
    expect(replicas()).toBe(3);
  });

  test('keeps the deployment running while enough replicas are up', async () => {
    const { server, name, again } = await aScaledDeployment({ scaling: byCluster });
    server.controls.isFrozen = true;
    await autoscale(server, name, 4);
    server.controls.isFrozen = false;
    server.controls.podStatus = () => ({ phase: 'Pending', conditions: [] });
    server.settle();
    expect(await again()).toMatchObject({ phase: 'running', message: '2 of 4 up.', next: 'soon' });
    await autoscale(server, name, 0);
    expect(await again()).toMatchObject({ phase: 'running', message: 'It is scaled to 0 replicas.' });
  });

  test('is removed with its autoscaler when the deployment is stopped', async () => {
    const { server, client, deployment } = await aScaledDeployment({ scaling: byCluster });
    const found = await reconcileTo(client, {
      wanted: { kind: 'stopped' },
      fence: deployment.fence(20),
      phase: 'stopped',
    });
    expect(found.actions).toEqual([
      `removed ${deployment.name} (HorizontalPodAutoscaler)`,
      `removed ${deployment.name} (Deployment)`,
    ]);
    expect(server.objects('horizontalpodautoscalers')).toEqual([]);
  });

  test('shows why the autoscaler cannot work', async () => {
    const { server, name, again } = await aScaledDeployment({ scaling: byCluster });
    const message = 'the HPA was unable to compute the replica count: failed to get cpu utilization';
    const conditions = [
      { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale' },
      { type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric', message },
    ];
    const autoscaler = server.object('horizontalpodautoscalers', name);
    const annotations = {
      ...autoscaler.metadata.annotations,
      'autoscaling.alpha.kubernetes.io/conditions': JSON.stringify(conditions),
    };
    server.put('horizontalpodautoscalers', { ...autoscaler, metadata: { ...autoscaler.metadata, annotations } });
    expect((await again()).conditions).toEqual([
      {
        type: 'AutoscalingActive',
        status: 'False',
        reason: 'FailedGetResourceMetric',
        message: `The autoscaler keeps the present number of replicas: ${message}`,
      },
    ]);
  });

  test('needs a permission that deployments without autoscaling do not need', async () => {
    const { server, client, deployment } = await aScaledDeployment();
    server.forbidden.add('* horizontalpodautoscalers');
    const wanted = running(deployment.manifest({ generation: 9, ...AUTOSCALING }), { scaling: byCluster });
    const refused = await reconcile(client, wanted, deployment.fence(9));
    expect(refused).toMatchObject({ phase: 'degraded', reason: 'AuthFailed' });
    expect(refused.message).toContain('horizontalpodautoscalers');
    const plain = running(deployment.manifest({ generation: 10 }));
    expect(await reconcile(client, plain, deployment.fence(10))).toMatchObject({ reason: null });
    const stop = { wanted: { kind: 'stopped' as const }, fence: deployment.fence(11), phase: 'stopped' as const };
    await reconcileTo(client, stop);
  });
});

describe('programs that scale beside updates', () => {
  test.each([
    ['with autoscaling', byCluster],
    ['without it', byFleet],
  ])('cause no conflict and lose nothing %s', async (_title, scaling) => {
    const { server, name, next, again, live, replicas } = await aScaledDeployment({ scaling });
    for (let round = 1; round <= ROUNDS; round += 1) {
      const restarted = new Date(round * 1000).toISOString();
      const [, ...written] = await Promise.all([
        next({}, { restarted_at: restarted }),
        autoscale(server, name, (round % 7) + 1),
        kubectlScale(server, name, ((round * 3) % 5) + 1),
      ]);
      const found = await again({}, { restarted_at: restarted });
      expect({ round, reason: found.reason, replicas: replicas() }).toEqual({
        round,
        reason: null,
        replicas: lastOf(written),
      });
      expect(JSON.stringify(live().spec)).toContain(restarted);
    }
  });

  test('do not change the number when autoscaling is switched on and off', async () => {
    const { server, name, next, again, replicas } = await aScaledDeployment();
    let stored = 2;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const on = { scaling: byCluster };
      await next(on, { ...AUTOSCALING, replicas: stored });
      expect({ round, replicas: replicas() }).toEqual({ round, replicas: stored });
      const off = { scaling: { ...byFleet, handover: 'keep' as const } };
      const [found, ...written] = await Promise.all([
        next(off, { replicas: stored }),
        autoscale(server, name, (round % 7) + 1),
      ]);
      expect(found.reason).toBeNull();
      // The autoscaler can be the last one. The handover lasts until a pass after it.
      const last = await again(off, { replicas: stored });
      expect({ round, replicas: replicas() }).toEqual({ round, replicas: lastOf(written) });
      stored = last.scale?.replicas ?? 0;
      expect(await again({ scaling: byFleet }, { replicas: stored })).toMatchObject({ reason: null, actions: [] });
    }
  });
});

describe('an apply that changes nothing', () => {
  test('is not sent, and is sent again after a change of a field of the fleet', async () => {
    const server = await anApiServer();
    const client = clientOf(server);
    const deployment = aDeployment({
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      secret_refs: [{ name: 'password', env: 'PASSWORD' }],
      volume_mounts: [{ name: 'data', mountPath: '/data' }],
    });
    const wanted = running(deployment.manifest());
    await reconcile(client, wanted, deployment.fence());
    const count = patches(server);
    await reconcile(client, wanted, deployment.fence());
    expect(patches(server)).toBe(count);
    server.edit('services', deployment.name, { manager: 'somebody', patch: { spec: { type: 'NodePort' } } });
    expect(await reconcile(client, wanted, deployment.fence())).toMatchObject({ reason: 'FieldConflict' });
    expect(patches(server)).toBe(count + 1);
    const other = clientOf(server);
    await reconcile(other, wanted, deployment.fence());
    expect(patches(server)).toBe(count + 5); // another process compares with what it has applied itself
  });
});
