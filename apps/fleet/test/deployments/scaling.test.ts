// Who sets the number of replicas of a deployment, through the API.
import { describe, expect, test } from '@jest/globals';
import { expectRefusedIn, fieldError } from './expect-refused.ts';
import { type Body, GIB, startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;
const expectRefused = expectRefusedIn(fleet);

const BOUNDS = { min_replicas: 2, max_replicas: 6, cpu_percent: 80 };
const onCluster = async (given: Body = {}) => ({ target: { cluster_id: (await fleet.aCluster(given)).id } });

/** A deployment on a cluster of which a worker has observed a number of replicas. */
async function aDeployment(given: Body = {}, observed?: { replicas: number; manager: string | null }) {
  const deployment = await fleet.deployed({ ...(await onCluster()), ...given });
  if (observed) await client.deployment.update({ where: { id: deployment.id }, data: { observed_scale: observed } });
  return deployment;
}

const storedOf = (id: string) => client.deployment.findUniqueOrThrow({ where: { id } });

describe('autoscaling of a deployment', () => {
  test('is stored with its generation, counts the highest number, and is rendered', async () => {
    const made = await aDeployment({ workload: { cpu_request: '1', memory_request: '1Gi' }, autoscaling: BOUNDS });
    expect(made).toMatchObject({ replicas: 1, autoscaling: BOUNDS, scaled_by: 'fleet', current_replicas: null });
    expect(await storedOf(made.id)).toMatchObject({ cpu_millis: 6000n, memory_bytes: BigInt(6 * GIB) });
    expect(await fleet.revisions(made.id)).toMatchObject([{ replicas: 1, autoscaling: BOUNDS, scaled_by: 'fleet' }]);
    const manifest = await fleet.manifest(made.id);
    expect(manifest).toMatchObject([
      { kind: 'Deployment', spec: { replicas: 2 } },
      { kind: 'HorizontalPodAutoscaler', spec: { minReplicas: 2, maxReplicas: 6, targetCPUUtilizationPercentage: 80 } },
    ]);
  });

  test('is planned with the resources of the highest number', async () => {
    const { target } = await onCluster({ cpus: 4 });
    const { id: workload_id } = await fleet.aWorkload({ cpu_request: '1' });
    const request = { workload_id, target, autoscaling: BOUNDS };
    const { body: rejected } = await fleet.plan(request);
    expect(rejected.ok).toBe(false);
    expect(rejected.placement.candidates[0].reasons).toEqual([expect.stringContaining('needs 6 CPUs')]);
    const { body: accepted } = await fleet.plan({ ...request, autoscaling: { ...BOUNDS, max_replicas: 4 } });
    expect(accepted).toMatchObject({ ok: true, changes: [{ action: 'create' }, { action: 'create' }] });
  });

  test('is refused for a job, a host, a ReadWriteOnce volume, and without a request for CPU', async () => {
    const { target } = await onCluster();
    const refusedFor = async (workload: Body, given: Body = { target }) => {
      const { id: workload_id } = await fleet.aWorkload({ cpu_request: '1', ...workload });
      return expectRefused({ workload_id, autoscaling: BOUNDS, ...given }, 'deployment_refused');
    };
    expect(await refusedFor({ kind: 'job' })).toEqual([fieldError('autoscaling', 'must not be set for a job')]);
    expect(await refusedFor({ cpu_request: '' })).toEqual([
      fieldError('autoscaling', 'must not be set for a workload without a CPU request'),
    ]);
    expect(await refusedFor({ volume_mounts: [{ name: 'data', mountPath: '/data' }] })).toContainEqual(
      fieldError('autoscaling', 'ReadWriteOnce volumes \\(data\\)'),
    );
    const { id: host_id } = await fleet.aHost();
    const { id: workload_id } = await fleet.aWorkload({ cpu_request: '1' });
    const onHost = await expectRefused({ workload_id, autoscaling: BOUNDS, target: { host_id } }, 'no_placement');
    expect(onHost).toEqual([fieldError('target', 'has no autoscaler')]);
    const running = await fleet.deployed({ target: { host_id } });
    const { status, body } = await fleet.change(running.id, { scaled_by: 'cluster' });
    expect({ status, errors: body.errors }).toMatchObject({
      status: 422,
      errors: [fieldError('scaled_by', 'must be fleet on a host')],
    });
  });

  test('must have bounds in this order', async () => {
    const autoscaling = { ...BOUNDS, max_replicas: 1 };
    const { status, body } = await fleet.deploy({ ...(await onCluster()), spec: { image_name: 'app' }, autoscaling });
    expect({ status, errors: body.errors }).toMatchObject({
      status: 400,
      errors: [fieldError('autoscaling.max_replicas', 'must not be less than the minimum')],
    });
  });

  test('is switched off with the number that a worker has observed, and its resources', async () => {
    const { id } = await aDeployment({ autoscaling: BOUNDS }, { replicas: 5, manager: null });
    expect((await fleet.deployment(id)).current_replicas).toBe(5);
    const { body } = await fleet.change(id, { autoscaling: null, replicas: 1 });
    expect(body.deployment).toMatchObject({ replicas: 5, autoscaling: null });
    expect(await storedOf(id)).toMatchObject({ handover: 'keep', cpu_millis: 5000n });
    expect((await fleet.revisions(id))[0]).toMatchObject({ replicas: 5, autoscaling: null });
    const [{ details }] = await fleet.events(id);
    expect(details).toMatchObject({ replicas: { from: 1, to: 5 }, autoscaling: { from: BOUNDS, to: null } });
    // A later change keeps the number as well, unless it states another one.
    await fleet.ask(id, 'restart');
    expect(await storedOf(id)).toMatchObject({ handover: 'keep', replicas: 5 });
    await fleet.ask(id, 'scale', { replicas: 3 });
    expect(await storedOf(id)).toMatchObject({ handover: 'set', replicas: 3 });
  });

  test('is switched off with another number if the request states one', async () => {
    const { id } = await aDeployment({ autoscaling: BOUNDS }, { replicas: 5, manager: null });
    await fleet.change(id, { autoscaling: null, replicas: 3 });
    expect(await storedOf(id)).toMatchObject({ handover: 'set', replicas: 3, cpu_millis: 3000n });
  });

  test('stays through a rollback', async () => {
    const { id, workload_id } = await aDeployment({ replicas: 3 });
    await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { image_tag: '2' });
    await fleet.change(id, { revision: 2, autoscaling: BOUNDS });
    await fleet.ask(id, 'rollback', { generation: 1 });
    expect(await fleet.deployment(id)).toMatchObject({ revision: 1, replicas: 3, autoscaling: BOUNDS });
  });
});

