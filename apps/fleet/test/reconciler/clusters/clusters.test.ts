// Deployments on a fake cluster, through the API of the fleet.
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { aTemplate } from '../../a-template.ts';
import { aClusterWorld, ownedBy, PLAIN, WEB } from './world.ts';

describe('a deployment of a template on a cluster', () => {
  const world = aClusterWorld();
  let id: string;
  let name: string;

  test('creates the objects of the cluster and runs', async () => {
    const { good, api, hub, sync, deploymentIs, server, clusterId } = world();
    const plain = { env_schema: [], node_selector: {}, required_network_types: [], tolerations: [], gpu_count: 0 };
    hub.publish(aTemplate({ slug: 'web', ...WEB, registry_credentials: null, ...plain, vram_request: '' }));
    await sync.run();
    const made = (await good(api.post('/api/v1/deployments', { name: 'web', template: 'web' }))).deployment;
    id = made.id;
    expect(made.target).toEqual({ host_id: null, cluster_id: clusterId });
    const running = await deploymentIs(id, 'running');
    name = server.objects('deployments')[0]?.metadata.name ?? '';
    expect(running.instances).toEqual([
      {
        name: expect.any(String),
        phase: 'running',
        message: 'is running',
        restarts: 0,
        ordinal: null,
        current: true,
        ready: true,
        image_digest: null,
        node: 'worker-1',
        containers: [
          {
            name: 'main',
            image: 'registry.example.test/team/web:1',
            phase: 'running',
            message: 'is running',
            restarts: 0,
          },
        ],
        events: [],
      },
    ]);
    expect(running.endpoints).toEqual([
      {
        ...{ container_port: 8080, protocol: 'TCP', address: `${name}.fleet.svc:8080`, scope: 'cluster', scheme: null },
        ...{ instance: null, ready: true, current: true },
      },
    ]);
    const pod = server.objects('pods')[0]?.metadata.name;
    const replicaSet = server.objects('replicasets')[0]?.metadata.name;
    expect(ownedBy(server, id)).toEqual(
      [`deployments/${name}`, `pods/${pod}`, `replicasets/${replicaSet}`, `secrets/${name}`, `services/${name}`].sort(),
    );
    const [volume] = (await good(api.get('/api/v1/storage'))).storage;
    expect(volume).toMatchObject({ name: 'web-data', phase: 'bound', attached_to: [{ name: 'web' }] });
  });

  test('returns the log of its pod', async () => {
    const { api, server } = world();
    const [pod] = server.objects('pods');
    server.logs.write(pod?.metadata.name ?? '', 'one\ntwo\n');
    const answer = await api.get(`/api/v1/deployments/${id}/logs`);
    expect(answer.text).toBe('one\ntwo\n');
  });

  test('applies the manifest that the API returns, with the values of secrets', async () => {
    const { api, good, server } = world();
    const { manifest } = await good(api.get(`/api/v1/deployments/${id}/manifest`));
    const shown = manifest.find(({ kind }: { kind: string }) => kind === 'Deployment');
    expect(server.object('deployments', name)).toMatchObject(shown);
    expect(JSON.stringify(manifest)).not.toContain(Buffer.from('geheim').toString('base64'));
    expect(JSON.stringify(server.object('secrets', name))).toContain(Buffer.from('geheim').toString('base64'));
  });

  test('is restarted, updated and rolled back', async () => {
    const { ask, deploymentIs, server, good, api, deployment } = world();
    const image = () => JSON.stringify(server.object('deployments', name).spec);
    const [before] = server.objects('pods');
    await ask(id, 'restart');
    await deploymentIs(id, 'running');
    expect(server.objects('pods').map(({ metadata }) => metadata.name)).not.toContain(before?.metadata.name);
    const { workload_id } = await deployment(id);
    await good(api.put(`/api/v1/workloads/${workload_id}`, { image_tag: '2' }));
    await good(api.put(`/api/v1/deployments/${id}`, { revision: 2 }));
    await deploymentIs(id, 'running');
    expect(image()).toContain('registry.example.test/team/web:2');
    await ask(id, 'rollback');
    await deploymentIs(id, 'running');
    expect(image()).toContain('registry.example.test/team/web:1');
  });

  test('keeps its volume when it is stopped, and leaves nothing when it is deleted', async () => {
    const { ask, deploymentIs, server, removed, good, api } = world();
    await ask(id, 'stop');
    await deploymentIs(id, 'stopped');
    expect(ownedBy(server, id)).toEqual([`secrets/${name}`, `services/${name}`]);
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
    await ask(id, 'start');
    await deploymentIs(id, 'running');
    await removed(id);
    expect(ownedBy(server, id)).toEqual([]);
    expect(server.objects('persistentvolumeclaims')).toEqual([]);
    expect((await good(api.get('/api/v1/storage'))).storage).toEqual([]);
  });

  test('has an object removed that is created after its deletion', async () => {
    const { server, clusterId, checked } = world();
    const labels = { 'fleet/deployment': id, 'app.kubernetes.io/managed-by': 'fleet' };
    server.put('services', { metadata: { name, labels } });
    server.put('services', { metadata: { name: 'stranger', labels: { ...labels, 'fleet/deployment': 'another' } } });
    await checked(clusterId);
    expect(server.objects('services').map(({ metadata }) => metadata.name)).toEqual(['stranger']);
    server.drop('services', 'stranger');
  });
});

