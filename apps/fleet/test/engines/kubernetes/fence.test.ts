import { afterEach, describe, expect, test } from '@jest/globals';
import { removeVolume } from '../../../src/engines/kubernetes/cleanup.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { KEYS } from '../../../src/render/labels.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

const changes = ({ requests }: ApiServer) => requests.filter(({ method }) => method !== 'GET');

/** Does what a worker with a later generation does. */
function supersede(server: ApiServer, name: string): void {
  const { metadata, spec, ...rest } = server.object('deployments', name);
  const annotations = { ...metadata.annotations, [KEYS.generation]: '8' };
  server.put('deployments', { ...rest, metadata: { ...metadata, annotations }, spec: { ...spec, replicas: 3 } });
}

describe('a reconciliation on a cluster', () => {
  test('of an earlier generation changes nothing', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest({ generation: 8 })), deployment.fence(8));
    const count = changes(server).length;
    const late = running(deployment.manifest({ generation: 7, replicas: 2 }));
    for (const wanted of [late, { kind: 'stopped' as const }, { kind: 'gone' as const, volumes: deployment.volumes }]) {
      const found = await reconcile(client, wanted, deployment.fence(7));
      expect(found).toMatchObject({ supersededBy: 8, actions: [], next: 'soon' });
      expect(found.message).toBe('Generation 7 is superseded on the engine by generation 8.');
    }
    expect(changes(server)).toHaveLength(count);
  });

  test('that is superseded between observation and change changes nothing', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest({ generation: 6 })), deployment.fence(6));
    let isFirst = true;
    server.inject(({ method }) => {
      if (method !== 'PATCH' || !isFirst) return undefined;
      isFirst = false;
      supersede(server, deployment.name);
      return undefined;
    });
    const found = await reconcile(client, running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ supersededBy: 8, actions: [] });
    expect(server.object('deployments', deployment.name).spec).toMatchObject({ replicas: 3 });
  });

  test('that is superseded between observation and removal removes nothing', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    let isFirst = true;
    server.inject(({ method }) => {
      if (method !== 'DELETE' || !isFirst) return undefined;
      isFirst = false;
      supersede(server, deployment.name);
      return undefined;
    });
    expect(await reconcile(client, { kind: 'stopped' }, deployment.fence())).toMatchObject({
      supersededBy: 8,
      actions: [],
    });
    expect(server.object('deployments', deployment.name).metadata.deletionTimestamp).toBeUndefined();
  });

  test('observes again when a controller writes to its objects, and continues', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    let left = 2;
    const touch = () => {
      left -= 1;
      server.edit('deployments', deployment.name, {
        manager: 'controller',
        patch: { status: { collisionCount: left } },
      });
    };
    server.inject(({ method }) => {
      if ((method === 'PATCH' || method === 'DELETE') && left > 0) touch();
      return undefined;
    });
    const next = await reconcile(client, running(deployment.manifest({ generation: 8 })), deployment.fence(8));
    expect(next.actions).toEqual([`changed ${deployment.name} (Deployment)`]);
    left = 2;
    const stopped = await reconcile(client, { kind: 'stopped' }, deployment.fence(9));
    expect(stopped.actions).toEqual([`removed ${deployment.name} (Deployment)`]);
  });

  test('does not apply to an object that another client has created again since the observation', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const client = clientOf(server);
    await reconcile(client, running(deployment.manifest()), deployment.fence());
    let isFirst = true;
    server.inject(({ method }) => {
      if (method !== 'PATCH' || !isFirst) return undefined;
      isFirst = false;
      server.drop('deployments', deployment.name);
      server.put('deployments', {
        metadata: { name: deployment.name, labels: { app: 'a-strangers' } },
        spec: { replicas: 0 },
      });
      return undefined;
    });
    const found = await reconcile(client, running(deployment.manifest({ generation: 8 })), deployment.fence(8));
    expect(found).toMatchObject({ reason: 'NameConflict', actions: [] });
    expect(server.object('deployments', deployment.name).metadata.labels).toEqual({ app: 'a-strangers' });
  });

  test.each(['deployments', 'services', 'secrets', 'persistentvolumeclaims'])(
    'leaves alone an object among the %s that has the same name and belongs to something else',
    async (resource) => {
      const server = await anApiServer();
      const deployment = aDeployment({
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        secret_refs: [{ name: 'password', env: 'PASSWORD' }],
        volume_mounts: [{ name: 'data', mountPath: '/data' }],
      });
      const [volume = ''] = deployment.volumes;
      const name = resource === 'persistentvolumeclaims' ? volume : deployment.name;
      const labels = { [KEYS.managedBy]: 'fleet', [KEYS.deployment]: 'another', [KEYS.storage]: 'another' };
      const stranger = server.put(resource, { metadata: { name, labels }, spec: { clusterIP: '10.0.0.1' } });
      const client = clientOf(server);
      const found = await reconcile(client, running(deployment.manifest()), deployment.fence());
      expect(found).toMatchObject({
        phase: expect.stringMatching(/retrying|degraded/),
        reason: 'NameConflict',
        next: 'retry',
      });
      expect(found.message).toBe(
        `${name} (${stranger.kind}) exists, but was not created for this deployment, application or volume. It was not changed.`,
      );
      await reconcile(client, { kind: 'gone', volumes: [] }, deployment.fence());
      expect(server.object(resource, name)).toEqual(stranger);
    },
  );

  test('removes no volume that does not belong to the fleet', async () => {
    const server = await anApiServer();
    server.put('persistentvolumeclaims', { metadata: { name: 'data-1' }, spec: {} });
    const deployment = aDeployment();
    const client = clientOf(server);
    expect(await reconcile(client, { kind: 'gone', volumes: ['data-1'] }, deployment.fence())).toMatchObject({
      phase: 'gone',
      actions: [],
    });
    expect(await removeVolume(client, 'data-1')).toEqual([]);
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
  });

  test('that runs several times in parallel reaches the same state', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({ ports: [{ containerPort: 80, protocol: 'TCP' }] }, { replicas: 3 });
    const client = clientOf(server);
    const found = await Promise.all(
      [1, 2, 3].map(() => reconcile(client, running(deployment.manifest()), deployment.fence())),
    );
    expect(found.map(({ reason }) => reason)).toEqual([null, null, null]);
    expect(server.objects('pods')).toHaveLength(3);
    await Promise.all([1, 2, 3].map(() => reconcile(client, { kind: 'gone', volumes: [] }, deployment.fence(8))));
    expect(server.objects('deployments')).toEqual([]);
    expect(server.objects('pods')).toEqual([]);
  });

  test('ends when its signal is aborted, and sends no request after the lease is lost', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    const reason = new Error('the lease is lost');
    const fence = { ...deployment.fence(), signal: AbortSignal.abort(reason) };
    await expect(reconcile(clientOf(server), running(deployment.manifest()), fence)).rejects.toBe(reason);
    let left = 6;
    const held = clientOf(server).withLeaseCheck(() => {
      left -= 1;
      if (left < 0) throw reason;
    });
    await expect(reconcile(held, running(deployment.manifest()), deployment.fence())).rejects.toBe(reason);
    expect(server.requests).toHaveLength(6);
  });
});
