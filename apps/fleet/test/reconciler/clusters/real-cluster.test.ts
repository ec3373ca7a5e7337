// Deployments on the cluster that FLEET_TEST_KUBECONFIG names (with a token), in a new namespace or
// in FLEET_TEST_NAMESPACE. FLEET_TEST_IMAGE is an image with a shell. Default:
// `library/busybox:1.37`.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { byDepth, eventually, LONG_TEST_MS } from '@svc/testing';
import { describeWithCluster } from '@svc/testing/cluster';
import { connectKubernetes, type KubernetesClient } from '../../../src/engines/kubernetes/client.ts';
import { listOwnedObjects } from '../../../src/engines/kubernetes/objects.ts';
import { DEFAULT_TIMINGS } from '../../../src/reconciler/timings.ts';
import { aTemplate } from '../../a-template.ts';
import { autoscale, kubectlScale, lastOf, type Written } from '../../engines/kubernetes/scaling/programs.ts';
import { startFakeHub } from '../../fake-hub.ts';
import { recordingClient } from '../canary-secrets.ts';
import { type ChaosProcesses, startChaosProcesses } from '../chaos/processes.ts';
import { type ClusterProxy, startClusterProxy } from './proxy.ts';

const [IMAGE = '', TAG = ''] = (process.env.FLEET_TEST_IMAGE ?? 'library/busybox:1.37').split(':');
/** The rounds of changes beside programs that scale. */
const ROUNDS = byDepth({ short: 3, full: 100, long: 100 });
const SLEEP = 'echo ready; trap "exit 0" TERM; while true; do sleep 1; done';

const spec = (script: string, given: object = {}) => ({
  image_name: IMAGE,
  image_tag: TAG,
  memory_request: '32Mi',
  command: ['/bin/sh', '-c', script],
  ...given,
});

