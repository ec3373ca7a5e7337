import { startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

/** Two deployments that use a secret, the second one stopped, and one that does not. */
async function users() {
  await fleet.aHost();
  const secret = await fleet.aSecret('password', { PASSWORD: 'old', other: 'x' });
  const workload = await fleet.aWorkload({ secret_refs: [{ name: 'password', env: 'PASSWORD' }] });
  const running = await fleet.deployed({ name: 'running', workload_id: workload.id });
  const stopped = await fleet.deployed({ name: 'stopped', workload_id: workload.id, desired_state: 'stopped' });
  return { secret, running, stopped, without: await fleet.deployed() };
}

const rotate = (id: string, values: object) => fleet.admin.put(`/api/v1/secrets/${id}`, { values });

/** The annotation with the versions of secrets. A container is replaced if it changes. */
async function versionsIn(id: string): Promise<string> {
  const [, versions = ''] = /"fleet\/secret-versions":"([^"]*)"/.exec(JSON.stringify(await fleet.manifest(id))) ?? [];
  expect(versions).not.toBe('');
  return versions;
}

test('new values of a secret create a generation of the deployments that use it, and of no others', async () => {
  const { secret, running, stopped, without } = await users();
  const before = await versionsIn(running.id);
  expect((await rotate(secret.id, { PASSWORD: 'new' })).status).toBe(200);
  expect(await fleet.deployment(running.id)).toMatchObject({ generation: 2, phase: 'pending' });
  expect(await fleet.deployment(stopped.id)).toMatchObject({ generation: 2, phase: 'stopped', message: '' });
  expect(await fleet.deployment(without.id)).toMatchObject({ generation: 1 });
  expect((await fleet.events(running.id))[0]).toMatchObject({
    reason: 'rotate-secret',
    generation: 2,
    kind: 'operation',
  });
  expect((await fleet.revisions(running.id))[0]).toMatchObject({ operation: 'rotate-secret', generation: 2 });
  expect(await versionsIn(running.id)).not.toBe(before);
});

test('removing a key in use from a secret gets 409 with the names of the deployments, and changes nothing', async () => {
  const { secret, running } = await users();
  const before = await fleet.contents();
  for (const values of [
    { other: 'x', third: 'y' },
    { password: 'another case', other: 'x' },
  ]) {
    const { status, body } = await rotate(secret.id, values);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'in_use' });
    expect(body.errors.map(({ message }: { message: string }) => message)).toEqual(['running', 'stopped']);
  }
  expect(await fleet.contents()).toEqual(before);
  expect((await fleet.ask(running.id, 'stop')).status).toBe(200);
});

test('a rollback to a revision whose secret lacks a key is rejected, and changes nothing', async () => {
  const { secret, running, stopped } = await users();
  await fleet.remove(stopped.id);
  await fleet.operator.put(`/api/v1/workloads/${running.workload_id}`, { secret_refs: [] });
  expect((await fleet.change(running.id, { revision: 2 })).status).toBe(200);
  expect((await rotate(secret.id, { other: 'x', third: 'y' })).status).toBe(200);
  const before = await fleet.contents();
  const { status, body } = await fleet.ask(running.id, 'rollback', {});
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'unknown_secret' });
  expect(await fleet.contents()).toEqual(before);
});
