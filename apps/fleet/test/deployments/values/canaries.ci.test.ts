// Secret values must appear in no response, event, manifest, plan or log line, and in no table in
// plain text.
import { newSecretToken } from '@svc/auth';
import { startProcessWorld } from '../../process-world.ts';
import { createCaller } from '../../secrets/caller.ts';
import { dump } from '../../secrets/dump.ts';
import { type Canary, leaks } from '../../secrets/encoded-forms.ts';

const canaries: Canary[] = [];
/** Creates a secret value for which the results are searched. */
function aCanary(name: string): string {
  const value = `${name}-${newSecretToken('svcm_').slice(5)}`;
  canaries.push({ name, value });
  return value;
}

const world = await startProcessWorld();
const fleet = await world.startFleet({ RATE_LIMIT: 'off', LOG_LEVEL: 'trace' });
const { call } = createCaller(fleet.url);
const as: string = (await world.createToken('admin')).secret;
afterAll(async () => {
  await world.endAll();
  await world.database.drop();
});

const answers: string[] = [];
const request = async (method: string, path: string, body?: object) => {
  const answer = await call(method, `/api/v1/${path}`, body ? { as, body } : { as });
  answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
};

/** A host and a cluster with capacity. The test sends no request to an engine. */
async function createTargets(): Promise<readonly object[]> {
  const [host] = await world.query(`
    INSERT INTO hosts (id, name, engine, endpoint, by_admin, created_by, reachability, check_at, cpu_millis,
      memory_bytes)
    VALUES (gen_random_uuid(), 'host', 'docker', 'unix:///run/engine.sock', true, 'test', 'online', 'infinity', 64000, 1e12)
    RETURNING id`);
  const [cluster] = await world.query(`
    INSERT INTO clusters (id, name, server, by_admin, auth_kind, sealed, key_id, namespace, gpu_resource_name, created_by,
      reachability, check_at, cpu_millis, memory_bytes)
    VALUES (gen_random_uuid(), 'cluster', 'https://cluster.example.test', true, 'token', 'of no use', 'test', 'fleet', 'gpu',
      'test', 'online', 'infinity', 64000, 1e12) RETURNING id`);
  return [{ host_id: host.id }, { cluster_id: cluster.id }];
}

const secretValues = (round: string) => ({
  opaque: { PASSWORD: aCanary(`opaque ${round}`), other: aCanary(`unused key ${round}`) },
  pull: { username: aCanary(`user of the registry ${round}`), password: aCanary(`password of the registry ${round}`) },
});

/** Performs operations on a deployment, valid ones and invalid ones. */
async function performOperations(id: string): Promise<void> {
  const at = `deployments/${id}`;
  const plans = [{ replicas: 2 }, { env: { PASSWORD: 'mine' } }, { desired_state: 'stopped' }];
  for (const body of plans) await request('POST', 'deployments/plan', { deployment_id: id, ...body });
  for (const operation of ['stop', 'start', 'restart']) await request('POST', `${at}/${operation}`);
  await request('POST', `${at}/scale`, { replicas: 2 });
  await request('POST', `${at}/rollback`, {});
  await request('PUT', at, { env: { PASSWORD: 'mine' } });
  for (const path of ['', '/manifest', '/events', '/revisions']) await request('GET', `${at}${path}`);
}

test('secret values appear in no response, manifest, plan, event, log line or table', async () => {
  const targets = await createTargets();
  const { opaque, pull } = secretValues('at first');
  const made = await request('POST', 'secrets', { name: 'password', values: opaque });
  await request('POST', 'secrets', { name: 'pull', kind: 'registry', values: pull });
  await request('POST', 'secrets', { name: 'password', values: opaque }); // the name is taken
  await request('POST', 'secrets', { name: 'bad', kind: 'registry', values: opaque }); // wrong keys
  for (const values of [
    opaque.PASSWORD,
    [opaque.PASSWORD],
    { 'not a key': opaque.PASSWORD },
    { key: [opaque.PASSWORD] },
  ]) {
    expect((await request('POST', 'secrets', { name: 'bad', values })).status).toBe(400);
  }

  const { body } = await request('POST', 'workloads', {
    name: 'web',
    image_name: 'team/app',
    secret_refs: [{ name: 'password', env: 'PASSWORD' }],
    registry_credentials: 'pull',
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
  });
  const secretText = { TEXT: aCanary('text for a secret variable') };
  const declared = {
    name: 'declared',
    image_name: 'team/app',
    env_schema: [{ name: 'TEXT', description: '[secret]' }],
  };
  const env = [{ name: 'TEXT', value: secretText.TEXT }];
  expect((await request('POST', 'workloads', { ...declared, name: 'refused', env })).status).toBe(400);
  const { workload } = (await request('POST', 'workloads', declared)).body;
  const refused = { name: 'refused', workload_id: workload.id, env: secretText };
  for (const path of ['deployments', 'deployments/plan']) {
    expect((await request('POST', path, refused)).status).toBe(400);
  }

  const ids: string[] = [];
  for (const [index, target] of targets.entries()) {
    const requestBody = { name: `web-${index}`, workload_id: body.workload.id, target };
    expect((await request('POST', 'deployments/plan', requestBody)).body.ok).toBe(true);
    ids.push((await request('POST', 'deployments', requestBody)).body.deployment.id);
  }
  for (const id of ids) await performOperations(id);
  const { id } = made.body.secret;
  const rotated = secretValues('rotated');
  expect((await request('PUT', `secrets/${id}`, { values: rotated.opaque })).status).toBe(200);
  const without = { one: aCanary('first of other keys'), two: aCanary('second of other keys') };
  // Removes a key in use.
  expect((await request('PUT', `secrets/${id}`, { values: without })).status).toBe(409);
  for (const id of ids) await performOperations(id);
  for (const list of ['secrets', 'workloads', 'deployments', 'storage', 'hosts', 'clusters', 'audit'])
    await request('GET', list);
  await request('GET', `secrets/${id}`);
  await request('DELETE', `secrets/${id}`); // in use

  const tables = await dump(world, 'in the end');
  await request('DELETE', `deployments/${ids[0]}`);
  await world.stop(fleet);
  const haystacks = { ...tables, answers: answers.join('\n'), output: fleet.output() };
  // The searched text is complete.
  expect(haystacks.answers).toContain('(secret)');
  expect(haystacks.answers).toContain(Buffer.from('(secret)').toString('base64').slice(0, 8));
  expect(haystacks.output).toContain(`/api/v1/secrets/${id}`);
  expect(tables['public.secrets, in the end']).toContain('password');
  expect(tables['public.deployment_events, in the end']).toContain('rotate-secret');
  expect(leaks(canaries, haystacks)).toEqual([]);
});

test('the search for secret values finds plain, base64 and hexadecimal values', () => {
  const { value } = canaries[0] ?? { value: '' };
  const base64 = Buffer.from(value).toString('base64');
  for (const text of [value, base64, Buffer.from(value).toString('hex')]) {
    expect(leaks(canaries, { somewhere: `before ${text} after` })).not.toEqual([]);
  }
});
