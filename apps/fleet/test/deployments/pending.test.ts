import { EventEmitter, once } from 'node:events';
import type { DockerClient } from '../../src/engines/docker/client.ts';
import type { ReconcileRun } from '../../src/engines/docker/containers.ts';
import { ensureImage } from '../../src/engines/docker/images.ts';
import { Permanent } from '../../src/engines/errors.ts';
import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();

/** A pending deployment after a change of its row and of its host. */
async function pending(row: object, host: object = {}) {
  const { id: host_id } = await fleet.aHost({ name: 'machine' });
  const { id } = await fleet.deployed();
  await fleet.client.deployment.update({ where: { id }, data: row });
  await fleet.client.host.update({ where: { id: host_id }, data: host });
  const { phase, reason, message } = await fleet.deployment(id);
  const { status, body } = await fleet.operator.get(`/api/v1/deployments/${id}/logs`);
  return { phase, reason, message, log: [status, body.detail] };
}

const LEASED = { lease_owner: '00000000-0000-4000-8000-000000000000', lease_until: new Date('2999-01-01') };

test.each([
  ['waits for a worker', {}, {}, null, 'Waiting for a worker of the fleet.'],
  ['is applied by a worker', LEASED, {}, null, 'A worker is applying generation 1 on the host machine.'],
  ['pulls its image', { ...LEASED, message: 'Pulling the image a.' }, {}, null, 'Pulling the image a.'],
  [
    'was left by a worker during a pull',
    { ...LEASED, lease_until: new Date(0), message: 'Pulling the image a.' },
    {},
    null,
    'Waiting for a worker of the fleet.',
  ],
  [
    'has an unreachable host',
    {},
    { reachability: 'unreachable', unreachable_reason: 'The connection was refused.' },
    'TargetUnreachable',
    'Waiting for the host machine to become reachable: The connection was refused.',
  ],
  [
    'has a host whose address was changed',
    {},
    { reachability: 'unknown' },
    'TargetNotChecked',
    'Waiting for the first check of the host machine.',
  ],
])('a pending deployment that %s says so, also if its log is requested', async (_, row, host, reason, message) => {
  expect(await pending(row, host)).toEqual({
    phase: 'pending',
    reason,
    message,
    log: [404, `The deployment has not started yet, so there is no log. ${message}`],
  });
});

test.each(['deleting', 'stopping'] as const)(
  'a deployment in phase %s waits for an unreachable host',
  async (phase) => {
    const host = await fleet.aHost({ name: 'machine' });
    const { id } = await fleet.deployed();
    await fleet.client.deployment.update({ where: { id }, data: { sent_to_engine: true } });
    await fleet.client.host.update({
      where: { id: host.id },
      data: { reachability: 'unreachable', unreachable_reason: 'The connection was refused.' },
    });
    const path = `/api/v1/deployments/${id}`;
    const { body } =
      phase === 'deleting' ? await fleet.operator.delete(path) : await fleet.operator.post(`${path}/stop`);
    const waits = 'Waiting for the host machine to become reachable: The connection was refused.';
    const remedy = 'If the host no longer exists, delete and abandon it.';
    const message = phase === 'deleting' ? `${waits} ${remedy}` : waits;
    expect(body.deployment).toMatchObject({ phase, reason: 'TargetUnreachable', message });
    expect(await fleet.deployment(id)).toMatchObject({ phase, reason: 'TargetUnreachable', message });
    const refused = await fleet.admin.delete(`/api/v1/hosts/${host.id}`);
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('no longer exists, abandon it') },
    });
  },
);

test('a job that has completed has another reason than a deployment that a caller has stopped', async () => {
  await fleet.aHost();
  const { id } = await fleet.deployed();
  const instances = [{ name: 'job-0', phase: 'completed', message: 'has completed', restarts: 0 }];
  await fleet.client.deployment.update({
    where: { id },
    data: { phase: 'stopped', message: 'It has completed.', instances },
  });
  expect(await fleet.deployment(id)).toMatchObject({
    phase: 'stopped',
    reason: 'Completed',
    message: 'It has completed.',
  });
  await fleet.client.deployment.update({ where: { id }, data: { desired_state: 'stopped' } });
  expect(await fleet.deployment(id)).toMatchObject({ phase: 'stopped', reason: null });
});

test('a worker reports the pull of an image while it takes long', async () => {
  const calls: string[] = [];
  const reported = new EventEmitter();
  const isReported = once(reported, 'report');
  // The members that a pull uses. The response to the pull ends when the pull is reported.
  const client = {
    timing: { pullIdle: 1000, pull: 1000 },
    read: async () => {
      throw new Permanent('EngineError', 'not found', { status: 404, engineMessage: '' });
    },
    open: async () => {
      calls.push('pull');
      return (async function* () {
        await isReported;
        yield Buffer.from('{}');
        calls.push('end');
      })();
    },
  } as unknown as DockerClient;
  const report = async (message: string) => {
    calls.push(message);
    reported.emit('report');
  };
  const fence = { deploymentId: 'any', generation: 1, report };
  const manifest = { image: 'registry.example/app:1' };
  // The members of a reconciliation that a pull uses.
  await ensureImage({ client, desired: { manifest }, fence, actions: [] } as unknown as ReconcileRun);
  expect(calls).toEqual(['pull', 'Pulling the image registry.example/app:1.', 'end']);
});

test.each([
  ['is stopped and has not run', { sent_to_engine: false }, /^The deployment is stopped and has not run/],
  ['is stopped', { sent_to_engine: true }, /^The deployment is stopped\. Its logs are gone/],
  ['is being deleted', { deleting: true, phase: 'deleting' }, /^The deployment is being deleted\. Its logs are gone/],
])('the log of a deployment that %s is answered 404 with this reason', async (_, row, detail) => {
  await fleet.aHost();
  const { id } = await fleet.deployed({ desired_state: 'stopped' });
  await fleet.client.deployment.update({ where: { id }, data: row });
  const { status, body } = await fleet.operator.get(`/api/v1/deployments/${id}/logs`);
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: 404,
    code: 'not_found',
    detail: expect.stringMatching(detail),
  });
});
