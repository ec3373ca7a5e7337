import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();

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

/**
 * A deployment of the large workload with one replica, and recorded generations with 1,000 replicas
 * and with one.
 */
async function aLargeDeployment() {
  await fleet.aHost();
  const deployment = await fleet.deployed({ workload: large });
  await fleet.ask(deployment.id, 'scale', { replicas: 2 });
  await fleet.client.deploymentRevision.updateMany({
    where: { deployment_id: deployment.id, generation: 1 },
    data: { replicas: REPLICAS },
  });
  return deployment;
}

test('a deployment whose replicas are too large together is rejected by every operation, and nothing is changed', async () => {
  const { id, workload_id } = await aLargeDeployment();
  const before = await fleet.contents();
  const answers = {
    create: await fleet.deploy({ workload_id, replicas: REPLICAS }),
    createStopped: await fleet.deploy({ workload_id, replicas: REPLICAS, desired_state: 'stopped' }),
    update: await fleet.change(id, { replicas: REPLICAS }),
    scale: await fleet.ask(id, 'scale', { replicas: REPLICAS }),
    rollback: await fleet.ask(id, 'rollback', { generation: 1 }),
    planCreate: await fleet.plan({ workload_id, replicas: REPLICAS }),
    planChange: await fleet.plan({ deployment_id: id, replicas: REPLICAS }),
  };
  for (const [operation, { status, body }] of Object.entries(answers)) {
    expect({ operation, status, body }).toMatchObject({ operation, status: 400, body: tooLarge });
  }
  expect(await fleet.contents()).toEqual(before);
});

test('the environment of a deployment counts for its size', async () => {
  await fleet.aHost();
  const { id } = await fleet.aWorkload({ cpu_request: '', env_schema: [{ name: 'A' }, { name: 'B' }, { name: 'C' }] });
  const request = { workload_id: id, replicas: REPLICAS };
  expect((await fleet.plan(request)).status).toBe(200);
  const env = Object.fromEntries(large.env.map(({ name, value }) => [name, value]));
  const { status, body } = await fleet.plan({ ...request, env });
  expect({ status, body }).toMatchObject({ status: 400, body: tooLarge });
});

test('an existing deployment that is too large can be stopped, started, relabelled and restarted, but not enlarged', async () => {
  const { id } = await aLargeDeployment();
  await fleet.client.deployment.update({ where: { id }, data: { replicas: REPLICAS } });
  const statuses = [
    await fleet.ask(id, 'stop'),
    await fleet.ask(id, 'start'),
    await fleet.change(id, { labels: { a: 'b' }, replicas: REPLICAS }),
    await fleet.ask(id, 'restart'),
    await fleet.ask(id, 'scale', { replicas: REPLICAS - 1 }),
    await fleet.ask(id, 'scale', { replicas: 3 }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200, 400, 200]);
});
