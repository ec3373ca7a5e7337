// Situations of programs, their images, and jobs.
import { expect } from '@jest/globals';
import { eventually } from '@svc/testing';
import type { Outcome } from './outcome.ts';
import { aProgram, checkedBy, type Place, type Shown, WAIT } from './places.ts';
import { type Situation, situation } from './situation.ts';

const PRIVATE = { registry_url: '10.210.0.1:5001', image_name: 'private/busybox', image_tag: '1' };
/** Also if the node has the image. */
const PULLED = { pull: 'always' };
const LOGIN = { username: 'puller', password: 'password-of-the-test-registry' };

/** Deploys a program, and waits for what it becomes. */
async function becomes(
  place: Place,
  spec: object,
  phase: string,
  reason: string | null = null,
  given: object = {},
): Promise<string> {
  const id = await place.deploy({ ...spec }, { ...given });
  await place.is(id, phase, reason);
  return id;
}

/** Corrects the workload, and waits until it runs. */
export async function corrected(place: Place, given: string | Shown, spec: object = aProgram()): Promise<Outcome> {
  const id = typeof given === 'string' ? given : given.id;
  const before = await place.outcome(given);
  await place.revise(id, { ...spec });
  await place.is(id, 'running');
  return { ...before, after: 'running with a corrected workload' };
}

