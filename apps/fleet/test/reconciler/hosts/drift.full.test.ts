import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { SHORT_TIMINGS } from '../../timings.ts';
import { aMachineWorld, SLEEPER } from './world.ts';

describeWithEngine('a manual change', () => {
  const world = aMachineWorld();
  let id: string;
  let name: string;

  /** Makes the deployment due. */
  const reconcileNow = () => world().database.client.deployment.update({ where: { id }, data: { due_at: new Date() } });

  beforeAll(async () => {
    ({ id } = await world().deployed('web', SLEEPER, { replicas: 2 }));
    name = (await world().deploymentIs(id, 'running')).instances[0].name;
  });

  test.each([
    ['removed', () => world().podman.discard(name), () => `engine: created ${name} again: it was missing`],
    ['paused', () => world().podman.byHand('pause', name), () => `engine: resumed ${name}: it was paused`],
  ])('is corrected with an event if a container is %s', async (_, doIt, event) => {
    const { containers, deploymentIs, events } = world();
    const other = (await containers(id))[1];
    await doIt();
    await reconcileNow();
    await eventually('the change is corrected', async () => (await events(id)).includes(event()));
    await deploymentIs(id, 'running');
    const now = await containers(id);
    expect(now.map(({ state }) => state)).toEqual(['running', 'running']);
    expect(now[1]).toEqual(other);
  });

  test('is corrected with an event if a container is stopped', async () => {
    const { containers, podman, deploymentIs, events } = world();
    await eventually('a stop no longer counts as a crash', async () => {
      const { StartedAt } = JSON.parse(await podman.byHand('inspect', '--format', '{{json .State}}', name));
      return Date.now() - Date.parse(StartedAt) > 2 * SHORT_TIMINGS.reconciler.docker.stable;
    });
    await podman.byHand('stop', name).catch((error: Error) => {
      // The fleet has started the container again before the command has ended.
      if (!error.message.includes('is running or paused')) throw error;
    });
    await reconcileNow();
    const correction = `engine: started ${name} again: it has stopped (exit code 0)`;
    await eventually('the change is corrected', async () => (await events(id)).includes(correction));
    await deploymentIs(id, 'running');
    expect((await containers(id)).map(({ state }) => state)).toEqual(['running', 'running']);
  });

  test('of similar containers that do not belong to the fleet is left alone', async () => {
    const { podman, deploymentIs, ask, removed, containers } = world();
    const sleep = [podman.image, '/bin/sh', '-c', 'sleep 1000'];
    const label = (key: string, value: string) => ['--label', `${key}=${value}`];
    const own = label('fleet/deployment', id);
    const managed = label('app.kubernetes.io/managed-by', 'fleet');
    const strangers = await Promise.all([
      podman.byHand('run', '--detach', '--name', name.replace(/-0$/, '-7'), ...sleep),
      podman.byHand('run', '--detach', '--name', `${name}-too`, ...own, ...sleep),
      podman.byHand('run', '--detach', '--name', 'alike', ...own, ...managed, ...label('fleet/ordinal', '5'), ...sleep),
      podman.byHand('volume', 'create', ...managed, 'alike'),
    ]);
    await ask(id, 'scale', { replicas: 1 });
    await deploymentIs(id, 'running');
    await removed(id);
    expect((await containers(id)).map((container) => container.name)).toEqual(['alike', `${name}-too`].sort());
    const left = await podman.byHand('ps', '--no-trunc', '--quiet');
    expect(left.split('\n').sort()).toEqual(strangers.slice(0, 3).sort());
    expect(await podman.byHand('volume', 'ls', '--quiet')).toBe('alike');
  });
});