describe('a deployment that the cluster scales', () => {
  test.each([
    ['autoscaling', { autoscaling: BOUNDS }, 'is chosen by the autoscaler'],
    ['scaled_by', { scaled_by: 'cluster' }, 'is set by programs of the cluster'],
  ])('is not scaled by a request (%s)', async (_member, given, why) => {
    const { id } = await aDeployment(given);
    const before = await fleet.contents();
    const { status, body } = await fleet.ask(id, 'scale', { replicas: 4 });
    expect({ status, errors: body.errors }).toMatchObject({ status: 422, errors: [fieldError('replicas', why)] });
    expect(await fleet.contents()).toEqual(before);
  });

  test('has a condition with both choices if the fleet scales it, and none after a choice', async () => {
    const { id } = await aDeployment({ replicas: 2 }, { replicas: 5, manager: 'kubectl' });
    const put = `PUT /api/v1/deployments/${id}`;
    expect((await fleet.deployment(id)).conditions).toMatchObject([
      {
        type: 'ReplicasSetInCluster',
        status: 'True',
        reason: 'FieldManager',
        message: `kubectl has set 5 replicas, and the deployment requests 2. To keep theirs from now on: ${put} with {"scaled_by": "cluster"}; to set 2: ${put} with {"take_over": true}.`,
      },
    ]);
    const { body } = await fleet.change(id, { scaled_by: 'cluster' });
    expect(body.deployment).toMatchObject({ scaled_by: 'cluster', replicas: 2 });
    expect(await storedOf(id)).toMatchObject({ handover: null });
  });
});
