// Records a release: the databases of both services, the requests of the fleet to the hub, and its requests to an engine.
// Tests of later versions read these files as the previous version. Start the product with an empty data folder before:
//
//   DATA_DIR=/tmp/release npm start
//   node infra/local/release/record.mjs --data /tmp/release --engine /path/to/engine.sock --image localhost/busybox:1 \
//     --out infra/releases/0.1.0
//
// The engine is Docker or Podman. It must have the image, which must contain `httpd` and `sh`. The base images of the services must be
// pinned by digest (infra/docker/pin.mjs).
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, parseEnv } from 'node:util';
import { dumpDatabase } from './dump.mjs';
import { startRecorder } from './recorder.mjs';

const options = {
  data: { type: 'string' },
  engine: { type: 'string' },
  image: { type: 'string' },
  out: { type: 'string' },
};
const { data, engine, image, out } = parseArgs({ options }).values;
if (!data || !engine || !image || !out) throw new Error('Specify --data, --engine, --image and --out.');

const pin = path.resolve(import.meta.dirname, '../../docker/pin.mjs');
execFileSync(process.execPath, [pin, '--check'], { stdio: 'inherit' });

/** The templates of the starter catalog that the recorded hub keeps. */
const KEPT = ['comfyui', 'ollama', 'postgresql', 'qdrant', 'redis', 'restic-backup'];

const demo = parseEnv(readFileSync(path.join(data, 'demo.env'), 'utf8'));
const secrets = JSON.parse(readFileSync(path.join(data, 'secrets.json'), 'utf8'));
const hub = api(demo.HUB_URL, demo.HUB_ADMIN_JWT);
const fleet = api(demo.FLEET_URL, demo.FLEET_ADMIN_TOKEN);