describeWithCluster('the fleet on a real cluster', (cluster) => {
  const given = process.env.FLEET_TEST_NAMESPACE;
  const namespace = given ?? `fleet-test-${randomBytes(4).toString('hex')}`;
  let proxy: ClusterProxy;
  let processes: ChaosProcesses;
  let hub: Awaited<ReturnType<typeof startFakeHub>>;
  let replicas: ReturnType<typeof recordingClient>[];
  let client: KubernetesClient;
  let clusterId: string;
  let id: string;

  const by = (index: number) => {
    const replica = replicas[index];
    if (!replica) throw new Error(`there is no replica ${index}`);
    return replica;
  };
  const post = async (path: string, body: object = {}, replica = 0) => {
    const answer = await by(replica).request('POST', path, body);
    if (answer.status >= 300)
      throw new Error(`POST ${path} responded with ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const check = async (replica = 0) => (await post(`clusters/${clusterId}/check`, {}, replica)).cluster;
  const gone = (id: string) =>
    eventually(
      'the deployment is deleted',
      async () => (await by(0).request('GET', `deployments/${id}`)).status === 404,
    );
  /** The Deployment object in the cluster. */
  const itsDeployment = async (id: string) => {
    const { apps } = await client.apis();
    const { items } = await apps.listNamespacedDeployment({ namespace, labelSelector: `fleet/deployment=${id}` });
    return items[0];
  };

  beforeAll(async () => {
    const { server, ca_certificate, auth } = cluster();
    if (auth.kind !== 'token' || ca_certificate === null) throw new Error('the kubeconfig needs a token and a CA');
    client = connectKubernetes({ server, ca_certificate, auth, namespace, gpu_resource_name: 'nvidia.com/gpu' });
    proxy = await startClusterProxy({ url: server, ca: ca_certificate, token: auth.token });
    hub = await startFakeHub();
    const environment = { OUTBOUND_ALLOW: 'loopback', HUB_URL: hub.url, HUB_API_KEY: hub.key, HUB_SYNC_INTERVAL: '0' };
    processes = await startChaosProcesses({ environment, names: ['a', 'b'], timings: DEFAULT_TIMINGS });
    replicas = processes.urls().map((url) => recordingClient(url, processes.secret));
    const body = { name: 'lab', server: proxy.url, ca_certificate: proxy.ca, namespace, auth };
    clusterId = (await post('clusters', body)).cluster.id;
    const { reachability, message, conditions } = await check();
    expect({ reachability, message }).toEqual({ reachability: 'online', message: '' });
    // Older clusters do not have everything: such a condition is `Unknown`.
    expect(conditions.filter(({ status }: { status: string }) => status === 'False')).toEqual([]);
  });
  afterAll(async () => {
    await processes?.stop();
    await hub?.stop();
    await proxy?.stop();
    const { core } = await client.apis();
    if (given === undefined) await core.deleteNamespace({ name: namespace });
    await client.close();
  });

  test(
    'runs a template with a secret and a volume, and returns its log',
    async () => {
      await post('secrets', { name: 'pass', values: { PASSWORD: 'geheim' } });
      const plain = {
        env_schema: [],
        node_selector: {},
        required_network_types: [],
        tolerations: [],
        gpu_count: 0,
        registry_url: null,
      };
      const web = spec(SLEEP, {
        env: [{ name: 'GREETING', value: 'hello' }],
        secret_refs: [{ name: 'pass', env: 'PASSWORD' }],
        ports: [{ containerPort: 8080, protocol: 'TCP' }],
        volume_mounts: [{ name: 'data', mountPath: '/data' }],
      });
      hub.publish(aTemplate({ slug: 'web', registry_credentials: null, vram_request: '', ...plain, ...web }));
      await post('catalog/sync');
      id = (await post('deployments', { name: 'web', template: 'web' })).deployment.id;
      await by(1).is(id, 'running');
      const { endpoints } = await by(0).shown(id);
      expect(endpoints[0].address).toMatch(new RegExp(`^web-\\w+\\.${namespace}\\.svc:8080$`));
      const { status, body } = await by(0).request('GET', `deployments/${id}/logs`);
      expect({ status, body }).toEqual({ status: 200, body: 'ready\n' });
      expect((await by(0).request('GET', 'storage')).body.storage).toMatchObject([
        { name: 'web-data', phase: 'bound' },
      ]);
    },
    LONG_TEST_MS,
  );

  test(
    'updates, rolls back, stops and starts a deployment',
    async () => {
      const { uid } = (await itsDeployment(id))?.metadata ?? {};
      const { workload_id } = await by(0).shown(id);
      await post(`deployments/${id}/restart`);
      await by(0).is(id, 'running');
      await by(0).request('PUT', `workloads/${workload_id}`, { env: [{ name: 'GREETING', value: 'good day' }] });
      await by(0).request('PUT', `deployments/${id}`, { revision: 2 });
      await by(0).is(id, 'running');
      expect(JSON.stringify((await itsDeployment(id))?.spec)).toContain('good day');
      await post(`deployments/${id}/rollback`);
      await by(0).is(id, 'running');
      expect(JSON.stringify((await itsDeployment(id))?.spec)).toContain('"hello"');
      expect((await itsDeployment(id))?.metadata?.uid).toBe(uid);
      await post(`deployments/${id}/stop`);
      await by(0).is(id, 'stopped');
      expect(await itsDeployment(id)).toBeUndefined();
      await post(`deployments/${id}/start`);
      await by(0).is(id, 'running');
    },
    LONG_TEST_MS,
  );

  test(
    'reports a field of another manager, and overwrites it only with take_over',
    async () => {
      const owned = await by(0).deployed('owned', spec(SLEEP));
      await by(0).is(owned, 'running');
      const { metadata } = (await itsDeployment(owned)) ?? {};
      const { apps } = await client.apis();
      const head = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: metadata?.name } };
      const name = metadata?.name ?? '';
      const patch = { name, namespace, fieldManager: 'somebody', force: true };
      const body = { ...head, spec: { replicas: 3, progressDeadlineSeconds: 60 } };
      await apps.patchNamespacedDeployment({ ...patch, body });
      await post(`deployments/${owned}/restart`);
      await eventually('the conflict is reported', async () => (await by(0).shown(owned)).reason === 'FieldConflict');
      expect((await by(0).shown(owned)).message).toMatch(/\.spec\.progressDeadlineSeconds \(somebody\)/);
      expect((await itsDeployment(owned))?.spec).toMatchObject({ replicas: 3, progressDeadlineSeconds: 60 });
      await by(0).request('PUT', `deployments/${owned}`, { take_over: true });
      await by(0).is(owned, 'running');
      expect((await itsDeployment(owned))?.spec).toMatchObject({ replicas: 1, progressDeadlineSeconds: 1800 });
      await by(0).request('DELETE', `deployments/${owned}`);
      await gone(owned);
      expect(await listOwnedObjects(client, owned)).toEqual([]);
    },
    LONG_TEST_MS,
  );

  // The account of the fleet in a namespace must not write the subresource `scale`, as these programs do.
  (given === undefined ? test : test.skip)(
    'leaves the number of replicas to programs that scale beside updates',
    async () => {
      const { server, ca_certificate, auth } = cluster();
      if (auth.kind !== 'token' || ca_certificate === null) throw new Error('the kubeconfig needs a token and a CA');
      const scaled = { url: server, ca: ca_certificate, token: auth.token, namespace };
      const id = await by(0).deployed('scaled', spec(SLEEP, { cpu_request: '10m' }), { replicas: 2 });
      await by(0).is(id, 'running');
      const name = (await itsDeployment(id))?.metadata?.name ?? '';
      const put = async (body: object) => {
        const { status } = await by(0).request('PUT', `deployments/${id}`, body);
        expect(status).toBe(200);
      };
      const applied = (generation: number) =>
        eventually('the generation is applied', async () => {
          const { observed_generation, reason } = await by(0).shown(id);
          expect(reason).toBeNull();
          return observed_generation === generation;
        });
      const written: Written[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        const labels = { round: String(round) };
        // With programs of the cluster, with the autoscaler of the fleet, and again with the fleet.
        const scaling = [
          { scaled_by: 'cluster' },
          { autoscaling: { min_replicas: 1, max_replicas: 3, cpu_percent: 1000 } },
          { autoscaling: null, scaled_by: 'fleet' },
        ][round % 3];
        const [, ...now] = await Promise.all([
          put({ labels, ...scaling }),
          autoscale(scaled, name, (round % 3) + 1),
          kubectlScale(scaled, name, ((round * 2) % 3) + 1),
        ]);
        written.push(...now);
        await applied((await by(0).shown(id)).generation);
        expect({ round, replicas: (await itsDeployment(id))?.spec?.replicas }).toEqual({
          round,
          replicas: lastOf(written),
        });
      }
      await by(0).request('DELETE', `deployments/${id}`);
      await gone(id);
      expect(await listOwnedObjects(client, id)).toEqual([]);
    },
    LONG_TEST_MS,
  );

  test(
    'reports a missing image, a crash and a completed job',
    async () => {
      const absent = await by(0).deployed('absent', { image_name: 'library/there-is-no-such-image' });
      const crashing = await by(0).deployed('crashing', spec('exit 3'));
      const done = await by(0).deployed('done', spec('exit 0', { kind: 'job' }));
      await by(0).is(done, 'stopped', 'Completed');
      await by(0).is(absent, 'retrying', 'ImageNotFound');
      await by(0).is(crashing, 'degraded', 'CrashLoop');
      expect((await by(0).shown(crashing)).message).toContain('exit code 3');
      for (const id of [absent, crashing, done]) await by(0).request('DELETE', `deployments/${id}`);
      for (const id of [absent, crashing, done]) await gone(id);
    },
    LONG_TEST_MS,
  );

  test(
    'creates a deleted object again, and applies changes that were requested while the cluster was unreachable',
    async () => {
      const { metadata } = (await itsDeployment(id)) ?? {};
      const { apps } = await client.apis();
      await apps.deleteNamespacedDeployment({ name: metadata?.name ?? '', namespace });
      await eventually('the object is created again', async () => {
        const { uid } = (await itsDeployment(id))?.metadata ?? {};
        return uid !== undefined && uid !== metadata?.uid;
      });
      await by(0).is(id, 'running');
      await proxy.stopListening();
      expect(await check()).toMatchObject({ reachability: 'unreachable' });
      expect(await by(1).shown(id)).toMatchObject({ phase: 'running', conditions: [{ status: 'False' }] });
      await post(`deployments/${id}/restart`, {}, 1);
      await proxy.startListening();
      expect(await check(1)).toMatchObject({ reachability: 'online' });
      await by(0).is(id, 'running');
      processes.freeze(0);
      await post(`deployments/${id}/restart`, {}, 1);
      await by(1).is(id, 'running');
      processes.wake(0);
    },
    LONG_TEST_MS,
  );

  test(
    'leaves nothing after a deletion',
    async () => {
      await by(1).request('DELETE', `deployments/${id}`);
      await gone(id);
      expect(await listOwnedObjects(client, id)).toEqual([]);
      const { core } = await client.apis();
      expect((await core.listNamespacedPersistentVolumeClaim({ namespace })).items).toEqual([]);
      expect((await core.listNamespacedPod({ namespace })).items).toEqual([]);
    },
    LONG_TEST_MS,
  );
});
