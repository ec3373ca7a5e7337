// Records the current version as a release: the databases of both services, the requests of the fleet to the hub, and its
// requests to an engine. Tests of later versions read these files as the previous version. As root, on a machine with
// Podman, runc, iptables and Busybox (`.ci/run` installs them), after `pnpm install`:
//
//   npx turbo run build && node infra/local/release/record.mjs
//
// It starts the product and a Podman of its own, takes a minute, and writes infra/releases/<version>. The ports can
// be selected as for `npm start`; by default, they are free ones.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, release, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { freePort } from '@svc/database/embedded';
import { startEngine } from '@svc/testing/engine/start';
import { dumpDatabase } from './dump.mjs';
import { startRecorder } from './recorder.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** The templates of the starter catalog that the recorded hub keeps. */
const KEPT = ['comfyui', 'ollama', 'postgresql', 'qdrant', 'redis', 'restic-backup'];

/** Starts the product with an empty data folder, and waits until it is ready. No engine is registered. */
async function startProduct(data) {
  const ports = {};
  for (const name of ['HUB_PORT', 'FLEET_PORT', 'IDP_PORT', 'POSTGRES_PORT'])
    ports[name] = process.env[name] ?? `${await freePort()}`;
  const env = { PATH: process.env.PATH, ...ports, DATA_DIR: data, DOCKER_HOST: 'unix:///nowhere/engine.sock' };
  const main = path.join(root, 'infra/local/dist/main.js');
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const stop = async () => {
    child.kill();
    await exit;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('ready')) return { postgresPort: ports.POSTGRES_PORT, stop };
  }
  throw new Error('The product ended before it was ready.');
}

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

/** Catalog: the first walk, changes, removals by deletion and by access, and rejected requests. */
async function recordCatalog({ hub, fleet, demo, image, url }) {
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
  await publishWebTemplate({ hub, image, category_id: kept.find(({ slug }) => slug === 'redis').category_id });
  await fleet.post('/catalog/sync');
}

/** A web server that ends with SIGTERM, which the first process of a container ignores by default. */
const SERVE = `trap 'exit 0' TERM
echo "$GREETING $PASSWORD" > /data/index.html
httpd -f -p 8080 -h /data & wait`;

/** A template that the engine can run without a registry. */
async function publishWebTemplate({ hub, image, category_id }) {
  const [, name, tag] = /^localhost\/(.+):([^:]+)$/.exec(image);
  await hub.post('/admin/templates', {
    name: 'Web',
    slug: 'web',
    category_id,
    description: 'A web server',
    registry_url: 'localhost',
    image_name: name,
    image_tag: tag,
    command: ['sh', '-c', SERVE],
    ports: [{ containerPort: 8080, protocol: 'TCP' }],
    env: [{ name: 'GREETING', value: 'hello' }],
    env_schema: [{ name: 'KEY', required: true, default_value: '', description: 'The key of the sessions [secret]' }],
    secret_refs: [{ name: 'web-password', key: 'PASSWORD', env: 'PASSWORD' }],
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
    memory_request: '32Mi',
    cpu_request: '50m',
  });
}