/** Functions that send JSON requests and resolve to the body of the response. @throws for a response that is no success */
function api(url, token) {
  const send = async (method, at, body) => {
    const response = await fetch(`${url}/api/v1${at}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    get: (at) => send('GET', at),
    post: (at, body = {}) => send('POST', at, body),
    put: (at, body) => send('PUT', at, body),
    delete: (at, body) => send('DELETE', at, body),
  };
}

async function until(title, condition) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(1000)) if (await condition()) return;
  throw new Error(`timeout: ${title}`);
}

const phaseOf = async (id) => (await fleet.get(`/deployments/${id}`)).deployment.phase;
const untilPhase = (id, phase) => until(`deployment ${id} is ${phase}`, async () => (await phaseOf(id)) === phase);

/** Catalog: the first walk, changes, removals by deletion and by access, and rejected requests. */
async function recordCatalog(url) {
  const { templates } = await hub.get('/admin/templates');
  for (const { id, slug } of templates) if (!KEPT.includes(slug)) await hub.delete(`/admin/templates?id=${id}`);
  const { organizations } = await hub.get('/admin/organizations');
  const { category } = await hub.post('/admin/categories', { name: 'Internal', is_private: true });
  const kept = (await hub.get('/admin/templates')).templates;
  const idOf = (slug) => kept.find((it) => it.slug === slug).id;
  await hub.put('/admin/templates', { id: idOf('comfyui'), category_id: category.id });
  const access = { category_id: category.id, org_id: organizations[0].id };
  const { grant } = await hub.post('/admin/catalog-access', access);

  await fleet.put('/settings/hub', { url, api_key: demo.HUB_API_KEY, sync_interval: 0 });
  await fleet.post('/catalog/sync', { full: true });
  await hub.put('/admin/templates', { id: idOf('redis'), description: 'An in-memory data store' });
  await fleet.post('/catalog/sync');
  await hub.delete(`/admin/catalog-access?id=${grant.id}`);
  await hub.delete(`/admin/templates?id=${idOf('qdrant')}`);
  await fleet.post('/catalog/sync');
  await hub.post('/admin/catalog-access', access);
  await fleet.post('/catalog/sync');
  await fleet.post('/catalog/sync'); // nothing is new
  const headers = { authorization: `Bearer ${demo.HUB_API_KEY}` };
  await fetch(`${url}/api/v1/catalog/templates/updates?cursor=unknown`, { headers });
  await fetch(`${url}/api/v1/catalog/organization`, { headers: { authorization: 'Bearer svcc_unknown' } });
  return { webTemplate: await publishWebTemplate(kept.find(({ slug }) => slug === 'redis').category_id) };
}

/** A template that the engine can run without a registry. */
async function publishWebTemplate(category_id) {
  const [, name, tag] = /^localhost\/(.+):([^:]+)$/.exec(image) ?? [];
  if (!name) throw new Error('--image must be localhost/<name>:<tag>.');
  const { template } = await hub.post('/admin/templates', {
    name: 'Web',
    slug: 'web',
    category_id,
    description: 'A web server',
    registry_url: 'localhost',
    image_name: name,
    image_tag: tag,
    command: ['sh', '-c', 'echo "$GREETING $PASSWORD" > /data/index.html; exec httpd -f -p 8080 -h /data'],
    ports: [{ containerPort: 8080, protocol: 'TCP' }],
    env: [{ name: 'GREETING', value: 'hello' }],
    secret_refs: [{ name: 'web-password', key: 'PASSWORD', env: 'PASSWORD' }],
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
    memory_request: '32Mi',
    cpu_request: '50m',
  });
  await fleet.post('/catalog/sync');
  return template;
}

/** Resources of each kind, and deployments that run, are stopped, and wait for an unreachable target. */
async function recordDeployments(endpoint) {
  const engineKind = (await fleet.get('/hosts')).hosts[0]?.engine ?? 'podman';
  await fleet.post('/secrets', { name: 'web-password', values: { PASSWORD: randomBytes(9).toString('base64url') } });
  const { host } = await fleet.post('/hosts', {
    name: 'recorded',
    engine: engineKind,
    endpoint,
    labels: { zone: 'a' },
  });
  await fleet.post('/hosts', {
    name: 'unreachable',
    engine: 'docker',
    endpoint: 'tcp://127.0.0.1:1',
    network_types: ['mesh'],
  });
  await fleet.post('/clusters', {
    name: 'unreachable-cluster',
    server: 'https://127.0.0.1:1',
    namespace: 'apps',
    auth: { kind: 'token', token: randomBytes(9).toString('base64url') },
  });
  await until('the host is online', async () => (await fleet.get(`/hosts/${host.id}`)).host.reachability === 'online');
  const deploy = (name, more = {}) =>
    fleet.post('/deployments', { name, template: 'web', target: { host_id: host.id }, ...more });
  const running = (await deploy('web')).deployment;
  await untilPhase(running.id, 'running');
  const stopped = (await deploy('archive', { replicas: 2, env: { GREETING: 'good day' } })).deployment;
  await untilPhase(stopped.id, 'running');
  await fleet.post(`/deployments/${stopped.id}/stop`);
  await untilPhase(stopped.id, 'stopped');
  await fleet.post(`/deployments/${running.id}/restart`);
  await untilPhase(running.id, 'running');
  const deleted = (await deploy('temporary')).deployment;
  await untilPhase(deleted.id, 'running');
  await fleet.delete(`/deployments/${deleted.id}`);
  await until('the deployment is deleted', () =>
    phaseOf(deleted.id).then(
      () => false,
      () => true,
    ),
  );
  await fleet.post('/users', {
    email: 'local@example.test',
    name: 'Local',
    role: 'viewer',
    password: randomBytes(12).toString('base64url'),
  });
}

/** The exchanges with only the last of several reads of a path. */
const withoutRepeatedReads = (exchanges) =>
  exchanges.filter(
    ({ request }, i) =>
      request.method !== 'GET' ||
      !exchanges.slice(i + 1).some((later) => later.request.method === 'GET' && later.request.path === request.path),
  );

const version = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version;
const hubTraffic = await startRecorder(demo.HUB_URL);
const engineTraffic = await startRecorder({ socketPath: engine });
try {
  await recordCatalog(hubTraffic.url);
  await recordDeployments(engineTraffic.url.replace('http:', 'tcp:'));
} finally {
  await Promise.all([hubTraffic.stop(), engineTraffic.stop()]);
}
mkdirSync(out, { recursive: true });
const write = (name, content) => writeFileSync(path.join(out, name), content);
const server = (database) =>
  `postgresql://postgres:${encodeURIComponent(secrets.postgresPassword)}@127.0.0.1:${process.env.POSTGRES_PORT ?? 4400}/${database}`;
for (const service of ['hub', 'fleet']) write(`${service}.sql`, await dumpDatabase(server(service), service, version));
write('hub-traffic.json', `${JSON.stringify(hubTraffic.exchanges, null, 1)}\n`);
write('engine-traffic.json', `${JSON.stringify(withoutRepeatedReads(engineTraffic.exchanges), null, 1)}\n`);
const keys = {
  ENCRYPTION_KEYS: secrets.encryptionKeys,
  HUB_API_KEY: demo.HUB_API_KEY,
  FLEET_ADMIN_TOKEN: demo.FLEET_ADMIN_TOKEN,
};
write('keys.json', `${JSON.stringify(keys, null, 1)}\n`);
console.log(
  `recorded ${hubTraffic.exchanges.length} requests to the hub and ${engineTraffic.exchanges.length} to the engine`,
);
