// Applications in a cluster, from their creation to their deletion: their policies and names.
import { afterAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { aClusterWorld } from '../reconciler/clusters/world.ts';

const SPEC = {
  parts: [
    { name: 'database', image_name: 'library/mysql', ports: [{ containerPort: 3306 }] },
    {
      name: 'web',
      image_name: 'library/ghost',
      needs: [{ part: 'database', until: 'ready' }],
      ports: [{ containerPort: 2368, publish: true }],
      env: [{ name: 'DATABASE', value: 'database:3306' }],
    },
  ],
};

describe('an application in a cluster', () => {
  const world = aClusterWorld();
  afterAll(() => world().server.forbidden.clear());

  const application = async (id: string) =>
    (await world().good(world().api.get(`/api/v1/applications/${id}`))).application;
  const created = async (name: string) => {
    const { good, api, clusterId } = world();
    const body = { name, spec: SPEC, target: { cluster_id: clusterId } };
    const { id } = (await good(api.post('/api/v1/applications', body))).application;
    return eventually('the application runs', () => application(id), { until: ({ phase }) => phase === 'running' });
  };
  const removed = async (id: string) => {
    await world().good(world().api.delete(`/api/v1/applications/${id}`));
    await eventually(
      'the application is gone',
      async () => (await world().api.get(`/api/v1/applications/${id}`)).status === 404,
    );
  };
  const objects = (resource: string) => world().server.objects(resource);
  const namesOf = (resource: string) => objects(resource).map(({ metadata }) => metadata.name ?? '');
  const isolated = async () =>
    (await world().checked(world().clusterId)).conditions.find(({ type }: { type: string }) => type === 'Isolated');

  test('has pods with the names of its parts and a policy for each part, and leaves nothing', async () => {
    const { id, parts } = await created('blog');
    expect(parts).toHaveLength(2);
    const names = `svc-app-${id.slice(-8)}`;
    expect(namesOf('services').filter((name) => name === names)).toHaveLength(1);
    const pods = objects('pods').map(({ metadata, spec }) => [metadata.labels?.['fleet/network'], spec]);
    expect(pods).toEqual(
      expect.arrayContaining([
        [id, expect.objectContaining({ hostname: 'database', subdomain: names })],
        [id, expect.objectContaining({ hostname: 'web', subdomain: names })],
      ]),
    );
    expect(objects('networkpolicies').map(({ metadata }) => metadata.labels?.['fleet/application'])).toEqual([id, id]);
    await removed(id);
    for (const resource of ['services', 'networkpolicies', 'pods']) expect(namesOf(resource)).toEqual([]);
  });

  test('runs in a cluster that does not permit policies, which says so, and is isolated when it does', async () => {
    const { server } = world();
    server.forbidden.add('* networkpolicies');
    expect(await isolated()).toMatchObject({
      status: 'False',
      message: expect.stringContaining('lack these permissions in the namespace fleet: list networkpolicies.'),
    });
    const { id, parts } = await created('shop');
    expect(namesOf('networkpolicies')).toEqual([]);
    const pods = namesOf('pods').sort();
    server.forbidden.clear();
    expect(await isolated()).toMatchObject({ status: 'True' });
    for (const { deployment_id } of parts) await world().reconcileNow(deployment_id);
    await eventually('the parts have policies', async () => namesOf('networkpolicies').length === 2);
    expect(namesOf('pods').sort()).toEqual(pods);
    await removed(id);
  });
});
