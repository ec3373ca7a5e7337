import { eventually } from '@svc/testing';
import { describeWithEngine, startEngine, type TestEngine } from '@svc/testing/engine';
import { type EngineProxy, startEngineProxy } from './engine-proxy.ts';
import { aMachineWorld, SLEEPER } from './world.ts';

describeWithEngine('an unreachable host', () => {
  const world = aMachineWorld();
  let proxy: EngineProxy;
  let second: TestEngine;
  let target: { readonly target: { readonly host_id: string } };
  let id: string;

  beforeAll(async () => {
    second = await startEngine();
    proxy = await startEngineProxy(second.endpoint);
    const { id: host_id } = await world().aHost({ name: 'far-away', endpoint: proxy.endpoint });
    await world().hostIs(host_id, 'online');
    target = { target: { host_id } };
    ({ id } = await world().deployed('there', SLEEPER, target));
    await world().deploymentIs(id, 'running');
  });
  afterAll(async () => {
    await proxy?.stop();
    await second?.stop();
  });

  /** Makes the check of the host due, and waits until its reachability is as given. */
  const hostIs = async (reachability: string) => {
    const data = { check_at: new Date(0) };
    await world().database.client.host.update({ where: { id: target.target.host_id }, data });
    return world().hostIs(target.target.host_id, reachability);
  };
  const removeByHand = async () => {
    const [container] = await world().containers(id, second);
    await second.discard(container?.name ?? '');
  };

  test('leaves the state of its deployments unchanged, with a condition, until it is reachable again', async () => {
    const { api, ask, deployment, deploymentIs, containers, host } = world();
    await proxy.stopListening();
    expect(await hostIs('unreachable')).toMatchObject({
      message: 'The socket of its endpoint does not exist on the machine of this service.',
      capacity: expect.anything(),
    });
    expect(await deployment(id)).toMatchObject({
      phase: 'running',
      reason: null,
      conditions: [{ type: 'TargetReachable', status: 'False', reason: 'TargetUnreachable' }],
    });
    await removeByHand();
    const more = { replicas: 2 };
    // Not placed on another host.
    expect(await api.post(`/api/v1/deployments/${id}/scale`, more)).toMatchObject({ status: 422 });
    await ask(id, 'restart');
    await proxy.startListening();
    expect((await deploymentIs(id, 'running')).conditions).toEqual([]);
    expect(await containers(id, second)).toHaveLength(1);
    expect(await containers(id)).toEqual([]);
    expect(await host(target.target.host_id)).toMatchObject({ reachability: 'online', message: '' });
  });

  test('is detected by a failed reconciliation before its next check', async () => {
    const { ask, deployment, deploymentIs } = world();
    proxy.setFault((request) => (request.includes('/containers/') ? 'hangs' : 'passed'));
    const hung = proxy.seen.hangs;
    await ask(id, 'restart');
    await eventually('the engine receives a request', async () => proxy.seen.hangs > hung);
    await proxy.stopListening();
    await world().hostIs(target.target.host_id, 'unreachable');
    expect(await deployment(id)).toMatchObject({ phase: 'pending', conditions: [{ status: 'False' }] });
    proxy.setFault(() => 'passed');
    await proxy.startListening();
    await deploymentIs(id, 'running');
  });

  test('does not delay deployments on another host while requests get no response', async () => {
    const { deployed, deploymentIs, containers, hostId } = world();
    proxy.setFault(() => 'hangs');
    const hung = proxy.seen.hangs;
    const waiting: { readonly id: string }[] = [];
    for (let number = 1; number <= 6; number += 1) waiting.push(await deployed(`waits-${number}`, SLEEPER, target));
    await eventually('the engine receives a request', async () => proxy.seen.hangs > hung);
    const { id: here } = await deployed('here', SLEEPER, { target: { host_id: hostId } });
    await deploymentIs(here, 'running');
    expect(await containers(here)).toHaveLength(1);
    expect(proxy.underWay()).toBeGreaterThan(0);
    proxy.setFault(() => 'passed');
    for (const { id: each } of waiting) await deploymentIs(each, 'running');
    expect((await Promise.all(waiting.map((each) => containers(each.id, second)))).map((all) => all.length)).toEqual([
      1, 1, 1, 1, 1, 1,
    ]);
  });

  test('cannot be deleted if it has deployments, and their containers are removed when it is reachable again', async () => {
    const { api, good, containers } = world();
    await proxy.stopListening();
    await hostIs('unreachable');
    await good(api.delete(`/api/v1/deployments/${id}`));
    expect(await api.delete(`/api/v1/hosts/${target.target.host_id}`)).toMatchObject({ status: 409 });
    expect((await world().deployment(id)).phase).toBe('deleting');
    await proxy.startListening();
    await eventually(
      'the deployment is deleted',
      async () => (await api.get(`/api/v1/deployments/${id}`)).status === 404,
    );
    expect(await containers(id, second)).toEqual([]);
  });
});
