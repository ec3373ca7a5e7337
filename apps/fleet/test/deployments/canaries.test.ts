// Values of secrets are in no answer, no event, no manifest, no plan, no log line, and in no table in clear.
import { newSecretToken } from '@svc/auth';
import { startProcessWorld } from '../process-world.ts';
import { createCaller } from '../secrets/caller.ts';
import { dump } from '../secrets/dump.ts';
import { type Canary, leaks } from '../secrets/forms.ts';

const canaries: Canary[] = [];
/** A value that can be found again. */
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
const heard = async (method: string, path: string, body?: object) => {
  const answer = await call(method, `/api/v1/${path}`, body ? { as, body } : { as });
  answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
};

/** A host and a cluster with room; engines are never asked here. */
async function places(): Promise<readonly object[]> {
  const [host] = await world.query(`
    INSERT INTO hosts (id, name, engine, endpoint, by_admin, created_by, reachability, check_at, cpu_millis,
      memory_bytes)
    VALUES (gen_random_uuid(), 'host', 'docker', 'unix:///run/engine.sock', true, 'test', 'online', 'infinity', 64000, 1e12)
    RETURNING id`);
  const [cluster] = await world.query(`
    INSERT INTO clusters (id, name, server, by_admin, auth_kind, sealed, sealed_with, namespace, gpu_resource_name, created_by,
      reachability, check_at, cpu_millis, memory_bytes)
    VALUES (gen_random_uuid(), 'cluster', 'https://cluster.example.test', true, 'token', 'of no use', 'test', 'fleet', 'gpu',
      'test', 'online', 'infinity', 64000, 1e12) RETURNING id`);
  return [{ host_id: host.id }, { cluster_id: cluster.id }];
}

const secretValues = (round: string) => ({
  opaque: { PASSWORD: aCanary(`opaque ${round}`), other: aCanary(`key that nothing takes ${round}`) },
  pull: { username: aCanary(`user of the registry ${round}`), password: aCanary(`password of the registry ${round}`) },
});

/** What somebody might do with a deployment, sane or not. */
async function useIt(id: string): Promise<void> {
  const at = `deployments/${id}`;
  const plans = [{ replicas: 2 }, { env: { PASSWORD: 'mine' } }, { desired_state: 'stopped' }];
  for (const body of plans) await heard('POST', 'deployments/plan', { deployment_id: id, ...body });
  for (const operation of ['stop', 'start', 'restart']) await heard('POST', `${at}/${operation}`);
  await heard('POST', `${at}/scale`, { replicas: 2 });
  await heard('POST', `${at}/rollback`, {});
  await heard('PUT', at, { env: { PASSWORD: 'mine' } });
  for (const path of ['', '/manifest', '/events', '/revisions']) await heard('GET', `${at}${path}`);
}

test('no value of a secret is told by anything', async () => {
  const targets = await places();
  const { opaque, pull } = secretValues('at first');
  const made = await heard('POST', 'secrets', { name: 'password', values: opaque });
  await heard('POST', 'secrets', { name: 'pull', kind: 'registry', values: pull });
  await heard('POST', 'secrets', { name: 'password', values: opaque }); // taken
  await heard('POST', 'secrets', { name: 'bad', kind: 'registry', values: opaque }); // of the wrong keys
  for (const values of [
    opaque.PASSWORD,
    [opaque.PASSWORD],
    { 'not a key': opaque.PASSWORD },
    { key: [opaque.PASSWORD] },
  ]) {
    expect((await heard('POST', 'secrets', { name: 'bad', values })).status).toBe(400);
  }

  const { body } = await heard('POST', 'workloads', {
    name: 'web',
    image_name: 'team/app',
    secret_refs: [{ name: 'password', env: 'PASSWORD' }],
    registry_credentials: 'pull',
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
  });
  const ids: string[] = [];
  for (const [index, target] of targets.entries()) {
    const wish = { name: `web-${index}`, workload_id: body.workload.id, target };
    expect((await heard('POST', 'deployments/plan', wish)).body.ok).toBe(true);
    ids.push((await heard('POST', 'deployments', wish)).body.deployment.id);
  }
  for (const id of ids) await useIt(id);
  const { id } = made.body.secret;
  const rotated = secretValues('rotated');
  expect((await heard('PUT', `secrets/${id}`, { values: rotated.opaque })).status).toBe(200);
  const without = { one: aCanary('first of other keys'), two: aCanary('second of other keys') };
  expect((await heard('PUT', `secrets/${id}`, { values: without })).status).toBe(409); // a key that is taken would go
  for (const id of ids) await useIt(id);
  for (const list of ['secrets', 'workloads', 'deployments', 'storage', 'hosts', 'clusters', 'audit'])
    await heard('GET', list);
  await heard('GET', `secrets/${id}`);
  await heard('DELETE', `secrets/${id}`); // in use

  const tables = await dump(world, 'in the end');
  await heard('DELETE', `deployments/${ids[0]}`);
  await world.stop(fleet);
  const haystacks = { ...tables, answers: answers.join('\n'), output: fleet.output() };
  // What is searched is what it should be.
  expect(haystacks.answers).toContain('(secret)');
  expect(haystacks.answers).toContain(Buffer.from('(secret)').toString('base64').slice(0, 8));
  expect(haystacks.output).toContain(`/api/v1/secrets/${id}`);
  expect(tables['public.secrets, in the end']).toContain('password');
  expect(tables['public.deployment_events, in the end']).toContain('rotate-secret');
  expect(leaks(canaries, haystacks)).toEqual([]);
}, 120_000);

test('what would leak is found', () => {
  const { value } = canaries[0] ?? { value: '' };
  const base64 = Buffer.from(value).toString('base64');
  for (const text of [value, base64, Buffer.from(value).toString('hex')]) {
    expect(leaks(canaries, { somewhere: `before ${text} after` })).not.toEqual([]);
  }
});
