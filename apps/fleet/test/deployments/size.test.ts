import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();

/** With 1,000 replicas, the configuration of this workload exceeds 64 MiB. */
const large = { cpu_request: '', env: ['A', 'B', 'C'].map((name) => ({ name, value: 'x'.repeat(30_000) })) };
const REPLICAS = 1000;

const tooLarge = {
  code: 'validation_failed',
  errors: [
    {
      path: 'replicas',
      message: expect.stringMatching(
        /^must be at most 7\d\d for this .* all replicas together must have at most 64 MiB$/,
      ),
    },
  ],
};

/** A deployment of the large workload with one replica, and recorded generations with 1,000 replicas and with one. */
async function aLargeDeployment() {
  await it.aHost();
  const deployment = await it.deployed({ workload: large });
  await it.ask(deployment.id, 'scale', { replicas: 2 });
  await it.client.deploymentRevision.updateMany({
    where: { deployment_id: deployment.id, generation: 1 },
    data: { replicas: REPLICAS },
  });
  return deployment;
}

test('a deployment whose replicas are too large together is rejected by every operation, and nothing is changed', async () => {
  const { id, workload_id } = await aLargeDeployment();
  const before = await it.contents();
  const answers = {
    create: await it.deploy({ workload_id, replicas: REPLICAS }),
    createStopped: await it.deploy({ workload_id, replicas: REPLICAS, desired_state: 'stopped' }),
    update: await it.change(id, { replicas: REPLICAS }),
    scale: await it.ask(id, 'scale', { replicas: REPLICAS }),
    rollback: await it.ask(id, 'rollback', { generation: 1 }),
    planCreate: await it.plan({ workload_id, replicas: REPLICAS }),
    planChange: await it.plan({ deployment_id: id, replicas: REPLICAS }),
  };
  for (const [operation, { status, body }] of Object.entries(answers)) {
    expect({ operation, status, body }).toMatchObject({ operation, status: 400, body: tooLarge });
  }
  expect(await it.contents()).toEqual(before);
});

test('the environment of a deployment counts for its size', async () => {
  await it.aHost();
  const { id } = await it.aWorkload({ cpu_request: '', env_schema: [{ name: 'A' }, { name: 'B' }, { name: 'C' }] });
  const request = { workload_id: id, replicas: REPLICAS };
  expect((await it.plan(request)).status).toBe(200);
  const env = Object.fromEntries(large.env.map(({ name, value }) => [name, value]));
  const { status, body } = await it.plan({ ...request, env });
  expect({ status, body }).toMatchObject({ status: 400, body: tooLarge });
});

test('an existing deployment that is too large can be stopped, started, relabelled and restarted, but not enlarged', async () => {
  const { id } = await aLargeDeployment();
  await it.client.deployment.update({ where: { id }, data: { replicas: REPLICAS } });
  const statuses = [
    await it.ask(id, 'stop'),
    await it.ask(id, 'start'),
    await it.change(id, { labels: { a: 'b' }, replicas: REPLICAS }),
    await it.ask(id, 'restart'),
    await it.ask(id, 'scale', { replicas: REPLICAS - 1 }),
    await it.ask(id, 'scale', { replicas: 3 }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200, 400, 200]);
});
