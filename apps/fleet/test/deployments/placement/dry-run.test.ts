// What the cluster of a plan says about its objects, as advice beside the plan.
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { type ApiServer, startApiServer } from '../../engines/kubernetes/api-server.ts';
import { type Body, GIB, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const servers: ApiServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
afterAll(() => fleet.world.services.engineRuntime.stop());

/** A checked cluster with a fake API server, and a workload that runs there. */
async function aClusterWith(workload: Body = {}, given: Body = {}) {
  const server = await startApiServer();
  servers.push(server);
  const auth = { kind: 'token', token: server.token };
  const body = { name: fleet.aName('real'), server: server.url, ca_certificate: server.ca, auth };
  const { id } = (await fleet.admin.post('/api/v1/clusters', body)).body.cluster;
  const checked = { reachability: 'online' as const, cpu_millis: 64_000, memory_bytes: 64 * GIB, ...given };
  await fleet.client.cluster.update({ where: { id }, data: checked });
  const { id: workload_id } = await fleet.aWorkload({ cpu_request: '500m', ...workload });
  server.requests.length = 0;
  return { server, id, request: { workload_id, target: { cluster_id: id } } };
}

const kindsOf = (results: { object: string; result: string; reason: string | null }[]) =>
  Object.fromEntries(results.map(({ object, result, reason }) => [object.split('/')[0], reason ?? result]));

test('a plan contains what the cluster says, and stores nothing', async () => {
  const { server, request } = await aClusterWith({ ports: [{ containerPort: 80 }] });
  const before = await fleet.contents();
  const { body: plan } = await fleet.plan(request);
  expect(kindsOf(plan.dry_run)).toEqual({ Deployment: 'passed', Service: 'passed', Pod: 'passed' });
  expect(
    plan.manifest.map(({ kind, metadata }: { kind: string; metadata: { name: string } }) => `${kind}/${metadata.name}`),
  ).toEqual(plan.dry_run.slice(0, 2).map(({ object }: { object: string }) => object));
  expect(server.objects('deployments')).toEqual([]);
  expect(await fleet.contents()).toEqual(before);
});

test('a refusal of the cluster is advice: the plan is possible, and so is the creation', async () => {
  const { server, request } = await aClusterWith();
  const why = 'no pods on Fridays';
  server.admission.webhooks.push({ name: 'deny.test', kinds: ['Pod'], sideEffects: 'None', deny: () => why });
  const { body: plan } = await fleet.plan(request);
  expect(plan).toMatchObject({ ok: true, refusals: [] });
  expect(kindsOf(plan.dry_run)).toEqual({ Deployment: 'passed', Pod: 'refused' });
  expect(plan.dry_run[1].message).toBe(`admission webhook "deny.test" denied the request: ${why}`);
  expect((await fleet.deploy(request)).status).toBe(201);
});

test('a viewer learns that the cluster was not asked, and the cluster receives no request', async () => {
  const { server, request } = await aClusterWith();
  const { body: plan } = await fleet.viewer.post('/api/v1/deployments/plan', request);
  expect(kindsOf(plan.dry_run)).toEqual({ Deployment: 'role' });
  expect(plan.dry_run[0].message).toBe('This requires the role admin or operator.');
  expect(server.requests).toEqual([]);
});

test('a plan without a dry run, a refused one, one on a host and one without changes ask no cluster', async () => {
  const { server, request } = await aClusterWith();
  const host = await fleet.aHost();
  const existing = await fleet.deployed(request);
  for (const body of [
    { ...request, dry_run: false },
    { ...request, env: { UNKNOWN: 'x' } },
    { ...request, desired_state: 'stopped' },
    { ...request, target: { host_id: host.id } },
    { deployment_id: existing.id, replicas: 1 },
  ]) {
    expect({ body, dry_run: (await fleet.plan(body)).body.dry_run }).toEqual({ body, dry_run: [] });
  }
  expect(server.requests).toEqual([]);
});

test('the cluster receives placeholders of the same length instead of the values of secrets', async () => {
  const value = 'c4n4ry-of-a-secret-ü';
  await fleet.aSecret('pass', { PASSWORD: value });
  const login = { username: 'c4n4ry-user', password: 'c4n4ry-password' };
  await fleet.aSecret('registry', login, { kind: 'registry', server: 'registry.example.test' });
  const { server, request } = await aClusterWith({
    registry_url: 'registry.example.test',
    registry_credentials: 'registry',
    secret_refs: [{ name: 'pass', env: 'PASSWORD' }],
    env_schema: [{ name: 'TOKEN', description: 'A token. [secret]' }],
  });
  const { body: plan } = await fleet.plan({ ...request, env: { TOKEN: { generate: 40 } } });
  expect(kindsOf(plan.dry_run)).toEqual({ Secret: 'passed', Deployment: 'passed', Pod: 'passed' });
  const sent = server.requests.map(({ body }) => body).filter(Boolean);
  expect(sent.join()).not.toContain('c4n4ry');
  const secrets = sent.map((body) => JSON.parse(body)).filter(({ kind }) => kind === 'Secret');
  const textOf = (data: string) => Buffer.from(data, 'base64').toString();
  const [variables, pull] = secrets.toSorted((one) => (one.type === 'Opaque' ? -1 : 1));
  expect(textOf(variables.data.PASSWORD)).toBe('x'.repeat(Buffer.byteLength(value)));
  expect(textOf(variables.data.TOKEN)).toBe('x'.repeat(40));
  expect(JSON.parse(textOf(pull.data['.dockerconfigjson'])).auths['registry.example.test']).toMatchObject({
    username: 'x'.repeat(login.username.length),
    password: 'x'.repeat(login.password.length),
  });
  expect(JSON.stringify(plan)).not.toContain('xxxx');
});

test('a change is compared with the quota of the namespace', async () => {
  const { server, request } = await aClusterWith();
  server.put('resourcequotas', { metadata: { name: 'compute' }, spec: { hard: { 'requests.cpu': '1' } } });
  const { id } = await fleet.deployed(request);
  const { body: plan } = await fleet.plan({ deployment_id: id, replicas: 3 });
  expect(kindsOf(plan.dry_run)).toEqual({ Deployment: 'passed', Pod: 'passed', ResourceQuota: 'refused' });
});

test('an unreachable cluster, and credentials that cannot be decrypted, are stated without a request', async () => {
  const { server, id, request } = await aClusterWith();
  const existing = await fleet.deployed(request);
  const scale = { deployment_id: existing.id, replicas: 2 };
  await fleet.client.cluster.update({ where: { id }, data: { sealed: 'of no use' } });
  expect(kindsOf((await fleet.plan(request)).body.dry_run)).toEqual({ Deployment: 'secrets' });
  const unreachable = { reachability: 'unreachable' as const, unreachable_reason: 'The connection was refused.' };
  await fleet.client.cluster.update({ where: { id }, data: unreachable });
  const { body: plan } = await fleet.plan({ deployment_id: existing.id, pull: 'never' });
  expect(kindsOf(plan.dry_run)).toEqual({ Deployment: 'unreachable' });
  expect(plan.dry_run[0].message).toContain('The connection was refused.');
  expect((await fleet.plan(scale)).status).toBe(200);
  expect(server.requests).toEqual([]);
});

test('plans that wait for a cluster hold no transaction, and delay no other plans', async () => {
  const { server, request } = await aClusterWith();
  const host = await fleet.aHost();
  server.inject(({ method }) => (method === 'GET' ? undefined : 'hang'));
  const waiting = [1, 2, 3].map(() => fleet.plan(request));
  await eventually('dry runs are in progress', () => server.requests.length === 4);
  // The last plan can still be decided.
  await eventually('no transaction is open', async () => {
    const [open] = await fleet.client.$queryRaw<[{ count: number }]>`
      SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
    return open.count === 0;
  });
  expect((await fleet.plan({ ...request, target: { host_id: host.id } })).body.ok).toBe(true);
  await server.stop();
  for (const { status, body } of await Promise.all(waiting)) {
    const dry_run = { Deployment: 'unreachable', Pod: 'unreachable', ResourceQuota: 'unreachable' };
    expect({ status, ok: body.ok, dry_run: kindsOf(body.dry_run) }).toEqual({ status: 200, ok: true, dry_run });
  }
});