/** Resources of each kind, and deployments that run, are stopped, and wait for an unreachable target. */
async function recordDeployments({ fleet, kind, endpoint }) {
  const phaseOf = async (id) => (await fleet.get(`/deployments/${id}`)).deployment.phase;
  const untilPhase = (id, phase) => until(`deployment ${id} is ${phase}`, async () => (await phaseOf(id)) === phase);
  await fleet.post('/secrets', { name: 'web-password', values: { PASSWORD: randomBytes(9).toString('base64url') } });
  const { host } = await fleet.post('/hosts', {
    name: 'recorded',
    engine: kind,
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
    fleet.post('/deployments', {
      name,
      template: 'web',
      target: { host_id: host.id },
      ...more,
      env: { KEY: { generate: 32 }, ...more.env },
    });
  const running = (await deploy('web')).deployment;
  await untilPhase(running.id, 'running');
  const { storage } = await fleet.post('/storage', { name: 'shared', access_mode: 'ReadWriteMany' });
  const volumes = { data: { storage_id: storage.id } };
  const stopped = (await deploy('archive', { replicas: 2, volumes, env: { GREETING: 'good day' } })).deployment;
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
  const { user } = await fleet.post('/users', { email: 'invited@example.test', name: 'Invited', role: 'operator' });
  await fleet.post(`/users/${user.id}/invitation`);
}

/** The exchanges with only the last of several reads of a path. */
const withoutRepeatedReads = (exchanges) =>
  exchanges.filter(
    ({ request }, i) =>
      request.method !== 'GET' ||
      !exchanges.slice(i + 1).some((later) => later.request.method === 'GET' && later.request.path === request.path),
  );

/** Records the running product and engine. @returns the content of each file */
async function record({ data, engine, postgresPort }) {
  const demo = parseEnv(readFileSync(path.join(data, 'demo.env'), 'utf8'));
  const secrets = JSON.parse(readFileSync(path.join(data, 'secrets.json'), 'utf8'));
  const hub = api(demo.HUB_URL, demo.HUB_ADMIN_JWT);
  const fleet = api(demo.FLEET_URL, demo.FLEET_ADMIN_TOKEN);
  const hubTraffic = await startRecorder(demo.HUB_URL);
  const engineTraffic = await startRecorder({ socketPath: socketOf(engine) });
  try {
    await recordCatalog({ hub, fleet, demo, image: engine.image, url: hubTraffic.url });
    await recordDeployments({ fleet, kind: engine.kind, endpoint: engineTraffic.url.replace('http:', 'tcp:') });
  } finally {
    await Promise.all([hubTraffic.stop(), engineTraffic.stop()]);
  }
  const server = `postgresql://postgres:${encodeURIComponent(secrets.postgresPassword)}@127.0.0.1:${postgresPort}`;
  const keys = {
    ENCRYPTION_KEYS: secrets.encryptionKeys,
    HUB_ENCRYPTION_KEYS: secrets.hubEncryptionKeys,
    HUB_API_KEY: demo.HUB_API_KEY,
    FLEET_ADMIN_TOKEN: demo.FLEET_ADMIN_TOKEN,
  };
  return {
    'hub.sql': await dumpDatabase(`${server}/hub`, 'hub', version),
    'fleet.sql': await dumpDatabase(`${server}/fleet`, 'fleet', version),
    'hub-traffic.json': jsonOf(hubTraffic.exchanges),
    'engine-traffic.json': jsonOf(withoutRepeatedReads(engineTraffic.exchanges)),
    'keys.json': jsonOf(keys),
  };
}

const jsonOf = (value) => `${JSON.stringify(value, null, 1)}\n`;
const socketOf = ({ endpoint }) => endpoint.slice('unix://'.length);

/** Replaces what identifies this machine. @throws if the text then still contains a path of it */
function withoutMachine(text, engine) {
  const anonymous = text
    .replaceAll(path.dirname(socketOf(engine)), '/var/lib/recorded')
    .replaceAll(`"${hostname()}"`, '"recorded"')
    .replaceAll(`"${release()}"`, '"6.12.0"');
  for (const folder of [root, path.join(tmpdir(), 'svc-')])
    if (anonymous.includes(folder)) throw new Error(`The recording contains ${folder}.`);
  return anonymous;
}

const data = mkdtempSync(path.join(tmpdir(), 'svc-record-'));
let engine;
let product;
try {
  engine = await startEngine();
  product = await startProduct(data);
  const files = await record({ data, engine, postgresPort: product.postgresPort });
  const out = path.join(root, 'infra/releases', version);
  mkdirSync(out, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(out, name), withoutMachine(text, engine));
  }
  console.log(`recorded ${version} in ${out}`);
} finally {
  await product?.stop();
  await engine?.stop();
  rmSync(data, { recursive: true, force: true });
}
