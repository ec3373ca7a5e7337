import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { describeWithCluster } from '@svc/testing/cluster';
import { check } from '../../../src/engines/kubernetes/check.ts';
import { connectKubernetes, type KubernetesClient } from '../../../src/engines/kubernetes/client.ts';
import { logs } from '../../../src/engines/kubernetes/logs.ts';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import { keepWatching } from '../../../src/engines/kubernetes/watch.ts';
import type { Observation } from '../../../src/engines/observation.ts';
import { aDeployment, altered, running } from './world.ts';

/** An image with a shell, from a registry that the cluster reaches. */
const [IMAGE = '', TAG = ''] = (process.env.FLEET_TEST_IMAGE ?? 'library/busybox:1.37').split(':');
const SERVE = 'echo ready; trap "exit 0" TERM; while true; do sleep 1; done';
const MINUTES = 60_000;

describeWithCluster('a deployment in a real cluster', (cluster) => {
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
  }, MINUTES);

  /** Passes until it has come to rest. */
  async function passTo(wanted: Parameters<typeof pass>[1], fence: Parameters<typeof pass>[2], phase: string) {
    const actions: string[] = [];
    for (let left = 180; ; left -= 1) {
      const observed: Observation = await pass(theClient(), wanted, fence);
      actions.push(...observed.actions);
      if (observed.phase === phase && observed.next !== 'soon') return { ...observed, actions };
      if (left === 0) throw new Error(`not in sight: ${JSON.stringify(observed)}`);
      await setTimeout(1000);
    }
  }

  test('is asked who it is, and lets the driver do what it does', async () => {
    const { version, nodes, conditions } = await check(theClient());
    expect(version).toMatch(/^v1\.\d+/);
    expect(nodes.some(({ ready }) => ready)).toBe(true);
    expect(conditions.find(({ type }) => type === 'Permitted')).toMatchObject({ status: 'True', message: '' });
  });

  test(
    'runs, says something, changes, stops and goes',
    async () => {
      const told = new Set<string>();
      const watch = keepWatching(theClient(), (id) => told.add(id));
      const it = aDeployment(
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
      const up = await passTo(running(it.manifest()), it.fence(), 'running');
      expect(up.actions).toEqual([
        `created the namespace ${namespace}`,
        `created ${it.name} (Deployment)`,
        `created ${it.name} (Service)`,
      ]);
      const [pod = { name: '' }] = up.instances;
      const lines: string[] = [];
      for await (const line of logs(theClient(), { deploymentId: it.id, name: pod.name })) lines.push(line);
      expect(lines).toEqual(['ready']);
      expect((await pass(theClient(), running(it.manifest()), it.fence())).actions).toEqual([]);

      const changed = running(it.manifest({ generation: 8, replicas: 2 }, { memory_request: '48Mi' }));
      const anew = await passTo(changed, it.fence(8), 'running');
      expect(anew.instances.map(({ name }) => name)).not.toContain(pod.name);
      expect(anew.instances).toHaveLength(2);
      expect(await pass(theClient(), running(it.manifest()), it.fence(7))).toMatchObject({
        overtaken: true,
        actions: [],
      });

      const stopped = await passTo({ kind: 'stopped' }, it.fence(9), 'stopped');
      expect(stopped.actions).toEqual([`removed ${it.name} (Deployment)`]);
      const gone = await passTo({ kind: 'gone', volumes: [] }, it.fence(10), 'gone');
      expect(gone.actions).toEqual([`removed ${it.name} (Service)`]);
      await watch.stop();
      expect([...told]).toEqual([it.id]);
    },
    10 * MINUTES,
  );

  test(
    'is told what is wrong: no such image, a crash, a field that there is none of',
    async () => {
      const absent = aDeployment({ image_name: 'library/there-is-no-such-image', image_tag: '1' }, {}, { namespace });
      const pulled = await passTo(running(absent.manifest()), absent.fence(), 'retrying');
      expect(pulled.reason).toBe('ImageNotFound');
      const crash = { image_name: IMAGE, image_tag: TAG, command: ['/bin/sh', '-c', 'exit 3'] };
      const crashing = aDeployment(crash, {}, { namespace });
      expect(await passTo(running(crashing.manifest()), crashing.fence(), 'retrying')).toMatchObject({
        reason: 'CrashLoop',
        message: expect.stringMatching(/exit code 3/),
      });
      const wrong = aDeployment(crash, {}, { namespace });
      const manifest = altered(wrong.manifest(), 'Deployment', { replica: 1 });
      const found = await pass(theClient(), running(manifest), wrong.fence());
      expect(found).toMatchObject({
        phase: 'failed',
        reason: 'InvalidSpec',
        message: expect.stringMatching(/\.spec\.replica/),
      });
      const negative = altered(wrong.manifest(), 'Deployment', { replicas: -1 });
      expect(await pass(theClient(), running(negative), wrong.fence())).toMatchObject({
        phase: 'failed',
        reason: 'InvalidSpec',
        message: expect.stringMatching(/spec\.replicas/),
      });
      for (const it of [absent, crashing]) await passTo({ kind: 'gone', volumes: [] }, it.fence(8), 'gone');
    },
    10 * MINUTES,
  );
});
