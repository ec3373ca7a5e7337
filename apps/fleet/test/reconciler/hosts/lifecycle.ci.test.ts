import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { aTemplate } from '../../a-template.ts';
import { aMachineWorld, SERVER } from './world.ts';

describeWithEngine('a deployment of a template on a real engine', () => {
  const world = aMachineWorld();
  let id: string;

  test('serves requests, with its environment variable, its secret and its volume', async () => {
    const { good, api, hub, sync, deploymentIs, fetched } = world();
    await good(api.post('/api/v1/secrets', { name: 'pass', values: { PASSWORD: 'geheim' } }));
    const plain = { env_schema: [], node_selector: {}, required_network_types: [], tolerations: [] };
    hub.publish(aTemplate({ slug: 'web', ...SERVER, registry_credentials: null, ...plain }));
    await sync.run();
    id = (await good(api.post('/api/v1/deployments', { name: 'web', template: 'web' }))).deployment.id;
    const running = await deploymentIs(id, 'running');
    expect(running.instances).toEqual([
      expect.objectContaining({ name: expect.stringMatching(/^web-.*-0$/), phase: 'running', restarts: 0 }),
    ]);
    expect(await fetched(id)).toBe('hello geheim\n');
    const [volume] = (await good(api.get('/api/v1/storage'))).storage;
    expect(volume).toMatchObject({ name: 'web-data', phase: 'bound', attached_to: [{ name: 'web' }] });
  });

  test('is replaced by a restart, and keeps its volume', async () => {
    const { ask, deploymentIs, fetched, containers } = world();
    const [before] = await containers(id);
    await ask(id, 'restart');
    await deploymentIs(id, 'running');
    expect(await fetched(id, '/starts')).toBe('start\nstart\n');
    expect((await containers(id)).map((container) => container.id)).not.toEqual([before?.id]);
  });

  test('is updated to a new revision, and rolled back', async () => {
    const { api, good, ask, deployment, deploymentIs, fetched } = world();
    const { workload_id } = await deployment(id);
    await good(api.put(`/api/v1/workloads/${workload_id}`, { env: [{ name: 'GREETING', value: 'good day' }] }));
    expect((await deployment(id)).phase).toBe('running');
    await good(api.put(`/api/v1/deployments/${id}`, { revision: 2 }));
    await deploymentIs(id, 'running');
    expect(await fetched(id)).toBe('good day geheim\n');
    await ask(id, 'rollback');
    expect(await deploymentIs(id, 'running')).toMatchObject({ revision: 1 });
    expect(await fetched(id)).toBe('hello geheim\n');
  });

  test('receives new values of its secret without a request', async () => {
    const { api, good, deploymentIs, fetched, events } = world();
    const [secret] = (await good(api.get('/api/v1/secrets'))).secrets;
    await good(api.put(`/api/v1/secrets/${secret.id}`, { values: { PASSWORD: 'neu' } }));
    await deploymentIs(id, 'running');
    expect(await fetched(id)).toBe('hello neu\n');
    expect(await events(id)).toContain('rotate-secret: the values of the secret pass changed');
  });

  test('has no container while it is stopped, and keeps its port and volume', async () => {
    const { ask, deployment, deploymentIs, containers, fetched } = world();
    const { endpoints } = await deployment(id);
    await ask(id, 'stop');
    expect(await deploymentIs(id, 'stopped')).toMatchObject({ instances: [], endpoints: [] });
    expect(await containers(id)).toEqual([]);
    await ask(id, 'start');
    expect((await deploymentIs(id, 'running')).endpoints).toEqual(endpoints);
    expect((await fetched(id, '/starts')).split('\n').length).toBeGreaterThan(3);
  });

  test('leaves only a retained volume when it is deleted', async () => {
    const { api, good, removed, podman, database } = world();
    const [volume] = (await good(api.get('/api/v1/storage'))).storage;
    await good(api.put(`/api/v1/storage/${volume.id}`, { reclaim: 'retain' }));
    expect(await api.delete(`/api/v1/storage/${volume.id}`)).toMatchObject({ status: 409 });
    await removed(id);
    expect(await podman.byHand('ps', '--all', '--quiet')).toBe('');
    expect(await podman.byHand('volume', 'ls', '--quiet')).not.toBe('');
    expect(await database.client.allocatedPort.count()).toBe(0);
    await good(api.delete(`/api/v1/storage/${volume.id}`));
    await eventually('the volume is deleted', async () => (await api.get('/api/v1/storage')).body.storage.length === 0);
    expect(await podman.byHand('volume', 'ls', '--quiet')).toBe('');
  });
});