describe('with a cluster,', () => {
  const world = aClusterWorld();

  test('a field of another manager is reported, and overwritten only once and only with take_over', async () => {
    const { deployed, deploymentIs, server, good, api, events, reconcileNow } = world();
    const { id } = await deployed('owned', PLAIN);
    await deploymentIs(id, 'running');
    const [object] = server.objects('deployments');
    const name = object?.metadata.name ?? '';
    const spec = () => server.object('deployments', name).spec as { progressDeadlineSeconds: number; replicas: number };
    const edit = (seconds: number) =>
      server.edit('deployments', name, { manager: 'somebody', patch: { spec: { progressDeadlineSeconds: seconds } } });
    edit(60);
    await good(api.post(`/api/v1/deployments/${id}/scale`, { replicas: 2 }));
    const conflict = await deploymentIs(id, 'degraded', 'FieldConflict');
    expect(conflict.message).toMatch(/\.spec\.progressDeadlineSeconds \(somebody\)/);
    expect(conflict.message).toContain(`PUT /api/v1/deployments/${id} with {"take_over": true}`);
    expect(spec()).toMatchObject({ progressDeadlineSeconds: 60, replicas: 1 });
    await good(api.put(`/api/v1/deployments/${id}`, { take_over: true }));
    await deploymentIs(id, 'running');
    expect(spec()).toMatchObject({ progressDeadlineSeconds: 1800, replicas: 2 });
    expect((await events(id)).join('\n')).toMatch(/taking over fields of other field managers/);
    edit(90);
    await reconcileNow(id);
    await deploymentIs(id, 'degraded', 'FieldConflict');
    expect(spec().progressDeadlineSeconds).toBe(90);
    await world().removed(id);
  });

  test('take_over is rejected for a deployment without a target', async () => {
    const { api, aWorkload, good } = world();
    const { id: workload_id } = await aWorkload('stopped', PLAIN);
    const body = { name: 'stopped', workload_id, desired_state: 'stopped' };
    const { id } = (await good(api.post('/api/v1/deployments', body))).deployment;
    const answer = await api.put(`/api/v1/deployments/${id}`, { take_over: true });
    expect({ status: answer.status, errors: answer.body.errors }).toEqual({
      status: 400,
      errors: [{ path: 'take_over', message: 'must be used only for deployments on a cluster' }],
    });
  });

  test('an object that the cluster rejects is reported with the invalid field', async () => {
    const { deployed, deploymentIs, server, reconcileNow, deployment, removed } = world();
    const causes = [{ reason: 'FieldValueInvalid', message: 'no', field: 'spec.template.spec.containers[0].image' }];
    const body = JSON.stringify({ kind: 'Status', reason: 'Invalid', message: 'is invalid', details: { causes } });
    const isApply = ({ method, path }: { method: string; path: string }) =>
      method === 'PATCH' && path.includes('/deployments/');
    server.inject((request) => (isApply(request) ? { status: 422, body } : undefined));
    const { id } = await deployed('invalid', PLAIN);
    const failed = await deploymentIs(id, 'failed', 'InvalidSpec');
    expect(failed.message).toContain('spec.template.spec.containers[0].image');
    expect(failed.message).toMatch(/ Correct the workload, or the policy or setting of the cluster\.$/);
    server.inject(() => undefined);
    await reconcileNow(id);
    await deploymentIs(id, 'running');
    expect((await deployment(id)).reason).toBeNull();
    await removed(id);
  });

  test('a manually deleted object is reported by the watch, and created again with an event', async () => {
    const { deployed, deploymentIs, server, events, removed } = world();
    const { id } = await deployed('drift', PLAIN);
    await deploymentIs(id, 'running');
    const [object] = server.objects('deployments');
    const name = object?.metadata.name ?? '';
    const isWatch = ({ path, query }: { path: string; query: object }) =>
      path.endsWith('/deployments') && 'watch' in query;
    await eventually('the watch is open', async () => server.requests.some(isWatch));
    server.drop('deployments', name);
    const correction = `engine: created ${name} (Deployment) again: it was missing`;
    await eventually('the object is created again', async () => (await events(id)).includes(correction));
    await deploymentIs(id, 'running');
    await removed(id);
  });

  test('deployments keep their state while it is unreachable, and changes are applied afterwards', async () => {
    const { deployed, deploymentIs, deployment, server, ask, clusterIs, clusterId, checked, events } = world();
    const { id } = await deployed('away', PLAIN);
    await deploymentIs(id, 'running');
    server.inject(() => 'reset');
    expect(await checked(clusterId)).toMatchObject({
      reachability: 'unreachable',
      message: 'It closed the connection without a response.',
    });
    const away = await deployment(id);
    expect(away).toMatchObject({
      phase: 'running',
      conditions: [
        { type: 'TargetReachable', status: 'False', message: 'It closed the connection without a response.' },
      ],
    });
    await ask(id, 'restart');
    server.inject(() => undefined);
    await checked(clusterId);
    await clusterIs(clusterId, 'online');
    await deploymentIs(id, 'running');
    expect(server.objects('pods')).toHaveLength(1);
    expect((await events(id)).filter((event) => event.includes('(Deployment)'))).toEqual([
      expect.stringMatching(/^engine: created /),
      expect.stringMatching(/^engine: changed /),
    ]);
  });

  test('a rejected token is reported, and a new one is used at once', async () => {
    const { server, checked, clusterId, good, api } = world();
    server.rotate('the next token');
    expect(await checked(clusterId)).toMatchObject({
      reachability: 'unreachable',
      message: 'The cluster does not accept the credentials. Send a PUT with a new auth.',
    });
    await good(api.put(`/api/v1/clusters/${clusterId}`, { auth: { kind: 'token', token: 'the next token' } }));
    expect(await checked(clusterId)).toMatchObject({ reachability: 'online', message: '' });
  });
});