export const programs: readonly Situation[] = [
  situation(
    'a program with a secret',
    'deploy; the program compares the variable with the expected value',
    { phase: 'running' },
    async ({ aPlace, fleet, aName }) => {
      const place = await aPlace();
      const secret = aName();
      await fleet.good(fleet.api.post('/api/v1/secrets', { name: secret, values: { PASSWORD: 'geheim-und-lang' } }));
      const script =
        '[ "$PASSWORD" = geheim-und-lang ] && echo equal; trap "exit 0" TERM; while true; do sleep 1; done';
      const id = await becomes(
        place,
        aProgram(script, { secret_refs: [{ name: secret, env: 'PASSWORD' }] }),
        'running',
      );
      expect(await place.log(id)).toBe('equal\n');
      return place.outcome(id);
    },
  ),
  situation(
    'a volume with data',
    'write a file, restart the deployment, read the file',
    { phase: 'running' },
    async ({ aPlace }) => {
      const place = await aPlace();
      const script =
        'cat /data/count 2>/dev/null; echo run >> /data/count; trap "exit 0" TERM; while true; do sleep 1; done';
      const mounts = { volume_mounts: [{ name: 'data', mountPath: '/data' }] };
      const id = await becomes(place, aProgram(script, mounts), 'running');
      expect(await place.log(id)).toBe('');
      await place.change(id, { env: {} });
      await place.revise(id, { stop_grace_seconds: 5 });
      await place.is(id, 'running');
      expect(await place.log(id)).toBe('run\n');
      return place.outcome(id);
    },
  ),
  situation(
    'an image that does not exist',
    'deploy library/there-is-no-such-image',
    { phase: 'retrying', reason: 'ImageNotFound', remedy: /Correct the name or the tag/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      const spec = aProgram(undefined, { image_name: 'library/there-is-no-such-image' });
      return corrected(place, await becomes(place, spec, 'retrying', 'ImageNotFound'));
    },
  ),
  situation(
    'a wrong tag in an update',
    'update a running deployment to a tag that does not exist; the earlier pod keeps running',
    { phase: 'degraded', reason: 'ImageNotFound', remedy: /Correct the name or the tag/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      const id = await becomes(place, aProgram(), 'running');
      await place.revise(id, { image_tag: '0.0.0' });
      await place.is(id, 'degraded', 'ImageNotFound');
      expect((await place.shown(id)).instances.map(({ phase }) => phase)).toContain('running');
      return corrected(place, id);
    },
  ),
  situation(
    'a private image without credentials',
    'deploy an image of a registry with a password',
    { phase: 'retrying', reason: 'AuthFailed', remedy: /give the workload a valid pull secret/ },
    async ({ aPlace, fleet, aName }) => {
      const place = await aPlace();
      const id = await becomes(place, aProgram(undefined, PRIVATE), 'retrying', 'AuthFailed', PULLED);
      const secret = { name: aName(), kind: 'registry', server: PRIVATE.registry_url, values: LOGIN };
      await fleet.good(fleet.api.post('/api/v1/secrets', secret));
      return corrected(place, id, { registry_credentials: secret.name });
    },
  ),
  situation(
    'a pull secret of the cluster that does not exist',
    'deploy a private image on a cluster with pull_secrets: [absent]; then create the Secret',
    { phase: 'retrying', reason: 'AuthFailed', remedy: /give the workload a valid pull secret/ },
    async ({ aPlace, kube }) => {
      const place = await aPlace({ cluster: { pull_secrets: ['absent'] } });
      const id = await becomes(place, aProgram(undefined, PRIVATE), 'retrying', 'AuthFailed', PULLED);
      const outcome = await place.outcome(id);
      const auths = { auths: { [PRIVATE.registry_url]: LOGIN } };
      await kube('POST', place.core('secrets'), {
        metadata: { name: 'absent' },
        type: 'kubernetes.io/dockerconfigjson',
        stringData: { '.dockerconfigjson': JSON.stringify(auths) },
      });
      await place.is(id, 'running');
      return { ...outcome, after: 'running after the Secret was created' };
    },
  ),
  situation(
    'a crash',
    'deploy a program that exits with 3',
    { phase: 'degraded', reason: 'CrashLoop', says: /exit code 3/, remedy: /Read the log/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      return corrected(place, await becomes(place, aProgram('exit 3'), 'degraded', 'CrashLoop'));
    },
  ),
  situation(
    'a service that ends',
    'deploy a service whose program exits with 0',
    { phase: 'degraded', reason: 'Exited', remedy: /let the workload be a job/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      return corrected(place, await becomes(place, aProgram('exit 0'), 'degraded', 'Exited'));
    },
  ),
  situation(
    'a program that does not exist',
    'deploy with the command /no/such/program',
    { phase: 'failed', reason: 'InvalidSpec', says: /no such file/, remedy: /Correct the workload/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram(undefined, { command: ['/no/such/program'] }));
      return corrected(place, await place.is(id, 'failed', 'InvalidSpec'));
    },
  ),
  situation(
    'a program that needs too much memory',
    'deploy a program that allocates more than its limit of 16Mi',
    { phase: 'degraded', reason: 'OOMKilled', says: /its memory limit of 16 MiB/, remedy: /more memory/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      return corrected(place, await becomes(place, aProgram('exec tail /dev/zero'), 'degraded', 'OOMKilled'));
    },
  ),
  situation(
    'a health check that never passes',
    'deploy with SVC_HEALTH_CHECK exec:false',
    { phase: 'starting', says: /is starting: Readiness probe failed/, remedy: /If this lasts, correct it/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram(undefined, checkedBy('exec:echo not yet; false')));
      const explains = ({ message }: Shown) => /Readiness probe failed/.test(message);
      return corrected(place, await place.until(id, 'explains what it waits for', explains), checkedBy('exec:true'));
    },
  ),
  situation(
    'a health check that fails later',
    'remove the file that the health check reads',
    { phase: 'degraded', says: /its health check fails/, remedy: /check its nodes and its health check/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      const script = 'touch /tmp/ok; trap "exit 0" TERM; sleep 25; rm /tmp/ok; while true; do sleep 1; done';
      const id = await becomes(place, aProgram(script, checkedBy('exec:test -e /tmp/ok')), 'running');
      await place.is(id, 'degraded');
      return corrected(place, id, checkedBy('exec:true'));
    },
  ),
  situation(
    'a liveness probe that fails',
    'restart_unhealthy: the kubelet starts the container again, which then stays healthy',
    { phase: 'running' },
    async ({ aPlace }) => {
      const place = await aPlace();
      const script =
        'touch /tmp/ok; trap "exit 0" TERM; [ -e /data/first ] || { touch /data/first; sleep 15 & wait $!; rm /tmp/ok; }; while true; do sleep 1; done';
      const volume = { volume_mounts: [{ name: 'data', mountPath: '/data' }] };
      const id = await place.deploy(
        aProgram(script, { ...checkedBy('exec:test -e /tmp/ok'), ...volume, restart_unhealthy: true }),
      );
      await place.until(id, 'was started again', ({ instances }) => (instances[0]?.restarts ?? 0) > 0);
      return place.outcome(await place.is(id, 'running'));
    },
  ),
  situation(
    'a start period that is long enough',
    'start_period_seconds 120 for a program that needs 15 s',
    { phase: 'running' },
    async ({ aPlace }) => {
      const place = await aPlace();
      const script = 'sleep 15; touch /tmp/ok; trap "exit 0" TERM; while true; do sleep 1; done';
      const spec = aProgram(script, { ...checkedBy('exec:test -e /tmp/ok'), start_period_seconds: 120 });
      const id = await becomes(place, spec, 'running');
      expect((await place.shown(id)).instances[0]?.restarts).toBe(0);
      return place.outcome(id);
    },
  ),
  situation(
    'a start period that is too short',
    'start_period_seconds 10 for a program that is never ready',
    { phase: 'degraded', reason: 'Exited', remedy: /read the log/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      const id = await place.deploy(aProgram(undefined, { ...checkedBy('exec:false'), start_period_seconds: 10 }));
      const shown = await place.until(id, 'was started again', ({ reason }) => reason === 'Exited');
      return corrected(place, shown, { ...aProgram(), ...checkedBy('exec:true') });
    },
  ),
  situation(
    'a job that succeeds',
    'deploy a job that exits with 0',
    { phase: 'stopped', reason: 'Completed' },
    async ({ aPlace }) => {
      const place = await aPlace();
      const id = await becomes(place, aProgram('echo done', { kind: 'job' }), 'stopped', 'Completed');
      expect(await place.log(id)).toBe('done\n');
      return place.outcome(id);
    },
  ),
  situation(
    'a job that fails',
    'deploy a job that exits with 4',
    { phase: 'failed', reason: 'JobFailed', says: /exit code 4/, remedy: /Read the log/ },
    async ({ aPlace }) => {
      const place = await aPlace();
      const id = await becomes(place, aProgram('exit 4', { kind: 'job' }), 'failed', 'JobFailed');
      const outcome = await place.outcome(id);
      await place.revise(id, aProgram('exit 0', { kind: 'job' }));
      await place.is(id, 'stopped', 'Completed');
      return { ...outcome, after: 'completed with a corrected workload' };
    },
  ),
  situation(
    'a job beside an injected sidecar',
    'a webhook adds a container that does not end',
    { phase: 'stopped', reason: 'Completed', says: /still runs the container injected-proxy/ },
    async ({ aPlace }) => {
      const place = await aPlace({ labels: { 'cluster.test/mutate': 'sidecar' } });
      const id = await becomes(place, aProgram('sleep 3; echo done', { kind: 'job' }), 'stopped', 'Completed');
      return place.outcome(id);
    },
  ),
  situation(
    'a service with an injected sidecar',
    'a webhook adds a container; read the log of each container',
    { phase: 'running' },
    async ({ aPlace }) => {
      const place = await aPlace({ labels: { 'cluster.test/mutate': 'sidecar' } });
      const id = await becomes(place, aProgram(), 'running');
      const [instance] = (await place.shown(id)).instances;
      expect(instance?.containers.map(({ name }) => name)).toEqual(['main', 'injected-proxy']);
      expect(await place.log(id)).toBe('ready\n');
      await eventually('the sidecar has a log', () => place.log(id, '?container=injected-proxy'), {
        ...WAIT,
        until: (log) => log === 'proxy is ready\n',
      });
      return place.outcome(id);
    },
  ),
  situation('a pod that is deleted by hand', 'kubectl delete pod', { phase: 'running' }, async ({ aPlace, kube }) => {
    const place = await aPlace();
    const id = await becomes(place, aProgram(), 'running');
    const [pod] = await place.objects(id, place.core('pods'));
    await kube('DELETE', place.core(`pods/${pod.metadata.name}`));
    await place.until(
      id,
      'has another pod',
      ({ instances, phase }) => phase === 'running' && instances.every(({ name }) => name !== pod.metadata.name),
    );
    return place.outcome(id);
  }),
  situation(
    'a Deployment that is deleted by hand',
    'kubectl delete deployment',
    { phase: 'running' },
    async ({ aPlace, kube }) => {
      const place = await aPlace();
      const id = await becomes(place, aProgram(), 'running');
      const [before] = await place.objects(id, place.apps('deployments'));
      await kube('DELETE', place.apps(`deployments/${before.metadata.name}`));
      await eventually(
        'it is created again, and available',
        async () => {
          const [now] = await place.objects(id, place.apps('deployments'));
          return now?.status?.availableReplicas === 1 && now.metadata.uid !== before.metadata.uid;
        },
        WAIT,
      );
      await place.is(id, 'running');
      return place.outcome(id);
    },
  ),
  situation(
    'a container that exceeds its ephemeral storage',
    'a LimitRange limits ephemeral-storage to 8Mi; the program writes 64 MB',
    { phase: 'running' },
    async ({ aPlace, kube }) => {
      const place = await aPlace();
      const limit = { type: 'Container', default: { 'ephemeral-storage': '8Mi' } };
      await kube('POST', place.core('limitranges'), { metadata: { name: 'disk' }, spec: { limits: [limit] } });
      const script = 'dd if=/dev/zero of=/tmp/large bs=1M count=64; trap "exit 0" TERM; while true; do sleep 1; done';
      const id = await place.deploy(aProgram(script));
      const isEvicted = ({ instances }: { instances: readonly { message: string }[] }) =>
        instances.some(({ message }) => /ephemeral local storage usage exceeds/.test(message));
      await place.until(id, 'reports the eviction', isEvicted);
      const { texts } = await place.outcome(id);
      expect(texts).toMatch(/was terminated by the cluster: Pod ephemeral local storage usage exceeds/);
      await place.revise(id, aProgram());
      await place.is(id, 'running');
      return { ...(await place.outcome(id)), texts, after: 'running with a corrected workload' };
    },
  ),
];
