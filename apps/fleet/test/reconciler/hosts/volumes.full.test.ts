import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { aMachineWorld, SLEEPER } from './world.ts';

const TWO = { ...SLEEPER, volume_mounts: ['one', 'two'].map((name) => ({ name, mountPath: `/${name}` })) };

describeWithEngine('a volume on a real engine', () => {
  const world = aMachineWorld();
  const storage = async () => (await world().good(world().api.get('/api/v1/storage'))).storage;
  const phases = async () =>
    Object.fromEntries((await storage()).map(({ name, phase }: Record<string, string>) => [name, phase]));
  const names = async () => (await world().podman.byHand('volume', 'ls', '--quiet')).split('\n').sort();
  let id: string;

  test('that was removed manually is lost and not created again, and is bound again after it is restored', async () => {
    const { ask, deployed, deploymentIs, containers, podman } = world();
    ({ id } = await deployed('web', TWO));
    await deploymentIs(id, 'running');
    expect(await phases()).toEqual({ 'web-one': 'bound', 'web-two': 'bound' });
    await ask(id, 'stop');
    await deploymentIs(id, 'stopped');
    const [one = ''] = await names();
    const labels = JSON.parse(await podman.byHand('volume', 'inspect', '--format', '{{json .Labels}}', one));
    await podman.byHand('volume', 'rm', one);
    await ask(id, 'start');
    await deploymentIs(id, 'failed', 'VolumeLost');
    expect(await containers(id)).toEqual([]);
    expect(await phases()).toMatchObject({ 'web-one': 'lost' });
    const given = Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]);
    await podman.byHand('volume', 'create', ...given, one);
    await ask(id, 'restart');
    await deploymentIs(id, 'running');
    expect(await phases()).toEqual({ 'web-one': 'bound', 'web-two': 'bound' });
  });

  test('that was removed manually is replaced by an empty one if its loss is accepted', async () => {
    const { api, ask, good, deploymentIs, podman } = world();
    await ask(id, 'stop');
    await deploymentIs(id, 'stopped');
    const [lost = ''] = await names();
    await podman.byHand('volume', 'rm', lost);
    await ask(id, 'start');
    await deploymentIs(id, 'failed', 'VolumeLost');
    await good(api.put(`/api/v1/deployments/${id}`, { accept_loss: ['one'] }));
    await deploymentIs(id, 'running');
    expect(await names()).not.toContain(lost);
    await eventually('the lost volume is forgotten', async () => (await storage()).length === 2);
    expect(Object.values(await phases())).toEqual(['bound', 'bound']);
  });

  test('that cannot be removed yet does not delay the removal of others', async () => {
    const { api, good, podman, removed } = world();
    const all: { id: string }[] = await storage();
    for (const each of all) await good(api.put(`/api/v1/storage/${each.id}`, { reclaim: 'retain' }));
    await removed(id);
    const [one = '', two] = await names();
    expect(two).toMatch(/^web-two-/);
    await podman.byHand('create', '--name', 'user', '--volume', `${one}:/data`, podman.image, '/bin/sh');
    const idOf = async (name: string) =>
      (await storage()).find((each: { name: string }) => each.name.startsWith(name)).id;
    await good(api.delete(`/api/v1/storage/${await idOf('web-one')}`));
    await good(api.delete(`/api/v1/storage/${await idOf('web-two')}`));
    await eventually('the other volume is deleted', async () => (await storage()).length === 1);
    expect(Object.values(await phases())).toEqual(['deleting']);
    expect(await names()).toEqual([one]);
    await podman.byHand('rm', 'user');
    await eventually('both volumes are deleted', async () => (await storage()).length === 0);
    expect(await names()).toEqual(['']);
  });
});
