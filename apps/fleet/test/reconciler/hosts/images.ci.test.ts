import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { aPlainTemplate } from '../../deployments/templates/advised.ts';
import { SLEEP } from '../../engines/world.ts';
import { aSigner, keyringOf, signedBy } from '../../trust/signed.ts';
import type { Body } from '../deployment-helpers.ts';
import { startRealRegistry } from './registry.ts';
import { type MachineWorld, startMachineWorld } from './world.ts';

describeWithEngine('an image of a real registry', () => {
  let registry: Awaited<ReturnType<typeof startRealRegistry>>;
  let world: MachineWorld;
  beforeAll(async () => {
    registry = await startRealRegistry();
    world = await startMachineWorld(undefined, { insecureRegistry: registry.address });
    const { id } = await world.aHost();
    await world.hostIs(id, 'online');
  });
  afterAll(async () => {
    await world.stop();
    await registry.stop();
  });

  const image = (image_tag: string) => ({ registry_url: registry.address, image_name: 'app', image_tag });
  const program = { command: ['/bin/sh', '-c', SLEEP] };
  /** An update then replaces a container as soon as the new one runs. */
  const updates = { ready_seconds: 0 };
  const deployed = async (name: string, image_tag: string, given: Body = {}) =>
    (await world.deployed(name, { ...image(image_tag), ...program }, { updates, ...given })).id as string;
  /** The version of the image that a deployment runs, and its digest, when it runs. */
  const running = async (id: string) => {
    const { image: shown, conditions } = await world.deploymentIs(id, 'running');
    // A container of before can be removed while it is read.
    const details = await eventually('its containers are read', async () => {
      const ids = (await world.containers(id)).map((container) => container.id);
      return Promise.all(ids.map((each) => world.podman.read(`/containers/${each}/json`))).catch(() => undefined);
    });
    const env: string[] = details.flatMap(({ Config }) => Config.Env);
    const versions = new Set(env.flatMap((variable) => /^VERSION=(.*)$/.exec(variable)?.[1] ?? []));
    return { versions: [...versions], digest: shown.digest, conditions };
  };
  const change = (id: string, body: Body) => world.good(world.api.put(`/api/v1/deployments/${id}`, body));
  /** Removes the only container of a deployment by hand, and waits for another one. */
  const lose = async (id: string) => {
    const [lost] = await world.containers(id);
    await world.podman.discard(lost?.name ?? '');
    await eventually('another container exists', async () => {
      const [found] = await world.containers(id);
      return found !== undefined && found.id !== lost?.id;
    });
  };

  test('with the tag latest is pulled again by a restart, by a start and by a new revision', async () => {
    const first = await registry.push('1', 'latest');
    const id = await deployed('latest', 'latest');
    expect(await running(id)).toMatchObject({ versions: ['1'], digest: first });
    const second = await registry.push('2', 'latest');
    await world.ask(id, 'restart');
    expect(await running(id)).toMatchObject({ versions: ['2'], digest: second });
    const third = await registry.push('3', 'latest');
    await world.ask(id, 'stop');
    expect((await world.deploymentIs(id, 'stopped')).image.digest).toBeNull();
    await world.ask(id, 'start');
    expect(await running(id)).toMatchObject({ versions: ['3'], digest: third });
    const fourth = await registry.push('4', 'latest');
    const { workload_id } = await world.deployment(id);
    // No engine receives this member, so that only the image is another one.
    await world.good(
      world.api.put(`/api/v1/workloads/${workload_id}`, { node_selector: { 'kubernetes.io/os': 'linux' } }),
    );
    await world.good(world.api.put(`/api/v1/workloads/${workload_id}`, { node_selector: {} }));
    await change(id, { revision: 3 });
    expect(await running(id)).toMatchObject({ versions: ['4'], digest: fourth });
  });

  test('stays the same after drift and scaling, also if the tag has moved on the host', async () => {
    const first = await registry.push('drift-1', 'latest');
    const id = await deployed('drift', 'latest');
    expect(await running(id)).toMatchObject({ versions: ['drift-1'], digest: first });
    await registry.push('drift-2', 'latest');
    await world.podman.byHand('pull', `${registry.address}/app:latest`);
    await lose(id);
    expect(await running(id)).toMatchObject({ versions: ['drift-1'], digest: first });
    // The image has no name on the host any more, so that it is removed with its container.
    const [container] = await world.containers(id);
    const { Image: old } = await world.podman.read(`/containers/${container?.id}/json`);
    // The fleet can create the next container while the image is being removed.
    await eventually('the image is removed', () =>
      world.podman.byHand('rmi', '--force', old).then(
        () => true,
        (error: unknown) => String(error).includes('image not known'),
      ),
    );
    await eventually('another container exists', async () => {
      const [found] = await world.containers(id);
      return found !== undefined && found.id !== container?.id;
    });
    await world.ask(id, 'scale', { replicas: 2 });
    expect(await running(id)).toMatchObject({ versions: ['drift-1'], digest: first });
  });

  test('that is present is used with a condition while its registry does not answer', async () => {
    const first = await registry.push('outage-1', 'latest');
    const id = await deployed('outage', 'latest', { pull: 'always' });
    expect(await running(id)).toMatchObject({ digest: first, conditions: [] });
    await registry.halt();
    await world.ask(id, 'restart');
    expect(await running(id)).toMatchObject({
      digest: first,
      conditions: [{ type: 'ImagePulled', status: 'False', reason: 'ImagePullFailed' }],
    });
    await registry.resume();
    const second = await registry.push('outage-2', 'latest');
    await world.ask(id, 'restart');
    expect(await running(id)).toMatchObject({ versions: ['outage-2'], digest: second, conditions: [] });
  });

  test('with another tag is pulled again only on request', async () => {
    const first = await registry.push('tag-1', '1.0');
    const id = await deployed('tag', '1.0');
    expect(await running(id)).toMatchObject({ digest: first });
    const second = await registry.push('tag-2', '1.0');
    await world.ask(id, 'restart');
    expect(await running(id)).toMatchObject({ digest: first });
    const { deployment } = await change(id, { pull: 'always' });
    expect(deployment).toMatchObject({ pull: 'always', phase: 'running', generation: 2 });
    await world.ask(id, 'restart');
    expect(await running(id)).toMatchObject({ versions: ['tag-2'], digest: second });
  });

  test('that its tag names later is found by a check, and runs only after an update, which returns if it fails', async () => {
    const { api, good, ask } = world;
    const first = await registry.push('moved-1', '3.0');
    const fails = ['/bin/sh', '-c', `[ "$VERSION" != broken ] || exit 3; ${SLEEP}`];
    const given = { updates: { ...updates, deadline_seconds: 600 } };
    const { id } = await world.deployed('moved', { ...image('3.0'), command: fails }, given);
    const succeeded = (generation: number, state = 'succeeded') =>
      eventually(`the rollout of generation ${generation} has ${state}`, () => world.deployment(id), {
        until: ({ rollout }) => rollout?.generation === generation && rollout.state === state,
        withinMs: 60_000,
      });
    const checked = async () => {
      await good(api.post(`/api/v1/deployments/${id}/check-image`));
      return eventually('the tag is checked', () => world.deployment(id), { until: (shown) => !shown.image.checking });
    };
    const upgraded = async (to_digest: string) => {
      const plan = await good(api.post('/api/v1/deployments/plan', { deployment_id: id, upgrade: true }));
      expect(plan.image).toMatchObject({ reference: `${registry.address}/app:3.0`, to_digest });
      await good(api.post(`/api/v1/deployments/${id}/upgrade`, { expected: plan.digest }));
    };
    await succeeded(1);
    expect(await checked()).toMatchObject({ update: null, image: { digest: first, latest_digest: first } });
    const second = await registry.push('moved-2', '3.0');
    expect((await checked()).update).toMatchObject({ kinds: ['image'], to_digest: second, held: null });
    // Podman has pulled the tag for the check.
    await ask(id, 'restart');
    await succeeded(2);
    expect(await running(id)).toMatchObject({ versions: ['moved-1'], digest: first });
    await upgraded(second);
    expect(await succeeded(3)).toMatchObject({ update: null, image: { digest: second, latest_digest: second } });
    expect(await running(id)).toMatchObject({ versions: ['moved-2'] });
    const broken = await registry.push('broken', '3.0');
    await checked();
    await upgraded(broken);
    const returned = await succeeded(5, 'rolled_back');
    expect(returned.update).toMatchObject({ to_digest: broken, held: { reason: 'CrashLoop', generation: 4 } });
    expect(await running(id)).toMatchObject({ versions: ['moved-2'], digest: second });
    await ask(id, 'rollback', { generation: 1 });
    await succeeded(6);
    expect(await running(id)).toMatchObject({ versions: ['moved-1'], digest: first });
  });

  test('is the one of its digest, until the tag is changed', async () => {
    const first = await registry.push('digest-1', '2.0');
    await registry.push('digest-2', '2.0');
    const { id: workload_id, ...workload } = await world.aWorkload('digest', {
      registry_url: registry.address,
      image_name: `app:2.0@${first}`,
      ...program,
    });
    expect(workload).toMatchObject({ image_name: 'app', image_tag: '2.0', image_digest: first });
    const body = { name: 'digest', workload_id, pull: 'always', updates };
    const { id } = (await world.good(world.api.post('/api/v1/deployments', body))).deployment;
    expect(await running(id)).toMatchObject({ versions: ['digest-1'], digest: first });
    const third = await registry.push('digest-3', '2.1');
    const changed = await world.good(world.api.put(`/api/v1/workloads/${workload_id}`, { image_tag: '2.1' }));
    expect(changed.workload).toMatchObject({ image_digest: null, revision: 2 });
    await change(id, { revision: 2 });
    expect(await running(id)).toMatchObject({ versions: ['digest-3'], digest: third });
  });

  test('that is signed by its digest is what runs and what is deployed, whatever its tag names later', async () => {
    const { api, good, hub, ask } = world;
    const [root, key] = await Promise.all([aSigner(), aSigner()]);
    const first = await registry.push('signed-1', '4.0');
    const template = aPlainTemplate({ ...image('4.0'), ...program, image_digest: first, ports: [], env: [] });
    const images = [`${registry.address}/*`];
    await good(api.post('/api/v1/settings/publishers', { slug: 'acme', name: 'Acme', root: root.key, images }));
    const keyring = await keyringOf(root, { keys: [key.key] });
    await good(api.put('/api/v1/settings/publishers/acme/keyring', { keyring }));
    await good(api.put('/api/v1/settings/trust', { mode: 'require', require_digest: true, by_hand: 'refuse' }));
    hub.publish(await signedBy(key, template));
    await world.sync.run();
    const deploy = async (name: string) =>
      (await good(api.post('/api/v1/deployments', { name, template: 'tool', pull: 'always', updates }))).deployment.id;
    const id = await deploy('signed');
    expect(await running(id)).toMatchObject({ versions: ['signed-1'], digest: first });
    await registry.push('signed-2', '4.0');
    await ask(id, 'restart');
    expect(await running(id)).toMatchObject({ versions: ['signed-1'], digest: first });
    expect(await running(await deploy('signed-later'))).toMatchObject({ versions: ['signed-1'], digest: first });
    hub.publish({ ...(await signedBy(key, template)), image_digest: null });
    await world.sync.run();
    const refused = await api.post('/api/v1/deployments', { name: 'unpinned', template: 'tool' });
    expect([refused.status, refused.body.code]).toEqual([422, 'template_untrusted']);
    await good(api.put('/api/v1/settings/trust', { mode: 'off' }));
  });

  test('that the host does not have is never pulled if the deployment says so', async () => {
    await registry.push('never', 'never');
    const id = await deployed('never', 'never', { pull: 'never' });
    const { message } = await world.deploymentIs(id, 'failed', 'ImageNotFound');
    expect(message).toMatch(/is not on the host, and the deployment never pulls it/);
    await world.podman.byHand('pull', `${registry.address}/app:never`);
    await world.ask(id, 'restart');
    expect(await running(id)).toMatchObject({ versions: ['never'] });
  });
}, ['docker-registry']);
