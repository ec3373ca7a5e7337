import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();

/** Two deployments that take a secret, the second stopped, and one that doesn't. */
async function users() {
  await it.aHost();
  const secret = await it.aSecret('password', { PASSWORD: 'old', other: 'x' });
  const workload = await it.aWorkload({ secret_refs: [{ name: 'password', env: 'PASSWORD' }] });
  const running = await it.deployed({ name: 'running', workload_id: workload.id });
  const stopped = await it.deployed({ name: 'stopped', workload_id: workload.id, desired_state: 'stopped' });
  return { secret, running, stopped, without: await it.deployed() };
}

const rotate = (id: string, values: object) => it.admin.put(`/api/v1/secrets/${id}`, { values });

/** What starts a container anew that took other values. */
async function versionsIn(id: string): Promise<string> {
  const [, versions = ''] = /"fleet\/secret-versions":"([^"]*)"/.exec(JSON.stringify(await it.manifest(id))) ?? [];
  expect(versions).not.toBe('');
  return versions;
}

test('new values are a new generation of what takes them, and of nothing else', async () => {
  const { secret, running, stopped, without } = await users();
  const before = await versionsIn(running.id);
  expect((await rotate(secret.id, { PASSWORD: 'new' })).status).toBe(200);
  expect(await it.deployment(running.id)).toMatchObject({ generation: 2, phase: 'pending' });
  expect(await it.deployment(stopped.id)).toMatchObject({ generation: 2, phase: 'stopped', message: '' });
  expect(await it.deployment(without.id)).toMatchObject({ generation: 1 });
  expect((await it.events(running.id))[0]).toMatchObject({ reason: 'rotate-secret', generation: 2, kind: 'operation' });
  expect((await it.revisions(running.id))[0]).toMatchObject({ operation: 'rotate-secret', generation: 2 });
  expect(await versionsIn(running.id)).not.toBe(before);
});

test('a key that is taken does not go: 409 with who takes it, and nothing changed', async () => {
  const { secret, running } = await users();
  const before = await it.contents();
  for (const values of [
    { other: 'x', third: 'y' },
    { password: 'another case', other: 'x' },
  ]) {
    const { status, body } = await rotate(secret.id, values);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'in_use' });
    expect(body.errors.map(({ message }: { message: string }) => message)).toEqual(['running', 'stopped']);
  }
  expect(await it.contents()).toEqual(before);
  expect((await it.ask(running.id, 'stop')).status).toBe(200);
});

test('what a rollback goes back to may lack its key by now: refused, and nothing changed', async () => {
  const { secret, running, stopped } = await users();
  await it.remove(stopped.id);
  await it.operator.put(`/api/v1/workloads/${running.workload_id}`, { secret_refs: [] });
  expect((await it.change(running.id, { revision: 2 })).status).toBe(200);
  expect((await rotate(secret.id, { other: 'x', third: 'y' })).status).toBe(200);
  const before = await it.contents();
  const { status, body } = await it.ask(running.id, 'rollback', {});
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'unknown_secret' });
  expect(await it.contents()).toEqual(before);
});
