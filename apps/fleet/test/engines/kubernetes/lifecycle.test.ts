import { afterEach, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { secretsWithValues } from '../../../src/render/secrets.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

const PASSWORD = 'c4n4ry-password';
const secrets = secretsWithValues([{ name: 'password', version: 1, values: { PASSWORD } }]);

test('a deployment on a cluster is created, replaced, stopped, started and deleted, and keeps its volume until deletion', async () => {
  const server = await anApiServer({ namespaces: [] });
  const client = clientOf(server);
  const spec = {
    env: [{ name: 'GREETING', value: 'hello' }],
    secret_refs: [{ name: 'password', env: 'PASSWORD' }],
    ports: [{ containerPort: 8080, protocol: 'TCP' as const }],
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
  };
  const deployment = aDeployment(spec, { secrets });
  const [volume = ''] = deployment.volumes;
  const objects = () =>
    ['deployments', 'replicasets', 'pods', 'secrets', 'services', 'persistentvolumeclaims'].map(
      (resource) => server.objects(resource).length,
    );

  const up = await reconcile(client, running(deployment.manifest()), deployment.fence());
  expect(up.actions).toEqual([
    'created the namespace fleet',
    `created ${deployment.name} (Secret)`,
    `created ${volume} (PersistentVolumeClaim)`,
    `created ${deployment.name} (Deployment)`,
    `created ${deployment.name} (Service)`,
  ]);
  const [pod] = server.objects('pods').map(({ metadata }) => metadata.name);
  expect(up).toEqual({
    phase: 'running',
    reason: null,
    message: '1 of 1 up.',
    next: 'settled',
    instances: [expect.objectContaining({ name: pod, phase: 'running', message: 'is running', restarts: 0 })],
    conditions: [],
    scale: { replicas: 1, manager: null, isKept: false },
    endpoints: [
      {
        ...{ container_port: 8080, protocol: 'TCP', address: `${deployment.name}.fleet.svc:8080`, scope: 'cluster' },
        ...{ instance: null, ready: true, current: true },
      },
    ],
    volumes: [volume],
    processes: [expect.objectContaining({ instance: pod, restarts: 0 })],
    actions: up.actions,
  });
  expect(JSON.stringify(up)).not.toContain(PASSWORD);

  const again = await reconcile(
    client,
    running(deployment.manifest(), { settled: true, bound: [volume] }),
    deployment.fence(),
  );
  expect(again).toEqual({ ...up, processes: expect.any(Array), actions: [] });

  const restarted = deployment.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' });
  const anew = await reconcileTo(client, { wanted: running(restarted), fence: deployment.fence(8), phase: 'running' });
  expect(anew.actions).toEqual(
    ['Secret', 'Deployment', 'Service'].map((kind) => `changed ${deployment.name} (${kind})`),
  );
  expect(anew.instances.map(({ name }) => name)).not.toContain(pod);

  const stopped = await reconcileTo(client, {
    wanted: { kind: 'stopped' },
    fence: deployment.fence(9),
    phase: 'stopped',
  });
  expect(stopped.actions).toEqual([`removed ${deployment.name} (Deployment)`]);
  expect(objects()).toEqual([0, 0, 0, 1, 1, 1]);
  const rest = await reconcile(client, { kind: 'stopped' }, deployment.fence(9));
  expect(rest).toMatchObject({
    phase: 'stopped',
    next: 'settled',
    actions: [],
    message: 'All containers are removed.',
  });

  const started = running(deployment.manifest({ generation: 10 }), { bound: [volume] });
  const back = await reconcileTo(client, { wanted: started, fence: deployment.fence(10), phase: 'running' });
  expect(back.actions).toContain(`created ${deployment.name} (Deployment)`);
  expect(objects()).toEqual([1, 1, 1, 1, 1, 1]);

  const gone = { wanted: { kind: 'gone' as const, volumes: [volume] }, fence: deployment.fence(11) };
  const end = await reconcileTo(client, { ...gone, phase: 'gone' });
  expect(end.actions).toEqual([
    ...['Deployment', 'Service', 'Secret'].map((kind) => `removed ${deployment.name} (${kind})`),
    `removed the volume ${volume}`,
  ]);
  expect(objects()).toEqual([0, 0, 0, 0, 0, 0]);
  expect(await reconcile(client, gone.wanted, gone.fence)).toMatchObject({
    phase: 'gone',
    actions: [],
    next: 'settled',
  });
});
