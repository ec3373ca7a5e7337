import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();

test('the events of operations state what changed, and from what', async () => {
  await it.aHost();
  const workload = await it.aWorkload({ env_schema: [{ name: 'NAME' }, { name: 'OTHER' }, { name: 'KEPT' }] });
  const { id } = await it.deployed({ workload_id: workload.id, env: { NAME: 'first', KEPT: 'x' } });
  await it.operator.put(`/api/v1/workloads/${workload.id}`, { image_tag: '2' });
  await it.change(id, { revision: 2 });
  await it.change(id, { env: { OTHER: 'second', KEPT: 'x' } });
  await it.ask(id, 'scale', { replicas: 4 });
  await it.ask(id, 'stop');
  await it.ask(id, 'rollback', { generation: 1 });
  const events = await it.events(id);
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
  await it.aHost();
  const { id } = await it.deployed();
  await it.ask(id, 'scale', { replicas: 2 });
  await it.ask(id, 'scale', { replicas: 3 });
  const { body } = await it.operator.get(`/api/v1/deployments/${id}/events?limit=1&page=2`);
  expect(body.events).toEqual([
    expect.objectContaining({ reason: 'scale', details: { replicas: { from: 1, to: 2 } } }),
  ]);
});

test('what happened to a deployment has no details', async () => {
  await it.aHost();
  const { id } = await it.deployed();
  await it.world.database.client.deploymentEvent.create({
    data: { deployment_id: id, kind: 'event', generation: 1, reason: 'Started', message: 'started' },
  });
  const [event] = await it.events(id);
  expect(event).toMatchObject({ kind: 'event', details: null });
});

test('details contain no values of variables', async () => {
  await it.aHost();
  const workload = await it.aWorkload({ env_schema: [{ name: 'NAME' }] });
  const { id } = await it.deployed({ workload_id: workload.id, env: { NAME: 'value-of-the-variable' } });
  expect(JSON.stringify(await it.events(id))).not.toContain('value-of-the-variable');
});
