// Policies of a cluster and labels of deployments, on a fake cluster.
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { aClusterWorld, PLAIN, WEB } from './world.ts';

const KINDS = ['deployments', 'services', 'secrets', 'persistentvolumeclaims'];

describe('a deployment on a cluster with policies', () => {
  const world = aClusterWorld();
  const set = (body: object) => world().good(world().api.put(`/api/v1/clusters/${world().clusterId}`, body));
  const change = (id: string, body: object) => world().good(world().api.put(`/api/v1/deployments/${id}`, body));
  const plan = (id: string, body: object) =>
    world().good(world().api.post('/api/v1/deployments/plan', { deployment_id: id, ...body }));
  const objectsOf = (id: string) =>
    KINDS.flatMap((kind) => world().server.objects(kind)).filter(
      ({ metadata }) => metadata.labels?.['fleet/deployment'] === id,
    );
  const podsOf = (id: string) =>
    world()
      .server.objects('pods')
      .filter(({ metadata }) => metadata.labels?.['fleet/deployment'] === id);
  const namesOf = (id: string) => podsOf(id).map(({ metadata }) => metadata.name);
  const olderDefaultsOf = async (id: string) =>
    (await world().deployment(id)).conditions
      .filter(({ type }: { type: string }) => type === 'CreatedWithOlderDefaults')
      .map(({ message }: { message: string }) => message);

  test('has its labels on all objects, and on pods those that the cluster lists', async () => {
    await set({ pod_label_keys: ['team'], object_labels: { 'cost-center': '4711' } });
    const labels = { team: 'ml', stage: 'test' };
    const { id } = await world().deployed('labelled', WEB, { labels });
    await world().deploymentIs(id, 'running');
    const onObjects = { ...labels, 'cost-center': '4711' };
    expect(
      objectsOf(id)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['Deployment', 'Secret', 'Service']);
    for (const { metadata } of objectsOf(id)) expect(metadata.labels).toMatchObject(onObjects);
    const [claim] = world().server.objects('persistentvolumeclaims');
    expect(claim?.metadata.labels).toMatchObject(onObjects);
    const [pod] = podsOf(id);
    expect(pod?.metadata.labels).toMatchObject({ team: 'ml', 'cost-center': '4711' });
    expect(pod?.metadata.labels).not.toHaveProperty('stage');
    const [volume] = (await world().good(world().api.get('/api/v1/storage'))).storage;
    expect(volume.labels).toEqual(labels);
  });

  test('replaces no pod for a label that pods do not have, and applies it to its objects', async () => {
    const { id, generation } = await world().deployed('relabelled', PLAIN, { labels: { team: 'ml' } });
    await world().deploymentIs(id, 'running');
    const before = namesOf(id);
    const planned = await plan(id, { labels: { team: 'ml', stage: 'live' } });
    expect(planned).toMatchObject({ ok: true, replaces_instances: false });
    expect(planned.changes).toEqual([
      { action: 'replace', object: expect.stringMatching(/^NetworkPolicy\//), paths: ['/metadata/labels/stage'] },
      { action: 'replace', object: expect.stringMatching(/^Deployment\//), paths: ['/metadata/labels/stage'] },
    ]);
    await change(id, { labels: { team: 'ml', stage: 'live' } });
    await eventually('its objects have the label', () =>
      objectsOf(id).every(({ metadata }) => metadata.labels?.stage === 'live'),
    );
    expect(namesOf(id)).toEqual(before);
    expect((await world().deployment(id)).generation).toBe(generation);
  });

  test('replaces its pods for a label that they have, which the plan announces', async () => {
    const { id } = await world().deployed('relabelled-pods', PLAIN, { labels: { team: 'ml' } });
    await world().deploymentIs(id, 'running');
    const before = namesOf(id);
    const planned = await plan(id, { labels: { team: 'shop' } });
    expect(planned.replaces_instances).toBe(true);
    expect(planned.changes.flatMap(({ paths }: { paths: string[] }) => paths)).toContain(
      '/spec/template/metadata/labels/team',
    );
    expect((await plan(id, { labels: { team: 'ml' } })).changes).toEqual([]);
    await change(id, { labels: { team: 'shop' } });
    await world().deploymentIs(id, 'running');
    expect(podsOf(id).map(({ metadata }) => metadata.labels?.team)).toEqual(['shop']);
    expect(namesOf(id)).not.toEqual(before);
  });

  test('keeps its pods when an admin changes the policies, until a restart applies them', async () => {
    const { id } = await world().deployed('kept', { ...PLAIN, service_account_token: false }, { replicas: 2 });
    await world().deploymentIs(id, 'running');
    const before = namesOf(id);
    expect(await olderDefaultsOf(id)).toEqual([]);
    await set({ service_account: 'apps', pull_secrets: ['mirror'], priority_class: 'low', uses_limit_range: true });
    await set({ object_annotations: { note: 'for audits' } });
    await world().reconcileNow(id);
    await eventually('its objects have the annotation', () =>
      objectsOf(id).every(({ metadata }) => metadata.annotations?.note === 'for audits'),
    );
    expect(namesOf(id)).toEqual(before);
    expect(await olderDefaultsOf(id)).toEqual([
      'A restart removes the limit of the memory of each container, applies the settings of the cluster to its pods.',
    ]);
    await world().ask(id, 'scale', { replicas: 3 });
    await world().deploymentIs(id, 'running');
    expect(namesOf(id)).toEqual(expect.arrayContaining(before));
    await world().ask(id, 'restart');
    await world().deploymentIs(id, 'running');
    expect(await olderDefaultsOf(id)).toEqual([]);
    for (const { metadata, spec } of podsOf(id)) {
      expect(metadata.annotations).toMatchObject({ note: 'for audits' });
      expect(spec).toMatchObject({
        serviceAccountName: 'apps',
        automountServiceAccountToken: false,
        imagePullSecrets: [{ name: 'mirror' }],
        priorityClassName: 'low',
      });
      expect(JSON.stringify(spec)).not.toContain('limits');
    }
  });

  test('gets a budget with its second replica, as soon as a check has found that the cluster permits it', async () => {
    const { server, clusterId, checked, deployed, deploymentIs, ask } = world();
    const { id } = await deployed('budgeted', PLAIN);
    await deploymentIs(id, 'running');
    const budgets = () =>
      server.objects('poddisruptionbudgets').filter(({ metadata }) => metadata.labels?.['fleet/deployment'] === id);
    expect(budgets()).toEqual([]);
    await ask(id, 'scale', { replicas: 2 });
    await eventually('there is a budget', () => budgets().length === 1);
    server.forbidden.add('create poddisruptionbudgets');
    await checked(clusterId);
    const { manifest } = await world().good(world().api.get(`/api/v1/deployments/${id}/manifest`));
    expect(manifest.map(({ kind }: { kind: string }) => kind)).toEqual(['NetworkPolicy', 'Deployment']);
    await world().reconcileNow(id);
    await deploymentIs(id, 'running');
    server.forbidden.clear();
    await checked(clusterId);
    await world().removed(id);
    expect(budgets()).toEqual([]);
  });
});
