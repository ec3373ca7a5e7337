import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { LONG_TEST_MS } from '@svc/testing';
import { describeWithCluster } from '@svc/testing/cluster';
import { check } from '../../../src/engines/kubernetes/check/check.ts';
import { connectKubernetes, type KubernetesClient } from '../../../src/engines/kubernetes/client.ts';
import { logs } from '../../../src/engines/kubernetes/logs.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { watchDeployments } from '../../../src/engines/kubernetes/watch.ts';
import type { Observation } from '../../../src/engines/observation.ts';
import { aDeployment, altered, running } from './world.ts';

/** An image with a shell, from a registry that the cluster can reach. */
const [IMAGE = '', TAG = ''] = (process.env.FLEET_TEST_IMAGE ?? 'library/busybox:1.37').split(':');
const SERVE = 'echo ready; trap "exit 0" TERM; while true; do sleep 1; done';

describeWithCluster('the driver on a real cluster', (cluster) => {
  const namespace = `fleet-test-${randomBytes(4).toString('hex')}`;
  let client: KubernetesClient | undefined;
  const theClient = () => {
    client ??= connectKubernetes({ ...cluster(), namespace, gpu_resource_name: 'nvidia.com/gpu' });
    return client;
  };

  afterAll(async () => {
    const { core } = await theClient().apis();
    await core.deleteNamespace({ name: namespace });
    await theClient().close();
  });

  /** Reconciles until the deployment has the phase and needs no further reconciliation soon. */
  async function reconcileTo(
    wanted: Parameters<typeof reconcile>[1],
    fence: Parameters<typeof reconcile>[2],
    phase: string,
  ) {
    const actions: string[] = [];
    for (let left = 180; ; left -= 1) {
      const observed: Observation = await reconcile(theClient(), wanted, fence);
      actions.push(...observed.actions);
      if (observed.phase === phase && observed.next !== 'soon') return { ...observed, actions };
      if (left === 0) throw new Error(`the expected state was not reached: ${JSON.stringify(observed)}`);
      await setTimeout(1000);
    }
  }

  test('reports version, nodes and permissions of the cluster', async () => {
    const { version, nodes, conditions } = await check(theClient());
    expect(version).toMatch(/^v1\.\d+/);
    expect(nodes.some(({ ready }) => ready)).toBe(true);
    expect(conditions.find(({ type }) => type === 'Permitted')).toMatchObject({ status: 'True', message: '' });
  });

  test(
    'creates, replaces, stops and deletes a deployment, and reads its log',
    async () => {
      const reported = new Set<string>();
      const watch = watchDeployments(theClient(), (id) => reported.add(id));
      const deployment = aDeployment(
        {
          image_name: IMAGE,
          image_tag: TAG,
          command: ['/bin/sh', '-c', SERVE],
          env: [{ name: 'GREETING', value: 'hello' }],
          ports: [{ containerPort: 8080, protocol: 'TCP' }],
          memory_request: '32Mi',
        },
        {},
        { namespace },
      );
      const up = await reconcileTo(running(deployment.manifest()), deployment.fence(), 'running');
      expect(up.actions).toEqual([
        `created the namespace ${namespace}`,
        `created ${deployment.name} (Deployment)`,
        `created ${deployment.name} (Service)`,
      ]);
      const [pod = { name: '' }] = up.instances;
      const lines: string[] = [];
      for await (const line of logs(theClient(), { deploymentId: deployment.id, name: pod.name })) lines.push(line);
      expect(lines).toEqual(['ready']);
      expect((await reconcile(theClient(), running(deployment.manifest()), deployment.fence())).actions).toEqual([]);

      const changed = running(deployment.manifest({ generation: 8, replicas: 2 }, { memory_request: '48Mi' }));
      const anew = await reconcileTo(changed, deployment.fence(8), 'running');
      expect(anew.instances.map(({ name }) => name)).not.toContain(pod.name);
      expect(anew.instances).toHaveLength(2);
      expect(await reconcile(theClient(), running(deployment.manifest()), deployment.fence(7))).toMatchObject({
        supersededBy: expect.any(Number),
        actions: [],
      });

      const stopped = await reconcileTo({ kind: 'stopped' }, deployment.fence(9), 'stopped');
      expect(stopped.actions).toEqual([`removed ${deployment.name} (Deployment)`]);
      const gone = await reconcileTo({ kind: 'gone', volumes: [] }, deployment.fence(10), 'gone');
      expect(gone.actions).toEqual([`removed ${deployment.name} (Service)`]);
      await watch.stop();
      expect([...reported]).toEqual([deployment.id]);
    },
    LONG_TEST_MS,
  );

  test(
    'reports a missing image, a crash, and an unknown field',
    async () => {
      const absent = aDeployment({ image_name: 'library/there-is-no-such-image', image_tag: '1' }, {}, { namespace });
      const pulled = await reconcileTo(running(absent.manifest()), absent.fence(), 'retrying');
      expect(pulled.reason).toBe('ImageNotFound');
      const crash = { image_name: IMAGE, image_tag: TAG, command: ['/bin/sh', '-c', 'exit 3'] };
      const crashing = aDeployment(crash, {}, { namespace });
      expect(await reconcileTo(running(crashing.manifest()), crashing.fence(), 'degraded')).toMatchObject({
        reason: 'CrashLoop',
        message: expect.stringMatching(/exit code 3/),
      });
      const wrong = aDeployment(crash, {}, { namespace });
      const manifest = altered(wrong.manifest(), 'Deployment', { replica: 1 });
      const found = await reconcile(theClient(), running(manifest), wrong.fence());
      expect(found).toMatchObject({
        phase: 'failed',
        reason: 'InvalidSpec',
        message: expect.stringMatching(/\.spec\.replica/),
      });
      const negative = altered(wrong.manifest(), 'Deployment', { replicas: -1 });
      expect(await reconcile(theClient(), running(negative), wrong.fence())).toMatchObject({
        phase: 'failed',
        reason: 'InvalidSpec',
        message: expect.stringMatching(/spec\.replicas/),
      });
      for (const deployment of [absent, crashing])
        await reconcileTo({ kind: 'gone', volumes: [] }, deployment.fence(8), 'gone');
    },
    LONG_TEST_MS,
  );
});
