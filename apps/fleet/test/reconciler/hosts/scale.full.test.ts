import { describeWithEngine } from '@svc/testing/engine';
import { aMachineWorld, SERVER, SLEEPER } from './world.ts';

describeWithEngine('a deployment on a real engine', () => {
  const world = aMachineWorld();
  let id: string;

  test('scales up with a port for each replica, and leaves the existing replicas alone', async () => {
    const { ask, deployed, deploymentIs, containers } = world();
    ({ id } = await deployed('web', { ...SERVER, volume_mounts: [], secret_refs: [] }));
    await deploymentIs(id, 'running');
    const [first] = await containers(id);
    await ask(id, 'scale', { replicas: 3 });
    const { endpoints, instances } = await deploymentIs(id, 'running');
    expect(instances.map(({ name }: { name: string }) => name.slice(-2))).toEqual(['-0', '-1', '-2']);
    const answers = endpoints.map(async ({ address }: { address: string }) =>
      (await fetch(`http://${address}/`)).text(),
    );
    expect(await Promise.all(answers)).toEqual(['hello \n', 'hello \n', 'hello \n']);
    expect((await containers(id))[0]).toEqual(first);
  });

  test('scales down and releases ports', async () => {
    const { ask, deploymentIs, containers, database } = world();
    const [first] = await containers(id);
    await ask(id, 'scale', { replicas: 1 });
    expect((await deploymentIs(id, 'running')).instances).toHaveLength(1);
    expect(await containers(id)).toEqual([first]);
    expect(await database.client.allocatedPort.count()).toBe(1);
  });

  test('restarts for new values of a secret that it uses, and not for those of another', async () => {
    const { api, good, deployed, deploymentIs, containers, fetched } = world();
    const secret = (await good(api.post('/api/v1/secrets', { name: 'pass', values: { PASSWORD: 'old' } }))).secret;
    const user = await deployed('user', { ...SERVER, volume_mounts: [] });
    const other = await deployed('other', SLEEPER);
    await deploymentIs(user.id, 'running');
    const before = await deploymentIs(other.id, 'running');
    const [left] = await containers(other.id);
    await good(api.put(`/api/v1/secrets/${secret.id}`, { values: { PASSWORD: 'new' } }));
    await deploymentIs(user.id, 'running');
    expect(await fetched(user.id)).toBe('hello new\n');
    expect((await deploymentIs(other.id, 'running')).generation).toBe(before.generation);
    expect(await containers(other.id)).toEqual([left]);
  });
});
