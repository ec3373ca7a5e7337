import { randomUUID } from 'node:crypto';
import { readDesired } from '../../../src/reconciler/desired.ts';
import { claimDue } from '../../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../../src/reconciler/timings.ts';
import { expectRefusedIn, fieldError } from '../expect-refused.ts';
import { startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const refused = expectRefusedIn(fleet);

const LOGIN = { username: 'me', password: 'hidden' };
const aPullSecret = (server?: string) => fleet.aSecret('pull', LOGIN, { kind: 'registry', server });
const pulling = (registry_url: string | null) => fleet.aWorkload({ registry_url, registry_credentials: 'pull' });

/** Removes the server of the secret, as if a version without servers had created it. */
const unbind = () => client.secret.update({ where: { name: 'pull' }, data: { server: null } });
const secretOf = async () => (await fleet.admin.get('/api/v1/secrets?search=pull')).body.secrets[0];

test('a pull secret is used with its own registry only', async () => {
  await fleet.aHost();
  await aPullSecret('GHCR.io');
  expect(await secretOf()).toMatchObject({ server: 'ghcr.io', needs_server: false });
  const same = await pulling('ghcr.io/team');
  expect((await fleet.plan({ workload_id: same.id })).body).toMatchObject({
    ok: true,
    registry_credentials: { secret: 'pull', server: 'ghcr.io' },
  });
  const deployment = await fleet.deployed({ workload_id: same.id });
  for (const server of ['ghcr.io:8443', 'registry.example.test', null]) {
    const { id } = await pulling(server);
    expect(await refused({ workload_id: id }, 'deployment_refused')).toEqual([
      fieldError('registry_credentials', 'pull', 'ghcr.io', server ?? 'docker.io'),
    ]);
  }
  await fleet.operator.put(`/api/v1/workloads/${same.id}`, { registry_url: 'registry.example.test' });
  const { status, body } = await fleet.change(deployment.id, { revision: 2 });
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'deployment_refused' });
  expect((await fleet.plan({ deployment_id: deployment.id, revision: 2 })).body.ok).toBe(false);
});

test('all names of Docker Hub are one registry, which is the default', async () => {
  await fleet.aHost();
  for (const server of [undefined, '', 'docker.io', 'index.docker.io', 'Registry-1.docker.io']) {
    const { id } = await aPullSecret(server);
    expect(await secretOf()).toMatchObject({ server: 'docker.io', needs_server: false });
    for (const registry of [null, 'docker.io', 'index.docker.io', 'registry-1.docker.io']) {
      const { ok } = (await fleet.plan({ workload_id: (await pulling(registry)).id })).body;
      expect({ server, registry, ok }).toEqual({ server, registry, ok: true });
    }
    await client.secret.delete({ where: { id } });
  }
});

test('a secret of another kind has no server and is not a pull secret', async () => {
  await fleet.aHost();
  await fleet.aSecret('pull', LOGIN);
  const { id } = await pulling('ghcr.io');
  expect(await refused({ workload_id: id }, 'deployment_refused')).toEqual([
    fieldError('registry_credentials', 'kind registry', 'ghcr.io'),
  ]);
  expect(await secretOf()).toMatchObject({ server: null, needs_server: false });
  const { status, body } = await fleet.admin.post('/api/v1/secrets', {
    name: 'other',
    values: LOGIN,
    server: 'ghcr.io',
  });
  expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'server' });
});

test.each(['https://ghcr.io', 'ghcr.io/team', 'a b', 'user@ghcr.io', 7])(
  'the server %j is rejected',
  async (server) => {
    const body = { name: 'pull', kind: 'registry', values: LOGIN, server };
    expect((await fleet.admin.post('/api/v1/secrets', body)).status).toBe(400);
  },
);

test('a secret without a server continues to work for its deployments and cannot be used anew', async () => {
  await fleet.aHost();
  await aPullSecret('ghcr.io');
  const workload = await pulling('ghcr.io');
  const { id } = await fleet.deployed({ workload_id: workload.id });
  await unbind();
  expect(await secretOf()).toMatchObject({ server: null, needs_server: true });
  expect((await fleet.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  expect(await refused({ workload_id: workload.id }, 'deployment_refused')).toEqual([
    fieldError('registry_credentials', 'no server', 'ghcr.io'),
  ]);
  await fleet.operator.put(`/api/v1/workloads/${workload.id}`, { image_tag: '2' });
  expect((await fleet.change(id, { revision: 2 })).status).toBe(200);
  await fleet.operator.put(`/api/v1/workloads/${workload.id}`, { registry_url: 'evil.example.test' });
  expect((await fleet.change(id, { revision: 3 })).body.code).toBe('deployment_refused');
});

test('the server of a secret changes only together with its values, and not while another registry is used', async () => {
  await fleet.aHost();
  const secret = await aPullSecret('ghcr.io');
  const put = (body: object) => fleet.admin.put(`/api/v1/secrets/${secret.id}`, body);
  const pathOf = async (body: object) => {
    const { status, body: problem } = await put(body);
    return [status, problem.errors?.[0]?.path];
  };
  expect(await pathOf({ server: 'quay.io' })).toEqual([400, 'values']);
  expect((await put({ server: 'quay.io', values: LOGIN })).body.secret.server).toBe('quay.io');
  const deployment = await fleet.deployed({ workload_id: (await pulling('quay.io')).id });
  expect(await pathOf({ server: 'ghcr.io', values: LOGIN })).toEqual([409, 'deployment']);
  expect((await put(await secretOf())).status).toBe(200);
  await unbind();
  expect((await put(await secretOf())).body.secret.server).toBe(null);
  expect(await pathOf({ server: 'ghcr.io' })).toEqual([409, 'deployment']);
  expect((await put({ server: 'quay.io' })).body.secret).toMatchObject({ server: 'quay.io', needs_server: false });
  await fleet.remove(deployment.id);
  await unbind();
  expect(await pathOf({ server: 'quay.io' })).toEqual([400, 'values']);
});

test('the reconciler does not send a credential to another registry', async () => {
  await fleet.aHost();
  await aPullSecret('ghcr.io');
  const { id } = await fleet.deployed({ workload_id: (await pulling('ghcr.io')).id });
  const [claim] = await claimDue(world.database, { lease: timings.lease, limit: 1 }, new AbortController().signal);
  if (!claim) throw new Error('the deployment was not claimed');
  claim.release(); // no heartbeat is needed
  expect((await readDesired(world.database, world.sealer, claim))?.row.id).toBe(id);
  await client.secret.update({ where: { name: 'pull' }, data: { server: `${randomUUID()}.example.test` } });
  await expect(readDesired(world.database, world.sealer, claim)).rejects.toMatchObject({
    reason: 'InvalidSpec',
    message: expect.stringMatching(/is for the registry .* and is not sent to ghcr\.io/),
  });
});
