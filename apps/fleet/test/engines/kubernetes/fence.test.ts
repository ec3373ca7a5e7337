import { afterEach, describe, expect, test } from '@jest/globals';
import { removeVolume } from '../../../src/engines/kubernetes/cleanup.ts';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import { KEYS } from '../../../src/render/labels.ts';
import type { ApiServer } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

const changes = ({ requests }: ApiServer) => requests.filter(({ method }) => method !== 'GET');

/** A worker with a later generation has just been there. */
function overtake(server: ApiServer, name: string): void {
  const { metadata, spec, ...rest } = server.object('deployments', name);
  const annotations = { ...metadata.annotations, [KEYS.generation]: '8' };
  server.put('deployments', { ...rest, metadata: { ...metadata, annotations }, spec: { ...spec, replicas: 3 } });
}

describe('a pass', () => {
  test('of an earlier generation touches nothing', async () => {
    const server = await anApiServer();
    const it = aDeployment({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    const client = clientOf(server);
    await pass(client, running(it.manifest({ generation: 8 })), it.fence(8));
    const count = changes(server).length;
    const late = running(it.manifest({ generation: 7, replicas: 2 }));
    for (const wanted of [late, { kind: 'stopped' as const }, { kind: 'gone' as const, volumes: it.volumes }]) {
      const found = await pass(client, wanted, it.fence(7));
      expect(found).toMatchObject({ overtaken: true, actions: [], next: 'soon' });
      expect(found.message).toBe('Generation 8 is there already: generation 7 touches nothing.');
    }
    expect(changes(server)).toHaveLength(count);
  });

  test('that is overtaken between its look and its change changes nothing', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest({ generation: 6 })), it.fence(6));
    let isFirst = true;
    server.meddle(({ method }) => {
      if (method !== 'PATCH' || !isFirst) return undefined;
      isFirst = false;
      overtake(server, it.name);
      return undefined;
    });
    const found = await pass(client, running(it.manifest()), it.fence());
    expect(found).toMatchObject({ overtaken: true, actions: [] });
    expect(server.object('deployments', it.name).spec).toMatchObject({ replicas: 3 });
  });

  test('that is overtaken between its look and its removal removes nothing', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    let isFirst = true;
    server.meddle(({ method }) => {
      if (method !== 'DELETE' || !isFirst) return undefined;
      isFirst = false;
      overtake(server, it.name);
      return undefined;
    });
    expect(await pass(client, { kind: 'stopped' }, it.fence())).toMatchObject({ overtaken: true, actions: [] });
    expect(server.object('deployments', it.name).metadata.deletionTimestamp).toBeUndefined();
  });

  test('whose objects a controller writes to meanwhile looks again, and goes on', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    let left = 2;
    const touch = () => {
      left -= 1;
      server.edit('deployments', it.name, { manager: 'controller', patch: { status: { collisionCount: left } } });
    };
    server.meddle(({ method }) => {
      if ((method === 'PATCH' || method === 'DELETE') && left > 0) touch();
      return undefined;
    });
    const next = await pass(client, running(it.manifest({ generation: 8 })), it.fence(8));
    expect(next.actions).toEqual([`changed ${it.name} (Deployment)`]);
    left = 2;
    const stopped = await pass(client, { kind: 'stopped' }, it.fence(9));
    expect(stopped.actions).toEqual([`removed ${it.name} (Deployment)`]);
  });

  test('never applies to what was deleted and made anew by somebody else since it looked', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const client = clientOf(server);
    await pass(client, running(it.manifest()), it.fence());
    let isFirst = true;
    server.meddle(({ method }) => {
      if (method !== 'PATCH' || !isFirst) return undefined;
      isFirst = false;
      server.drop('deployments', it.name);
      server.put('deployments', { metadata: { name: it.name, labels: { app: 'a-strangers' } }, spec: { replicas: 0 } });
      return undefined;
    });
    const found = await pass(client, running(it.manifest({ generation: 8 })), it.fence(8));
    expect(found).toMatchObject({ reason: 'NameConflict', actions: [] });
    expect(server.object('deployments', it.name).metadata.labels).toEqual({ app: 'a-strangers' });
  });

  test.each(['deployments', 'services', 'secrets', 'persistentvolumeclaims'])(
    'never touches a stranger among the %s that has its name',
    async (resource) => {
      const server = await anApiServer();
      const it = aDeployment({
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        secret_refs: [{ name: 'password', env: 'PASSWORD' }],
        volume_mounts: [{ name: 'data', mountPath: '/data' }],
      });
      const [volume = ''] = it.volumes;
      const name = resource === 'persistentvolumeclaims' ? volume : it.name;
      const labels = { [KEYS.managedBy]: 'fleet', [KEYS.deployment]: 'another', [KEYS.storage]: 'another' };
      const stranger = server.put(resource, { metadata: { name, labels }, spec: { clusterIP: '10.0.0.1' } });
      const client = clientOf(server);
      const found = await pass(client, running(it.manifest()), it.fence());
      expect(found).toMatchObject({
        phase: expect.stringMatching(/retrying|degraded/),
        reason: 'NameConflict',
        next: 'retry',
      });
      expect(found.message).toBe(
        `Something that is not the fleet's is called ${name} (${stranger.kind}); it was left alone.`,
      );
      await pass(client, { kind: 'gone', volumes: [] }, it.fence());
      expect(server.object(resource, name)).toEqual(stranger);
    },
  );

  test('removes no volume that is not the fleet’s', async () => {
    const server = await anApiServer();
    server.put('persistentvolumeclaims', { metadata: { name: 'data-1' }, spec: {} });
    const it = aDeployment();
    const client = clientOf(server);
    expect(await pass(client, { kind: 'gone', volumes: ['data-1'] }, it.fence())).toMatchObject({
      phase: 'gone',
      actions: [],
    });
    expect(await removeVolume(client, 'data-1')).toEqual([]);
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
  });

  test('that is made several times at once leads to the same end', async () => {
    const server = await anApiServer();
    const it = aDeployment({ ports: [{ containerPort: 80, protocol: 'TCP' }] }, { replicas: 3 });
    const client = clientOf(server);
    const found = await Promise.all([1, 2, 3].map(() => pass(client, running(it.manifest()), it.fence())));
    expect(found.map(({ reason }) => reason)).toEqual([null, null, null]);
    expect(server.objects('pods')).toHaveLength(3);
    await Promise.all([1, 2, 3].map(() => pass(client, { kind: 'gone', volumes: [] }, it.fence(8))));
    expect([server.objects('deployments'), server.objects('pods')]).toEqual([[], []]);
  });

  test('ends where it is told to, and sends nothing that may not be sent any more', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    const reason = new Error('the lease is lost');
    const fence = { ...it.fence(), signal: AbortSignal.abort(reason) };
    await expect(pass(clientOf(server), running(it.manifest()), fence)).rejects.toBe(reason);
    let left = 6;
    const held = clientOf(server).whileHeld(() => {
      left -= 1;
      if (left < 0) throw reason;
    });
    await expect(pass(held, running(it.manifest()), it.fence())).rejects.toBe(reason);
    expect(server.requests).toHaveLength(6);
  });
});
