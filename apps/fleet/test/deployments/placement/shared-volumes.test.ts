// A ReadWriteOnce volume has one writer: one replica of one deployment.
import { expectRefusedIn, fieldError } from '../expect-refused.ts';
import { startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const refused = expectRefusedIn(fleet);

const workload = { env_schema: [{ name: 'NAME' }], volume_mounts: [{ name: 'data', mountPath: '/data' }] };
const TWO_WRITERS = fieldError('replicas', 'must be 1', 'ReadWriteOnce', 'ReadWriteMany');

/** A deployment with two replicas and one volume, as version 0.1.0 could create it. */
async function anOldDeployment() {
  const { id } = await fleet.deployed({ name: 'old', workload });
  await fleet.client.deployment.update({ where: { id }, data: { replicas: 2, cpu_millis: 2000 } });
  await fleet.client.deploymentRevision.updateMany({ where: { deployment_id: id }, data: { replicas: 2 } });
  return id;
}

const sharedIn = ({ conditions }: { conditions: { type: string; message: string }[] }) =>
  conditions.filter(({ type }) => type === 'VolumeShared').map(({ message }) => message);

test.each(['host', 'cluster'])(
  'a new deployment on a %s is rejected with two replicas and a ReadWriteOnce volume',
  async (kind) => {
    await (kind === 'host' ? fleet.aHost() : fleet.aCluster());
    const { id } = await fleet.aWorkload(workload);
    for (const desired_state of ['running', 'stopped']) {
      const body = { workload_id: id, replicas: 2, desired_state };
      expect(await refused(body, 'deployment_refused')).toEqual([TWO_WRITERS]);
    }
  },
);

test('several replicas can share ReadWriteMany and ReadOnlyMany volumes', async () => {
  await fleet.aHost();
  for (const access_mode of ['ReadWriteMany', 'ReadOnlyMany']) {
    const { id: storage_id } = await fleet.aVolume({ access_mode });
    const { id } = await fleet.deployed({ workload, replicas: 2, volumes: { data: { storage_id } } });
    expect((await fleet.ask(id, 'scale', { replicas: 3 })).status).toBe(200);
    expect(sharedIn(await fleet.deployment(id))).toEqual([]);
  }
});

test('a change to two replicas with a ReadWriteOnce volume is rejected in every way, and its plan says so', async () => {
  await fleet.aHost();
  const { id, workload_id } = await fleet.deployed({ workload });
  const expectRejected = async (answer: ReturnType<typeof fleet.ask>) => {
    const { status, body } = await answer;
    expect({ status, code: body.code, errors: body.errors }).toEqual({
      status: 422,
      code: 'deployment_refused',
      errors: [TWO_WRITERS],
    });
  };
  await expectRejected(fleet.ask(id, 'scale', { replicas: 2 }));
  await expectRejected(fleet.change(id, { replicas: 2 }));
  expect((await fleet.plan({ deployment_id: id, replicas: 2 })).body).toMatchObject({
    ok: false,
    refusals: [TWO_WRITERS],
  });

  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { volume_mounts: [] });
  expect((await fleet.change(id, { revision: 2, replicas: 2 })).status).toBe(200);
  await expectRejected(fleet.change(id, { revision: 1 }));
  expect(await fleet.deployment(id)).toMatchObject({ revision: 2, replicas: 2 });
});

test('an existing deployment whose replicas share a ReadWriteOnce volume keeps running and shows it', async () => {
  await fleet.aHost();
  const id = await anOldDeployment();
  expect(sharedIn(await fleet.deployment(id))).toEqual([
    expect.stringMatching(/^2 replicas write to ReadWriteOnce volumes: old-data\. Scale it to 1 replica/),
  ]);
  expect((await fleet.change(id, { labels: { team: 'ml' } })).status).toBe(200);
  for (const request of [
    fleet.ask(id, 'scale', { replicas: 3 }),
    fleet.ask(id, 'restart'),
    fleet.change(id, { env: { NAME: 'new' } }),
  ]) {
    expect((await request).body.errors).toEqual([TWO_WRITERS]);
  }
  expect(await fleet.deployment(id)).toMatchObject({ replicas: 2, generation: 1 });
});

test('an existing deployment whose replicas share a ReadWriteOnce volume can be stopped and scaled down', async () => {
  await fleet.aHost();
  const id = await anOldDeployment();
  expect((await fleet.ask(id, 'stop')).status).toBe(200);
  expect((await fleet.ask(id, 'start')).body.errors).toEqual([TWO_WRITERS]);
  // It equals the current state.
  expect((await fleet.ask(id, 'rollback', { generation: 1 })).body.errors).toBeUndefined();
  expect((await fleet.ask(id, 'scale', { replicas: 1 })).status).toBe(200);
  expect((await fleet.ask(id, 'start')).status).toBe(200);
  expect(sharedIn(await fleet.deployment(id))).toEqual([]);
  expect((await fleet.ask(id, 'rollback', { generation: 1 })).body.errors).toEqual([TWO_WRITERS]);
});

test('a running deployment cannot add a ReadWriteOnce volume of another deployment, or a volume of another host', async () => {
  const here = await fleet.aHost();
  const there = await fleet.aHost();
  const owner = await fleet.deployed({ name: 'owner', workload, target: { host_id: here.id } });
  const elsewhere = await fleet.aVolume({ name: 'elsewhere', target: { host_id: there.id } });
  const { id, workload_id } = await fleet.deployed({ workload: { volume_mounts: [] }, target: { host_id: here.id } });
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { volume_mounts: workload.volume_mounts });
  const { storage_id } = owner.volumes.data;
  for (const [volume, ...words] of [
    [storage_id, 'ReadWriteOnce', 'owner'],
    [elsewhere.id, 'elsewhere', 'another host'],
  ] as const) {
    const body = { revision: 2, volumes: { data: { storage_id: volume } } };
    const { status, body: answer } = await fleet.change(id, body);
    expect({ status, code: answer.code, errors: answer.errors }).toEqual({
      status: 422,
      code: 'unknown_volume',
      errors: [fieldError('volumes.data', ...words)],
    });
    expect((await fleet.plan({ deployment_id: id, ...body })).body.ok).toBe(false);
  }
  expect((await fleet.change(id, { revision: 2 })).status).toBe(200);
});

test('two deployments that already share a ReadWriteOnce volume show it', async () => {
  await fleet.aHost();
  const one = await fleet.deployed({ name: 'one', workload });
  const other = await fleet.deployed({ name: 'other', workload });
  const { storage_id } = one.volumes.data;
  await fleet.client.attachment.updateMany({ where: { deployment_id: other.id }, data: { volume_id: storage_id } });
  for (const { id } of [one, other]) {
    expect(sharedIn(await fleet.deployment(id))).toEqual([
      expect.stringMatching(/^Several deployments write to ReadWriteOnce volumes: one-data\. Delete one/),
    ]);
  }
});
