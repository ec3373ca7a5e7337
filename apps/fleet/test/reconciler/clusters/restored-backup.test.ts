// A drill: a backup of the database is taken, the fleet continues, the backup is restored, and the
// fleet converges.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Backup, backUp, eventually } from '@svc/testing';
import { aClusterWorld, ownedBy, PLAIN } from './world.ts';

const WITH_VOLUME = { ...PLAIN, volume_mounts: [{ name: 'data', mountPath: '/data' }] };

describe('after an older backup is restored,', () => {
  const world = aClusterWorld();
  const ids = { changed: '', doomed: '', gone: '', stopped: '', later: '', newer: '', unwanted: '' };
  let backup: Backup;
  let volumeId: string;
  let podsOfNewer: string[];

  const pods = (id: string) => ownedBy(world().server, id).filter((name) => name.startsWith('pods/'));
  const orphans = async () =>
    (await world().good(world().api.get(`/api/v1/clusters/${world().clusterId}/orphans`))).orphans;
  const orphanPath = (id: string, verb: string) => `/api/v1/clusters/${world().clusterId}/orphans/${id}/${verb}`;
  const untilConnected = () =>
    eventually('the database accepts connections', () =>
      world().database.client.$queryRaw`SELECT 1`.then(() => true).catch(() => false),
    );

  beforeAll(async () => {
    const { aWorkload, deployed, deploymentIs, ask, removed, good, api, database, clusterId, checked } = world();
    const workload = await aWorkload('existing', WITH_VOLUME);
    for (const name of ['changed', 'doomed', 'gone', 'stopped'] as const) ids[name] = (await deployed(name, PLAIN)).id;
    for (const name of ['changed', 'doomed', 'gone', 'stopped'] as const) await deploymentIs(ids[name], 'running');
    ids.later = (await deployed('later', PLAIN, { desired_state: 'stopped' })).id;
    backup = await backUp(world().databaseUrl);
    await untilConnected();

    for (const name of ['changed', 'doomed', 'stopped'] as const) {
      for (const replicas of [2, 3, 2]) await ask(ids[name], 'scale', { replicas });
    }
    for (const name of ['changed', 'doomed', 'stopped'] as const) await deploymentIs(ids[name], 'running');
    await removed(ids.gone);
    await ask(ids.later, 'start');
    await deploymentIs(ids.later, 'running');
    const newer = { name: 'newer', workload_id: workload.id };
    ids.newer = (await good(api.post('/api/v1/deployments', newer))).deployment.id;
    ids.unwanted = (await deployed('unwanted', PLAIN)).id;
    for (const name of ['newer', 'unwanted'] as const) await deploymentIs(ids[name], 'running');
    const [attached] = await database.client.attachment.findMany({ where: { deployment_id: ids.newer } });
    volumeId = attached?.volume_id ?? '';
    podsOfNewer = pods(ids.newer);

    await backup.restore();
    await untilConnected();
    await checked(clusterId);
  });
  afterAll(() => backup?.drop());

  test('a changed deployment states that it is superseded on the engine, and converges to the restored state', async () => {
    const { deploymentIs, events, reconcileNow, good, api } = world();
    await reconcileNow(ids.changed);
    await eventually('the generation is raised', async () =>
      (await events(ids.changed)).some((event) =>
        /^Superseded: Superseded on the engine: its objects have generation 4, and the database has generation 1\. /.test(
          event,
        ),
      ),
    );
    const restored = await deploymentIs(ids.changed, 'running');
    expect(restored).toMatchObject({ replicas: 1, generation: 5 });
    expect(pods(ids.changed)).toHaveLength(1);
    const { revisions } = await good(api.get(`/api/v1/deployments/${ids.changed}/revisions`));
    expect(revisions[0]).toMatchObject({ generation: 5, operation: 'supersede', created_by: 'fleet' });
  });

  test('a later change and a stop are applied', async () => {
    const { ask, deploymentIs } = world();
    await ask(ids.stopped, 'restart');
    await deploymentIs(ids.stopped, 'running');
    await ask(ids.stopped, 'stop');
    await deploymentIs(ids.stopped, 'stopped');
    expect(pods(ids.stopped)).toEqual([]);
  });

  test('a deployment with later objects is deleted with them', async () => {
    await world().removed(ids.doomed);
    expect(ownedBy(world().server, ids.doomed)).toEqual([]);
  });

  test('a deployment that was deleted since the backup runs again', async () => {
    await world().reconcileNow(ids.gone);
    await world().deploymentIs(ids.gone, 'running');
    await eventually('its pod runs', async () => pods(ids.gone).length === 1);
  });

  test('a deployment that was started since the backup, and is stopped in the backup, stops', async () => {
    await eventually('its pods are removed', async () => pods(ids.later).length === 0);
    expect(await world().deployment(ids.later)).toMatchObject({
      desired_state: 'stopped',
      target: { cluster_id: world().clusterId, host_id: null },
    });
  });

  test('newer deployments and volumes are orphans, and remain until a user decides', async () => {
    const listed = await orphans();
    expect(listed.map(({ id, kind, name }: Record<string, string>) => [id, kind, name]).sort()).toEqual(
      [
        [ids.newer, 'deployment', 'newer'],
        [ids.unwanted, 'deployment', 'unwanted'],
        [volumeId, 'volume', 'newer-data'],
      ].sort(),
    );
    expect(listed.find(({ id }: { id: string }) => id === ids.newer)).toMatchObject({
      generation: 1,
      revision: 1,
      replicas: 1,
      objects: ['Deployment', 'NetworkPolicy'].map((kind) => expect.stringMatching(`^newer-\\w{8} \\(${kind}\\)$`)),
      removing: false,
    });
    expect(pods(ids.newer)).toEqual(podsOfNewer);
  });

  test('an orphan of which the database lacks something is not adopted, and the response states what is missing', async () => {
    const { api } = world();
    const lacksWorkload = await api.post(orphanPath(ids.unwanted, 'adopt'), {});
    expect(lacksWorkload).toMatchObject({ status: 409, body: { code: 'not_adoptable' } });
    expect(lacksWorkload.body.detail).toMatch(/revision 1 of its workload \S+ does not exist/);
    const lacksVolume = await api.post(orphanPath(ids.newer, 'adopt'), {});
    expect(lacksVolume.body.detail).toMatch(/volumes must contain a storage_id for the mount data/);
  });

  test('an orphan is adopted with its volume, and its pods are not replaced', async () => {
    const { good, api, deploymentIs, server } = world();
    const { storage } = await good(api.post(orphanPath(volumeId, 'adopt'), {}));
    expect(storage).toMatchObject({
      id: volumeId,
      name: 'newer-data',
      phase: 'bound',
      reclaim: 'retain',
      size: '10Gi',
    });
    const volumes = { data: { storage_id: volumeId } };
    const { deployment } = await good(api.post(orphanPath(ids.newer, 'adopt'), { volumes }));
    expect(deployment).toMatchObject({ id: ids.newer, name: 'newer', desired_state: 'running' });
    await deploymentIs(ids.newer, 'running');
    expect(pods(ids.newer)).toEqual(podsOfNewer);
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1);
    expect((await orphans()).map(({ id }: { id: string }) => id)).toEqual([ids.unwanted]);
    await world().removed(ids.newer);
    expect(server.objects('persistentvolumeclaims')).toHaveLength(1); // retained
  });

  test('an orphan is removed by an operator, and not by a viewer', async () => {
    const { asViewer, asOperator, server, checked, clusterId } = world();
    const path = orphanPath(ids.unwanted, 'remove');
    expect((await asViewer.post(path)).status).toBe(403);
    expect((await asOperator.post(path)).body.orphan).toMatchObject({ id: ids.unwanted, removing: true });
    await checked(clusterId);
    await eventually('its objects are removed', async () => ownedBy(server, ids.unwanted).length === 0);
    await checked(clusterId);
    expect(await orphans()).toEqual([]);
    expect((await asOperator.post(path)).status).toBe(404);
  });
});
