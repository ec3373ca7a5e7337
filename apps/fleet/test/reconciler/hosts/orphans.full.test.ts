// Containers and volumes on a real engine that are missing in a restored database.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Backup, backUp, eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { aMachineWorld, SERVER } from './world.ts';

const WEB = { ...SERVER, secret_refs: [], volume_mounts: [] };

describeWithEngine('after an older backup is restored, on a host', () => {
  const world = aMachineWorld();
  let backup: Backup;
  let workloadId: string;
  let newer: { id: string; port: number };
  let containers: unknown;

  const orphanPath = (id = '', verb = '') => `/api/v1/hosts/${world().hostId}/orphans${id && `/${id}/${verb}`}`;
  const orphans = async () => {
    await world().good(world().api.post(`/api/v1/hosts/${world().hostId}/check`));
    return (await world().good(world().api.get(orphanPath()))).orphans;
  };
  const portOf = ({ endpoints }: { endpoints: { address: string }[] }) =>
    Number(endpoints[0]?.address.split(':').at(-1));
  const running = async (name: string) => {
    const body = { name, workload_id: workloadId };
    const { id } = (await world().good(world().api.post('/api/v1/deployments', body))).deployment;
    return { id: id as string, port: portOf(await world().deploymentIs(id, 'running')) };
  };

  beforeAll(async () => {
    workloadId = (await world().aWorkload('web', WEB)).id;
    backup = await backUp(world().databaseUrl);
    const isConnected = () => world().database.client.$queryRaw`SELECT 1`.then(() => true).catch(() => false);
    await eventually('the database accepts connections', isConnected);
    newer = await running('newer');
    containers = (await world().containers(newer.id)).map(({ id }) => id);
    await backup.restore();
    await eventually('the database accepts connections', isConnected);
  });
  afterAll(() => backup?.drop());

  test('a newer deployment is listed with its ports, which no other deployment gets', async () => {
    expect(await orphans()).toMatchObject([
      {
        id: newer.id,
        kind: 'deployment',
        name: 'newer',
        workload_id: workloadId,
        replicas: 1,
        ports: [{ ordinal: 0, protocol: 'TCP', container_port: 8080, host_port: newer.port }],
      },
    ]);
    const other = await running('other');
    expect(other.port).toBe(newer.port + 1);
    expect((await world().events(other.id)).filter((event) => event.includes('PortConflict'))).toEqual([]);
    await world().removed(other.id);
  });

  test('an adopted deployment keeps its containers, its ports and its address', async () => {
    await orphans(); // the check removes the network of the other deployment
    await world().good(world().api.post(orphanPath(newer.id, 'adopt'), {}));
    expect(portOf(await world().deploymentIs(newer.id, 'running'))).toBe(newer.port);
    expect((await world().containers(newer.id)).map(({ id }) => id)).toEqual(containers);
    expect(await orphans()).toEqual([]);
    await world().removed(newer.id);
  });
});
