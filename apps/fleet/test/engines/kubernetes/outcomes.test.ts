import { afterEach, describe, expect, test } from '@jest/globals';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import type { Observation } from '../../../src/engines/observation.ts';
import type { Fate } from './api-server/fates.ts';
import * as fates from './api-server/fates.ts';
import { moment } from './api-server/objects.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

/** What a deployment is observed as, whose pods all have one fate. */
async function observed(fate: Fate, spec: Parameters<typeof aDeployment>[0] = {}): Promise<Observation> {
  const server = await anApiServer();
  server.hands.fate = fate;
  const it = aDeployment(spec);
  return pass(clientOf(server), running(it.manifest()), it.fence());
}

const BACK_OFF = 'Back-off pulling image "docker.io/team/app:latest"';
const OOM = { exitCode: 137, reason: 'OOMKilled' };

describe('a deployment whose pods do not come up', () => {
  test.each<[string, Fate, Partial<Observation>, RegExp]>([
    [
      'has no image where its registry has none',
      fates.waiting(
        'ErrImagePull',
        'failed to resolve reference "docker.io/team/app:latest": docker.io/team/app:latest: not found',
      ),
      { phase: 'retrying', reason: 'ImageNotFound', next: 'retry' },
      /waits for its image, which is not in its registry, .*: not found\. 0 of 1 up\.$/,
    ],
    [
      'has no image where the next try is waited for',
      fates.waiting(
        'ImagePullBackOff',
        `${BACK_OFF}: ErrImagePull: rpc error: code = NotFound desc = manifest unknown`,
      ),
      { phase: 'retrying', reason: 'ImageNotFound' },
      /manifest unknown/,
    ],
    [
      'is not let to its image',
      fates.waiting('ErrImagePull', 'pull access denied: unauthorized: authentication required'),
      { phase: 'retrying', reason: 'AuthFailed' },
      /is not given out by its registry to whoever asks/,
    ],
    [
      'can’t get its image for another reason',
      fates.waiting('ErrImagePull', 'dial tcp: lookup registry.example.com: i/o timeout'),
      { phase: 'retrying', reason: 'ImagePullFailed', next: 'retry' },
      /could not be pulled: dial tcp: .* i\/o timeout/,
    ],
    [
      'names an image as none can be named',
      fates.waiting('InvalidImageName', 'couldn\'t parse image name "A:B:C"'),
      { phase: 'failed', reason: 'InvalidSpec', next: 'settled' },
      /can't be started as it is: couldn't parse image name/,
    ],
    [
      'crashes',
      fates.crashing({ exitCode: 3, restarts: 4 }),
      { phase: 'retrying', reason: 'CrashLoop', next: 'retry' },
      /is being started again \(exit code 3\)\. 0 of 1 up\.$/,
    ],
    [
      'has crashed, and is up again for a moment',
      fates.restarted({ exitCode: 3 }),
      { phase: 'retrying', reason: 'CrashLoop', next: 'retry' },
      /was started again \(exit code 3\)/,
    ],
    [
      'has no program of the name that it is to run',
      fates.crashing({
        exitCode: 128,
        reason: 'StartError',
        message: 'exec: "nope": executable file not found in $PATH',
      }),
      { phase: 'failed', reason: 'InvalidSpec', next: 'settled' },
      /can't be started as it is: exec: "nope": executable file not found/,
    ],
    [
      'lacks a key of a secret',
      fates.waiting('CreateContainerConfigError', "couldn't find key PASSWORD in Secret fleet/web"),
      { phase: 'retrying', reason: 'InvalidSpec', next: 'retry' },
      /couldn't find key PASSWORD/,
    ],
    [
      'finds no place, in the words of the scheduler',
      fates.unschedulable('0/3 nodes are available: 3 Insufficient nvidia.com/gpu.'),
      { phase: 'retrying', reason: 'Unschedulable', next: 'retry' },
      /finds no place to run: 0\/3 nodes are available: 3 Insufficient nvidia\.com\/gpu\./,
    ],
    ['is on its way', fates.creating, { phase: 'starting', reason: null, next: 'soon' }, /^0 of 1 up\.$/],
    ['was started just now', fates.running(0), { phase: 'starting', reason: null, next: 'soon' }, /^0 of 1 up\.$/],
  ])('%s', async (_title, fate, expected, message) => {
    const found = await observed(fate);
    expect(found).toMatchObject(expected);
    expect(found.message).toMatch(message);
    expect(found.endpoints).toEqual([]);
  });

  test('is killed for its memory, and told how much that was', async () => {
    const found = await observed(fates.crashing(OOM), { memory_request: '64Mi' });
    expect(found).toMatchObject({ phase: 'retrying', reason: 'OOMKilled', next: 'retry' });
    expect(found.message).toMatch('it was killed, as it needed more than its 64 MiB of memory');
    expect(found.instances).toMatchObject([{ phase: 'crashed', restarts: 1 }]);
  });

  test('tells from the events what an old cluster does not say of a pod', async () => {
    const server = await anApiServer();
    server.hands.fate = fates.waiting('ImagePullBackOff', BACK_OFF);
    const it = aDeployment();
    const client = clientOf(server);
    expect(await pass(client, running(it.manifest()), it.fence())).toMatchObject({ reason: 'ImagePullFailed' });
    for (const pod of server.objects('pods')) {
      server.warn(pod, BACK_OFF, { lastTimestamp: moment(0) });
      server.warn(pod, 'Failed to pull image "team/app": docker.io/team/app:latest: not found');
    }
    expect(await pass(client, running(it.manifest()), it.fence())).toMatchObject({ reason: 'ImageNotFound' });
    server.forbidden.add('list events');
    expect(await pass(client, running(it.manifest()), it.fence())).toMatchObject({ reason: 'ImagePullFailed' });
  });

  test('tells what its node waits for', async () => {
    const server = await anApiServer();
    server.hands.fate = fates.creating;
    const it = aDeployment();
    const client = clientOf(server, {}, { settled: 0 });
    await pass(client, running(it.manifest()), it.fence());
    const [pod] = server.objects('pods');
    if (pod) server.put('pods', { ...pod, metadata: { ...pod.metadata, creationTimestamp: moment(0) } });
    if (pod) server.warn(pod, 'MountVolume.SetUp failed for volume "data"');
    const found = await pass(client, running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'starting', reason: null });
    expect(found.instances[0]?.message).toBe('is being started: MountVolume.SetUp failed for volume "data"');
  });

  test('is told why its pods can’t be made', async () => {
    const server = await anApiServer();
    server.hands.refusesPods = 'pods "web-1" is forbidden: exceeded quota: compute, used: cpu=4, limited: cpu=4';
    const it = aDeployment();
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'retrying', reason: 'Unschedulable', next: 'retry' });
    expect(found.message).toMatch(
      'Its cluster does not let its pods be made: pods "web-1" is forbidden: exceeded quota',
    );
  });

  test('is given up on after the time that it was given, until it is changed', async () => {
    const server = await anApiServer();
    server.hands.fate = fates.creating;
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    const { status, ...deployment } = server.object('deployments', it.name);
    const late = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    server.put('deployments', { ...deployment, status: { ...status, conditions: late } });
    const found = await pass(client, running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'DeadlineExceeded', next: 'settled' });
    server.become(fates.running());
    const next = running(it.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' }));
    expect(await pass(client, next, it.fence(8))).toMatchObject({ phase: 'running', reason: null });
  });

  test('is looked at less often when nothing moves any more', async () => {
    const server = await anApiServer();
    server.hands.fate = fates.creating;
    const it = aDeployment();
    expect(await pass(clientOf(server), running(it.manifest()), it.fence())).toMatchObject({
      phase: 'starting',
      next: 'soon',
    });
    const patient = clientOf(server, {}, { overdue: -5000 });
    expect(await pass(patient, running(it.manifest()), it.fence())).toMatchObject({
      phase: 'starting',
      next: 'settled',
    });
  });
});
