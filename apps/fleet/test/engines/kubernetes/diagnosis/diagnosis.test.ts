import { afterEach, describe, expect, test } from '@jest/globals';
import { logs } from '../../../../src/engines/kubernetes/logs.ts';
import { reconcile } from '../../../../src/engines/kubernetes/reconcile.ts';
import type { Webhook } from '../api-server/admission/webhooks.ts';
import type { PodStatusOf } from '../api-server/controller/pod-status.ts';
import * as podStatuses from '../api-server/controller/pod-status.ts';
import { moment, type Stored, type Tree } from '../api-server/objects.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from '../world.ts';

afterEach(endAll);

const SIDECAR = { name: 'mesh-proxy', image: 'mesh/proxy:1' };

/** A webhook that changes the spec of each new pod. */
const changingPods = (change: (spec: Tree) => Tree): Webhook => ({
  name: 'change.example.test',
  kinds: ['Pod'],
  sideEffects: 'None',
  mutate: (pod) => ({ ...pod, spec: change(pod.spec ?? {}) }),
});

/** Adds a container, as a service mesh does. */
const withSidecar = (spec: Tree): Tree => ({ ...spec, containers: [SIDECAR, ...(spec.containers as Tree[])] });

/** The status with a status of the sidecar, which comes first. */
const beside =
  (podStatus: PodStatusOf, sidecar: object): PodStatusOf =>
  () => {
    const status = podStatus();
    const all = [
      { ...SIDECAR, imageID: '', ready: true, restartCount: 0, ...sidecar },
      ...(status.containerStatuses ?? []),
    ];
    return { ...status, containerStatuses: all };
  };

const up = { state: { running: { startedAt: moment(Date.now() - 3_600_000) } } };

/** A deployment whose pods have a sidecar. */
async function aMeshedDeployment(podStatus: PodStatusOf, spec: Parameters<typeof aDeployment>[0] = {}) {
  const server = await anApiServer();
  server.admission.webhooks.push(changingPods(withSidecar));
  server.controls.podStatus = podStatus;
  const deployment = aDeployment(spec);
  const client = clientOf(server);
  const look = () => reconcile(client, running(deployment.manifest()), deployment.fence());
  return { server, client, deployment, look, first: await look() };
}

describe('a pod with a container that the cluster has added', () => {
  test('has the names, images and states of all containers, that of the program first', async () => {
    const restarted = { ...up, restartCount: 3 };
    const { first } = await aMeshedDeployment(beside(podStatuses.running(), restarted));
    expect(first).toMatchObject({ phase: 'running', instances: [{ node: 'worker-1', restarts: 0, events: [] }] });
    expect(first.instances[0]?.containers).toEqual([
      { name: 'main', image: 'docker.io/team/app:latest', phase: 'running', message: 'is running', restarts: 0 },
      { ...SIDECAR, phase: 'running', message: 'is running', restarts: 3 },
    ]);
    expect(first.processes).toMatchObject([{ restarts: 0 }]);
  });

  test('names the container that fails', async () => {
    const last = { terminated: { exitCode: 5, reason: 'Error', startedAt: moment(), finishedAt: moment() } };
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container' };
    const failing = { ready: false, restartCount: 2, state: { waiting }, lastState: last };
    const { first } = await aMeshedDeployment(beside(podStatuses.notReady(10_000), failing));
    expect(first.reason).toBe('CrashLoop');
    expect(first.message).toMatch(/ has the container mesh-proxy, which is restarting \(exit code 5\)\. 0 of 1 up\.$/);
    const slow = { ...up, ready: false };
    const { first: unready } = await aMeshedDeployment(() => ({
      ...beside(podStatuses.notReady(10_000), slow)(),
      containerStatuses: [
        { ...SIDECAR, imageID: '', restartCount: 0, ...slow },
        { name: 'main', image: 'image', imageID: '', restartCount: 0, ready: true, ...up },
      ],
    }));
    expect(unready.message).toMatch(/ is running, but its container mesh-proxy is not ready\. 0 of 1 up\.$/);
  });

  test('has a log for each container', async () => {
    const { server, client, deployment } = await aMeshedDeployment(beside(podStatuses.running(), up));
    const [name = ''] = server.objects('pods').map(({ metadata }) => metadata.name);
    server.logs.write(name, 'program\n');
    server.logs.write(`${name}/mesh-proxy`, 'proxy\n');
    const instance = { deploymentId: deployment.id, name };
    const read = async (container?: string) => {
      const lines: string[] = [];
      for await (const line of logs(client, instance, { container })) lines.push(line);
      return lines;
    };
    expect(await read()).toEqual(['program']);
    expect(await read('mesh-proxy')).toEqual(['proxy']);
    await expect(read('other')).rejects.toThrow(`The pod ${name} has no container other.`);
  });

  test.each([
    [
      0,
      { phase: 'stopped', reason: null, next: 'settled' },
      /^It has completed: \S+ has completed, and still runs the container mesh-proxy\.$/,
    ],
    [3, { phase: 'failed', reason: 'JobFailed', next: 'settled' }, /has failed \(exit code 3\)\.$/],
  ])('of a job has ended with its program (exit code %i)', async (exitCode, expected, message) => {
    const ended = podStatuses.ended({ exitCode });
    const isStillUp: PodStatusOf = () => ({ ...beside(ended, up)(), phase: 'Running' });
    const { server, first } = await aMeshedDeployment(isStillUp, { kind: 'job' });
    expect(first).toMatchObject(expected);
    expect(first.message).toMatch(message);
    expect(server.objects('jobs')[0]?.status).not.toMatchObject({ conditions: [{ type: 'Complete' }] });
  });
});

