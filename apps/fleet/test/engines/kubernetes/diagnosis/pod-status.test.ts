import { afterEach, describe, expect, test } from '@jest/globals';
import { HEALTH_CHECK } from '@svc/contract';
import { reconcile } from '../../../../src/engines/kubernetes/reconcile.ts';
import type { Observation } from '../../../../src/engines/observation.ts';
import type { PodStatusOf } from '../api-server/controller/pod-status.ts';
import * as podStatuses from '../api-server/controller/pod-status.ts';
import { moment } from '../api-server/objects.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from '../world.ts';

afterEach(endAll);

/** The observation of a deployment whose pods all have the status. */
async function observed(podStatus: PodStatusOf, ...given: Parameters<typeof aDeployment>): Promise<Observation> {
  const server = await anApiServer();
  server.controls.podStatus = podStatus;
  const deployment = aDeployment(...given);
  return reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
}

const BACK_OFF = 'Back-off pulling image "docker.io/team/app:latest"';
const OOM = { exitCode: 137, reason: 'OOMKilled' };

describe('a deployment whose pods do not become ready', () => {
  test.each<[string, PodStatusOf, Partial<Observation>, RegExp]>([
    [
      'reports ImageNotFound if the registry does not have the image',
      podStatuses.waiting(
        'ErrImagePull',
        'failed to resolve reference "docker.io/team/app:latest": docker.io/team/app:latest: not found',
      ),
      { phase: 'retrying', reason: 'ImageNotFound', next: 'retry' },
      /is waiting for its image, which does not exist in its registry, .*: not found\. 0 of 1 up\.$/,
    ],
    [
      'reports ImageNotFound during the backoff of the pull',
      podStatuses.waiting(
        'ImagePullBackOff',
        `${BACK_OFF}: ErrImagePull: rpc error: code = NotFound desc = manifest unknown`,
      ),
      { phase: 'retrying', reason: 'ImageNotFound' },
      /manifest unknown/,
    ],
    [
      'reports AuthFailed if the registry rejects the credentials',
      podStatuses.waiting('ErrImagePull', 'pull access denied: unauthorized: authentication required'),
      { phase: 'retrying', reason: 'AuthFailed' },
      /requires valid credentials for its registry/,
    ],
    [
      'reports ImagePullFailed if the pull fails for another reason',
      podStatuses.waiting('ErrImagePull', 'dial tcp: lookup registry.example.com: i/o timeout'),
      { phase: 'retrying', reason: 'ImagePullFailed', next: 'retry' },
      /could not be pulled: the registry did not respond in time\. .* The cluster reported: dial tcp: .* i\/o timeout/,
    ],
    [
      'reports InvalidSpec for an invalid image name',
      podStatuses.waiting('InvalidImageName', 'couldn\'t parse image name "A:B:C"'),
      { phase: 'failed', reason: 'InvalidSpec', next: 'settled' },
      /cannot be started as configured: couldn't parse image name/,
    ],
    [
      'reports CrashLoop if its container exits repeatedly',
      podStatuses.crashing({ exitCode: 3, restarts: 4 }),
      { phase: 'degraded', reason: 'CrashLoop', next: 'retry' },
      /is restarting \(exit code 3\)\. 0 of 1 up\.$/,
    ],
    [
      'reports Exited if its container exits with 0',
      podStatuses.crashing({ exitCode: 0, restarts: 4 }),
      { phase: 'degraded', reason: 'Exited', next: 'retry' },
      /is restarting \(exit code 0\)\. 0 of 1 up\.$/,
    ],
    [
      'reports CrashLoop if its container has just been restarted',
      podStatuses.restarted({ exitCode: 3 }),
      { phase: 'degraded', reason: 'CrashLoop', next: 'retry' },
      /was restarted \(exit code 3\)/,
    ],
    [
      'reports InvalidSpec if the program does not exist in the image',
      podStatuses.crashing({
        exitCode: 128,
        reason: 'StartError',
        message: 'exec: "nope": executable file not found in $PATH',
      }),
      { phase: 'failed', reason: 'InvalidSpec', next: 'settled' },
      /cannot be started as configured: exec: "nope": executable file not found/,
    ],
    [
      'reports InvalidSpec if a key of a secret is missing',
      podStatuses.waiting('CreateContainerConfigError', "couldn't find key PASSWORD in Secret fleet/web"),
      { phase: 'retrying', reason: 'InvalidSpec', next: 'retry' },
      /couldn't find key PASSWORD/,
    ],
    [
      'reports Unschedulable with the message of the scheduler',
      podStatuses.unschedulable('0/3 nodes are available: 3 Insufficient nvidia.com/gpu.'),
      { phase: 'retrying', reason: 'Unschedulable', next: 'retry' },
      /cannot be scheduled: 0\/3 nodes are available: 3 Insufficient nvidia\.com\/gpu\./,
    ],
    [
      'is starting while its containers are created',
      podStatuses.creating,
      { phase: 'starting', reason: null, next: 'soon' },
      /^0 of 1 up\.$/,
    ],
    [
      'is starting until its health check passes',
      podStatuses.notReady(65_000),
      { phase: 'starting', reason: null, next: 'soon' },
      /^0 of 1 up\.$/,
    ],
    [
      'is degraded if it was ready before',
      podStatuses.notReady(10_000),
      { phase: 'degraded', reason: null, next: 'settled' },
      /is running, but not ready\. 0 of 1 up\.$/,
    ],
    [
      'names the node that no longer reports its state',
      podStatuses.unresponsive,
      { phase: 'degraded', reason: null, next: 'settled' },
      /^web-\S+ is on the node worker-1, which does not report that it is ready\. 0 of 1 up\.$/,
    ],
    [
      'is starting when its container has just started',
      podStatuses.running(0),
      { phase: 'starting', reason: null, next: 'soon' },
      /^0 of 1 up\.$/,
    ],
  ])('%s', async (_title, podStatus, expected, message) => {
    const found = await observed(podStatus);
    expect(found).toMatchObject(expected);
    expect(found.message).toMatch(message);
    expect(found.endpoints).toEqual([]);
  });

  test('has a failing health check only if it has a health check', async () => {
    const checked = await observed(
      podStatuses.notReady(10_000),
      {},
      { env: [{ name: HEALTH_CHECK, value: 'tcp:80' }] },
    );
    expect(checked.message).toMatch(/ is running, but its health check fails\. 0 of 1 up\.$/);
    const unchecked = await observed(podStatuses.notReady(10_000));
    expect(unchecked.message).toMatch(/ is running, but not ready\. 0 of 1 up\.$/);
  });

  test('reports OOMKilled with the memory limit', async () => {
    const found = await observed(podStatuses.crashing(OOM), { memory_request: '64Mi' });
    expect(found).toMatchObject({ phase: 'degraded', reason: 'OOMKilled', next: 'retry' });
    expect(found.message).toMatch('it was killed because it exceeded its memory limit of 64 MiB');
    expect(found.instances).toMatchObject([{ phase: 'crashed', restarts: 1 }]);
  });

  test('states the last failure of its process and when the kubelet starts it again', async () => {
    const { processes } = await observed(podStatuses.crashing({ exitCode: 3, restarts: 4 }));
    const inMs = expect.any(Number);
    const expected = { restarts: 4, failure: { exitCode: 3, reason: 'CrashLoop' }, restart: { by: 'engine', inMs } };
    expect(processes).toMatchObject([expected]);
    const [{ restart } = { restart: undefined }] = processes ?? [];
    const within = restart?.by === 'engine' && restart.inMs !== undefined && restart.inMs <= 10_000;
    expect(within).toBe(true);
  });

  test('has no failure of its process after its health check has passed, and otherwise until it is stable', async () => {
    const restarted = podStatuses.restarted({ exitCode: 3 });
    const unchecked = await observed(restarted);
    expect(unchecked.processes).toMatchObject([{ restarts: 1, failure: { exitCode: 3 } }]);
    expect(unchecked.processes?.[0]?.stableInMs).toBeGreaterThan(0);
    const checked = await observed(restarted, {}, { env: [{ name: HEALTH_CHECK, value: 'tcp:80' }] });
    expect(checked.processes).toEqual([expect.objectContaining({ restarts: 1, stableInMs: 0 })]);
    expect(checked.processes?.[0]).not.toHaveProperty('failure');
  });

  test('reads events without lastTimestamp, whose eventTime is a text with microseconds', async () => {
    const server = await anApiServer();
    server.controls.podStatus = podStatuses.waiting('ImagePullBackOff', BACK_OFF);
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    for (const pod of server.objects('pods')) {
      const latest = { lastTimestamp: null, eventTime: '2026-11-25T08:00:00.123456Z' };
      server.warn(pod, 'Failed to pull image "team/app": docker.io/team/app:latest: not found', latest);
      server.warn(pod, BACK_OFF, { lastTimestamp: null, eventTime: null });
    }
    expect(await reconcile(client, running(deployment.manifest()), deployment.fence())).toMatchObject({
      reason: 'ImageNotFound',
    });
  });

  test('reads the reason of a failed pull from events if the pod does not state it', async () => {
    const server = await anApiServer();
    server.controls.podStatus = podStatuses.waiting('ImagePullBackOff', BACK_OFF);
    const deployment = aDeployment();
    const client = clientOf(server);
    expect(await reconcile(client, running(deployment.manifest()), deployment.fence())).toMatchObject({
      reason: 'ImagePullFailed',
    });
    for (const pod of server.objects('pods')) {
      server.warn(pod, BACK_OFF, { lastTimestamp: moment(0) });
      server.warn(pod, 'Failed to pull image "team/app": docker.io/team/app:latest: not found');
    }
    expect(await reconcile(client, running(deployment.manifest()), deployment.fence())).toMatchObject({
      reason: 'ImageNotFound',
    });
    server.forbidden.add('list events');
    expect(await reconcile(client, running(deployment.manifest()), deployment.fence())).toMatchObject({
      reason: 'ImagePullFailed',
    });
  });

  test('reports the warning of the node for a container that is being created', async () => {
    const server = await anApiServer();
    server.controls.podStatus = podStatuses.creating;
    const deployment = aDeployment();
    const client = clientOf(server, {}, { settled: 0 });
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    const [pod] = server.objects('pods');
    if (pod) server.put('pods', { ...pod, metadata: { ...pod.metadata, creationTimestamp: moment(0) } });
    if (pod) server.warn(pod, 'MountVolume.SetUp failed for volume "data"');
    const found = await reconcile(client, running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'starting', reason: null });
    expect(found.instances[0]?.message).toBe('is starting: MountVolume.SetUp failed for volume "data"');
    expect(found.message).toMatch(
      /^web-\S+ is starting: MountVolume\.SetUp failed for volume "data"\. If this lasts, correct it\. 0 of 1 up\.$/,
    );
  });

  test('states that the scheduler has not assigned a pod to a node', async () => {
    const server = await anApiServer();
    server.controls.podStatus = podStatuses.creating;
    const deployment = aDeployment();
    const client = clientOf(server, {}, { settled: 0 });
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    for (const { spec, ...pod } of server.objects('pods')) {
      const { nodeName: _, ...unassigned } = spec ?? {};
      const metadata = { ...pod.metadata, creationTimestamp: moment(0) };
      server.put('pods', { ...pod, metadata, spec: unassigned, status: { phase: 'Pending' } });
    }
    const found = await reconcile(client, running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'starting', reason: null });
    expect(found.message).toMatch(/ has not assigned it to a node\. Check that the scheduler runs\. .*0 of 1 up\.$/);
  });

  test('reports why the cluster rejects its pods', async () => {
    const server = await anApiServer();
    server.controls.refusesPods = 'pods "web-1" is forbidden: exceeded quota: compute, used: cpu=4, limited: cpu=4';
    const deployment = aDeployment();
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'retrying', reason: 'Unschedulable', next: 'retry' });
    expect(found.message).toMatch('The cluster rejects its pods: pods "web-1" is forbidden: exceeded quota');
  });

  test('has failed after its progress deadline, until it is changed', async () => {
    const server = await anApiServer();
    server.controls.podStatus = podStatuses.creating;
    const own = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(own.manifest()), own.fence());
    const { status, ...deployment } = server.object('deployments', own.name);
    const late = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    server.put('deployments', { ...deployment, status: { ...status, conditions: late } });
    const found = await reconcile(client, running(own.manifest()), own.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'DeadlineExceeded', next: 'settled' });
    server.setPodStatus(podStatuses.running());
    const next = running(own.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' }));
    expect(await reconcile(client, next, own.fence(8))).toMatchObject({ phase: 'running', reason: null });
  });

  test('is checked less often when it makes no progress', async () => {
    const server = await anApiServer();
    server.controls.podStatus = podStatuses.creating;
    const deployment = aDeployment();
    expect(await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence())).toMatchObject({
      phase: 'starting',
      next: 'soon',
    });
    const patient = clientOf(server, {}, { overdue: -5000 });
    expect(await reconcile(patient, running(deployment.manifest()), deployment.fence())).toMatchObject({
      phase: 'starting',
      next: 'settled',
    });
  });
});
