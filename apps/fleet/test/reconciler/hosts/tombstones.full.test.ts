import { eventually } from '@svc/testing';
// A process that is frozen between its check of the lease and a request may send the request after the deletion.
import { describeWithEngine } from '@svc/testing/engine';
import { aMachineWorld, SLEEPER } from './world.ts';

const WITH_VOLUME = { ...SLEEPER, volume_mounts: [{ name: 'data', mountPath: '/data' }] };

describeWithEngine('a deleted deployment', () => {
  const world = aMachineWorld();
  const storage = async () => (await world().good(world().api.get('/api/v1/storage'))).storage;
  const volumes = () => world().podman.byHand('volume', 'ls', '--quiet');
  const labelsOf = async (...inspect: readonly string[]) => {
    const labels: Record<string, string> = JSON.parse(await world().podman.byHand(...inspect));
    return Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]);
  };
  const checked = async (hostId: string) => world().good(world().api.post(`/api/v1/hosts/${hostId}/check`));

  test('has containers and volumes removed that are created after its deletion, and no others', async () => {
    const { deployed, deploymentIs, removed, containers, podman } = world();
    const { id, target } = await deployed('web', WITH_VOLUME);
    const [{ name = '' } = {}] = (await deploymentIs(id, 'running')).instances;
    const other = await deployed('other', WITH_VOLUME);
    await deploymentIs(other.id, 'running');
    const volume = (await volumes()).split('\n').find((each) => each.startsWith('web-data-')) ?? '';
    const ofContainer = await labelsOf('inspect', '--format', '{{json .Config.Labels}}', name);
    const ofVolume = await labelsOf('volume', 'inspect', '--format', '{{json .Labels}}', volume);
    await removed(id);
    expect(await volumes()).toMatch(/^other-data-\S+$/);

    await podman.byHand('volume', 'create', ...ofVolume, volume);
    await podman.byHand('run', '--detach', '--name', name, ...ofContainer, podman.image, ...SLEEPER.command);
    await podman.byHand('run', '--detach', '--name', 'stranger', podman.image, ...SLEEPER.command);
    expect(await containers(id)).toHaveLength(1);
    await checked(target.host_id);
    expect(await containers(id)).toEqual([]);
    expect(await volumes()).toMatch(/^other-data-\S+$/);
    const left = (await podman.byHand('ps', '--format', '{{.Names}}')).split('\n').sort();
    expect(left).toEqual([expect.stringMatching(/^other-/), 'stranger']);
  });

  test('has a volume removed that was created and not recorded', async () => {
    const { api, good, database, removed, deployed, deploymentIs } = world();
    const { id } = await deployed('third', WITH_VOLUME);
    await deploymentIs(id, 'running');
    const [{ id: volumeId }] = (await storage()).filter(({ name }: { name: string }) => name === 'third-data');
    await good(api.put(`/api/v1/storage/${volumeId}`, { reclaim: 'retain' }));
    await removed(id);
    expect(await volumes()).toMatch(/^third-data-/m);
    await database.client.volume.update({ where: { id: volumeId }, data: { phase: 'pending' } });
    await good(api.delete(`/api/v1/storage/${volumeId}`));
    await eventually('the row of the volume is deleted', async () => (await storage()).length === 1);
    expect(await volumes()).not.toMatch(/^third-data-/m);
  });
});