describe('a deployment on a cluster', () => {
  test('has a condition if admission changes the image', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    const look = () => reconcile(client, running(deployment.manifest()), deployment.fence());
    expect((await look()).conditions).toEqual([]);
    for (const { metadata } of server.objects('pods')) server.drop('pods', metadata.name);
    const mirrored = (spec: Tree) => {
      const [main] = spec.containers as Tree[];
      return { ...spec, containers: [{ ...main, image: 'mirror.example.test/team/app:1' }] };
    };
    server.admission.webhooks.push(changingPods(mirrored));
    for (const { metadata } of server.objects('pods')) server.drop('pods', metadata.name);
    expect((await look()).conditions).toEqual([
      {
        type: 'ImageChangedByCluster',
        status: 'True',
        reason: 'Admission',
        message:
          'The cluster runs mirror.example.test/team/app:1 instead of docker.io/team/app:latest: a policy or an admission webhook of the cluster changes the image.',
      },
    ]);
  });

  test('has a condition while its load balancer has no address', async () => {
    const server = await anApiServer();
    const spec = { ports: [{ containerPort: 80, protocol: 'TCP' as const }], required_network_types: ['public'] };
    const deployment = aDeployment(spec, {}, { public_service_type: 'LoadBalancer' });
    const client = clientOf(server);
    const look = () => reconcile(client, running(deployment.manifest()), deployment.fence());
    const condition = { type: 'LoadBalancerReady', status: 'False', reason: 'NoAddress' };
    expect(await look()).toMatchObject({
      phase: 'running',
      conditions: [{ ...condition, message: 'The load balancer has no address yet.' }],
    });
    const service = server.object('services', deployment.name);
    server.warn(service, 'no address is free');
    const message = 'The load balancer has no address yet. The cluster reported: no address is free';
    expect(await look()).toMatchObject({ conditions: [{ ...condition, message }] });
    server.put('services', {
      ...server.object('services', deployment.name),
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } },
    });
    expect(await look()).toMatchObject({ conditions: [] });
  });

  test('names the node that is down', async () => {
    const server = await anApiServer();
    const down = (status: string) => ({
      metadata: { name: 'worker-1' },
      status: { conditions: [{ type: 'Ready', status, message: 'Kubelet stopped posting node status.' }] },
    });
    server.put('nodes', down('Unknown'));
    const deployment = aDeployment();
    const client = clientOf(server);
    const look = () => reconcile(client, running(deployment.manifest()), deployment.fence());
    await look();
    server.setPodStatus(podStatuses.unresponsive);
    const why =
      'The node worker-1 is down: Kubelet stopped posting node status. Start it, or delete it from the cluster, so that its pods are replaced.';
    expect((await look()).message).toMatch(new RegExp(`0 of 1 up\\. ${why}$`));
    // Its pod is to be deleted, and cannot run elsewhere.
    server.controls.delaysPodDeletion = true;
    server.controls.podStatus = podStatuses.unschedulable('0/1 nodes are available: 1 node(s) were unreachable.');
    const [pod] = server.objects('pods');
    const past = moment(Date.now() - 5000);
    server.put('pods', leaving(pod, past));
    const evicted = await look();
    expect(evicted).toMatchObject({ reason: 'Unschedulable' });
    expect(evicted.message).toMatch(new RegExp(` ${why}$`));
    server.forbidden.add('list nodes');
    expect((await look()).message).not.toContain(why);
  });

  test('has the last events of pods that do not run, without values of secrets', async () => {
    const server = await anApiServer();
    server.controls.podStatus = podStatuses.unschedulable('0/1 nodes are available.');
    const deployment = aDeployment({}, { env: [{ name: 'PASSWORD', value: 'c4n4ry-password' }] });
    const client = clientOf(server);
    const look = () => reconcile(client, running(deployment.manifest()), deployment.fence());
    await look();
    for (const pod of server.objects('pods')) {
      for (let minute = 1; minute <= 7; minute += 1) {
        const lastTimestamp = `2026-01-01T00:0${minute}:00Z`;
        server.warn(pod, `attempt ${minute} with c4n4ry-password`, { reason: 'FailedScheduling', lastTimestamp });
      }
    }
    const { instances } = await look();
    expect(instances[0]?.events).toHaveLength(5);
    expect(instances[0]?.events?.[0]).toEqual({
      at: '2026-01-01T00:07:00.000Z',
      type: 'Warning',
      reason: 'FailedScheduling',
      message: 'attempt 7 with •••',
    });
    server.setPodStatus(podStatuses.running());
    const count = server.requests.length;
    expect((await look()).instances).toMatchObject([{ phase: 'running', events: [] }]);
    expect(server.requests.slice(count).filter(({ path }) => path.endsWith('/events'))).toEqual([]);
  });
});

function leaving(pod: Stored | undefined, deletionTimestamp: string): Stored {
  if (!pod) throw new Error('there is no pod');
  return { ...pod, metadata: { ...pod.metadata, deletionTimestamp, finalizers: ['kubelet'] } };
}
