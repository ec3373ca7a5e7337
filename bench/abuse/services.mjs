// Both services with a large catalog and many deployments, as separate processes on one PostgreSQL server.
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import pg from 'pg';
import { untilReady } from '../shared/processes.mjs';

const repository = path.resolve(import.meta.dirname, '..', '..');
const TEMPLATES = 3000;
const HOSTS = 200;
const DEPLOYMENTS = 1000;

const FILL_HUB = [
  `INSERT INTO categories (id, name, slug, sort_name) VALUES (gen_random_uuid(), 'Many', 'many', 'many')`,
  `INSERT INTO templates (id, name, slug, category_id, image_name, documentation, tags, search_text, sort_name)
   SELECT gen_random_uuid(), 'Template ' || n, 'template-' || n, (SELECT id FROM categories), 'team/app-' || n,
          repeat(md5(n::text) || ' ', 400), ARRAY['t' || n % 50], 'template ' || n, 'template ' || n
   FROM generate_series(1, ${TEMPLATES}) n`,
];

const FILL_FLEET = [
  `INSERT INTO hosts (id, name, engine, endpoint, by_admin, created_by, network_types, reachability, cpu_millis, memory_bytes,
     check_at, gpus)
   SELECT gen_random_uuid(), 'host-' || n, 'docker', 'unix:///run/engine.sock', true, 'bench', '{mesh}', 'online', 64000,
     256 * 1073741824::bigint, now() + interval '1 day',
     (SELECT jsonb_agg(jsonb_build_object('id', 'gpu-' || g, 'model', 'any', 'vram', '24Gi')) FROM generate_series(0, 7) g)
   FROM generate_series(1, ${HOSTS}) n`,
  `INSERT INTO deployments (id, name, created_by, workload_id, revision, host_id, replicas, cpu_millis, memory_bytes, gpu_count,
     due_at, env)
   SELECT gen_random_uuid(), 'deployment-' || n, 'bench', $1::uuid, 1, h.id, 1, 100, 134217728, 0, now() + interval '1 day',
     jsonb_build_object('NAME', repeat('x', CASE n WHEN ${DEPLOYMENTS} THEN 30000 ELSE 100 END))
   FROM generate_series(1, ${DEPLOYMENTS}) n JOIN hosts h ON h.name = 'host-' || (1 + n % ${HOSTS})`,
  `INSERT INTO deployment_revisions (deployment_id, generation, operation, revision, replicas, env, desired_state, created_by)
   SELECT id, g, 'create', 1, 1, env, 'running', 'bench' FROM deployments, generate_series(1, 3) g`,
];

async function query(connectionString, statements, values = []) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query('BEGIN');
    for (const statement of statements) await client.query(statement, statement.includes('$1') ? values : []);
    await client.query('COMMIT');
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
}

/** Starts both services, and fills their databases. */
export async function startServices() {
  const postgres = await startEmbeddedPostgres();
  const running = [];
  const database = (name) => postgres.ensureDatabase({ name, role: name, password: randomBytes(12).toString('hex') });
  const environments = {
    hub: {
      DATABASE_URL: await database('hub'),
      PORT: `${await freePort()}`,
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_AUDIENCE: 'https://hub.example.test',
    },
    fleet: {
      DATABASE_URL: await database('fleet'),
      PORT: `${await freePort()}`,
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      HUB_SYNC_INTERVAL: '0',
      OUTBOUND_ALLOW: 'http,loopback',
    },
  };
  const mainOf = (app) => path.join(repository, 'apps', app, 'dist', 'main.js');
  const run = (app, args, stdout) =>
    spawn(process.execPath, [mainOf(app), ...args], {
      env: { PATH: process.env.PATH, RATE_LIMIT: 'on', ...environments[app] },
      stdio: ['ignore', stdout, 'inherit'],
    });
  const command = async (app, ...args) => {
    const child = run(app, args, 'pipe');
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${app} ${args.join(' ')} failed`);
    return output;
  };
  const urlOf = (app) => `http://127.0.0.1:${environments[app].PORT}`;
  const start = async (app) => {
    const child = run(app, [], 'ignore');
    running.push(child);
    await untilReady(urlOf(app), child);
    return child.pid;
  };
  const stop = async () => {
    const ended = running.map((child) => (child.exitCode === null ? once(child, 'exit') : undefined));
    for (const child of running) child.kill('SIGTERM');
    await Promise.all(ended);
    await postgres.stop();
  };
  try {
    const hubPid = await start('hub');
    const keyOf = async (slug) => {
      await command('hub', 'create-organization', '--name', slug, '--slug', slug);
      return JSON.parse(await command('hub', 'create-api-key', '--organization', slug, '--name', 'bench')).key;
    };
    const hub = {
      ...{ url: urlOf('hub'), pid: hubPid, isHub: true },
      attackers: { anonymous: undefined, key: await keyOf('attacker') },
      caller: await keyOf('caller'),
      callerPath: '/api/v1/catalog/templates?limit=20',
    };
    await query(environments.hub.DATABASE_URL, [
      `UPDATE catalog_clock SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 millisecond')`,
      ...FILL_HUB,
    ]);
    Object.assign(environments.fleet, { HUB_URL: hub.url, HUB_API_KEY: await keyOf('fleet') });
    const fleetPid = await start('fleet');
    const tokenOf = async (name, role) =>
      JSON.parse(await command('fleet', 'create-token', '--name', name, '--role', role)).secret;
    const admin = await tokenOf('admin', 'admin');
    const asAdmin = async (method, at, body) => {
      const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
      const response = await fetch(`${urlOf('fleet')}/api/v1${at}`, { method, headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${await response.text()}`);
      return response.json();
    };
    await asAdmin('POST', '/catalog/sync');
    const { workload } = await asAdmin('POST', '/workloads', {
      ...{ name: 'bench', image_name: 'team/app', cpu_request: '100m', memory_request: '128Mi' },
      env_schema: [{ name: 'NAME', required: false }],
      ports: [{ containerPort: 80 }],
    });
    await asAdmin('POST', '/users', {
      ...{ email: 'somebody@example.test', name: 'Somebody', role: 'viewer', password: randomUUID() },
    });
    await query(environments.fleet.DATABASE_URL, FILL_FLEET, [workload.id]);
    const [large] = (await asAdmin('GET', `/deployments?search=deployment-${DEPLOYMENTS}`)).deployments;
    const [host] = (await asAdmin('GET', '/hosts?limit=1')).hosts;
    const fleet = {
      ...{ url: urlOf('fleet'), pid: fleetPid, isHub: false },
      attackers: { anonymous: undefined, viewer: await tokenOf('attacker', 'viewer') },
      caller: await tokenOf('caller', 'viewer'),
      callerPath: '/api/v1/deployments?limit=20',
      ids: { deployment: large.id, host: host.id, workload: workload.id },
    };
    return { hub, fleet, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
