import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();

test('the events of operations state what changed, and from what', async () => {
  await fleet.aHost();
  const workload = await fleet.aWorkload({ env_schema: [{ name: 'NAME' }, { name: 'OTHER' }, { name: 'KEPT' }] });
  const { id } = await fleet.deployed({ workload_id: workload.id, env: { NAME: 'first', KEPT: 'x' } });
  await fleet.operator.put(`/api/v1/workloads/${workload.id}`, { image_tag: '2' });
  await fleet.change(id, { revision: 2 });
  await fleet.change(id, { env: { OTHER: 'second', KEPT: 'x' } });
  await fleet.ask(id, 'scale', { replicas: 4 });
  await fleet.ask(id, 'stop');
  await fleet.ask(id, 'rollback', { generation: 1 });
  const events = await fleet.events(id);
  const shown = events.map(({ reason, details }: { reason: string; details: unknown }) => [reason, details]);
  expect(shown.reverse()).toEqual([
    [
      'create',
      {
        revision: { from: null, to: 1 },
        replicas: { from: null, to: 1 },
        desired_state: { from: null, to: 'running' },
        env: ['KEPT', 'NAME'],
      },
    ],
    ['update', { revision: { from: 1, to: 2 } }],
    ['update', { env: ['NAME', 'OTHER'] }],
    ['scale', { replicas: { from: 1, to: 4 } }],
    ['stop', { desired_state: { from: 'running', to: 'stopped' } }],
    [
      'rollback',
      expect.objectContaining({ revision: { from: 2, to: 1 }, replicas: { from: 4, to: 1 }, env: ['NAME', 'OTHER'] }),
    ],
  ]);
});

test('events on different pages have the same details', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed();
  await fleet.ask(id, 'scale', { replicas: 2 });
  await fleet.ask(id, 'scale', { replicas: 3 });
  const { body } = await fleet.operator.get(`/api/v1/deployments/${id}/events?limit=1&page=2`);
  expect(body.events).toEqual([
    expect.objectContaining({ reason: 'scale', details: { replicas: { from: 1, to: 2 } } }),
  ]);
});

test('what happened to a deployment has no details', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed();
  await fleet.world.database.client.deploymentEvent.create({
    data: { deployment_id: id, kind: 'event', generation: 1, reason: 'Started', message: 'started' },
  });
  const [event] = await fleet.events(id);
  expect(event).toMatchObject({ kind: 'event', details: null });
});

test('details contain no values of variables', async () => {
  await fleet.aHost();
  const workload = await fleet.aWorkload({ env_schema: [{ name: 'NAME' }] });
  const { id } = await fleet.deployed({ workload_id: workload.id, env: { NAME: 'value-of-the-variable' } });
  expect(JSON.stringify(await fleet.events(id))).not.toContain('value-of-the-variable');
});
