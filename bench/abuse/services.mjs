// Both services with a large catalog and many deployments, as separate processes on one PostgreSQL
// server.
import { randomBytes, randomUUID } from 'node:crypto';
import { sendOnce } from '../shared/client.mjs';
import { startPostgres, withClient } from '../shared/database.mjs';
import { createService } from '../shared/services.mjs';

const TEMPLATES = 3000;
const HOSTS = 200;
const DEPLOYMENTS = 1000;
/** Templates at the limits of documentation: a page of them has 26 MB. */
const LARGE_TEMPLATES = 100;

const FILL_HUB = [
  `UPDATE catalog_clock SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 millisecond')`,
  `INSERT INTO categories (id, name, slug, sort_name) VALUES
     (gen_random_uuid(), 'Many', 'many', 'many'), (gen_random_uuid(), 'Large', 'large', 'large')`,
  `INSERT INTO templates (id, name, slug, category_id, image_name, documentation, tags, search_text, sort_name)
   SELECT gen_random_uuid(), 'Template ' || n, 'template-' || n, (SELECT id FROM categories WHERE slug = 'many'), 'team/app-' || n,
          repeat(md5(n::text) || ' ', 400), ARRAY['t' || n % 50], 'template ' || n, 'template ' || n
   FROM generate_series(1, ${TEMPLATES}) n`,
  `INSERT INTO templates (id, name, slug, category_id, image_name, documentation, search_text, sort_name)
   SELECT gen_random_uuid(), 'Z ' || n, 'z-' || n, (SELECT id FROM categories WHERE slug = 'large'), 'team/z-' || n,
          repeat(md5(n::text) || ' ', 8000), 'z ' || n, 'z ' || n
   FROM generate_series(1, ${LARGE_TEMPLATES}) n`,
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

const fill = (connectionString, statements, values = []) =>
  withClient(connectionString, async (client) => {
    await client.query('BEGIN');
    for (const statement of statements) await client.query(statement, statement.includes('$1') ? values : []);
    await client.query('COMMIT');
    await client.query('ANALYZE');
  });

/** Starts a hub with many templates, and creates keys of organizations. */
async function startHub(service, databaseUrl) {
  const { url, pid } = await service.start();
  const keyOf = async (slug) => {
    await service.command('create-organization', '--name', slug, '--slug', slug);
    return JSON.parse(await service.command('create-api-key', '--organization', slug, '--name', 'bench')).key;
  };
  const attackers = { anonymous: undefined, key: await keyOf('attacker') };
  const hub = {
    url,
    pid,
    isHub: true,
    attackers,
    caller: await keyOf('caller'),
    callerPath: '/api/v1/catalog/templates?limit=20',
    fleetKey: await keyOf('fleet'),
  };
  await fill(databaseUrl, FILL_HUB);
  return hub;
}

/** Starts a fleet with many hosts and deployments, which mirrors the catalog of its hub. */
async function startFleet(service, databaseUrl) {
  const { url, pid } = await service.start();
  const tokenOf = async (name, role) =>
    JSON.parse(await service.command('create-token', '--name', name, '--role', role)).secret;
  const key = await tokenOf('admin', 'admin');
  const ask = async (method, at, body) =>
    JSON.parse((await sendOnce(url, { method, path: `/api/v1${at}`, key, body })).body);
  await ask('POST', '/catalog/sync');
  const { workload } = await ask('POST', '/workloads', {
    name: 'bench',
    image_name: 'team/app',
    cpu_request: '100m',
    memory_request: '128Mi',
    env_schema: [{ name: 'NAME', required: false }],
    ports: [{ containerPort: 80 }],
  });
  await ask('POST', '/users', {
    email: 'somebody@example.test',
    name: 'Somebody',
    role: 'viewer',
    password: randomUUID(),
  });
  await fill(databaseUrl, FILL_FLEET, [workload.id]);
  const { deployments } = await ask('GET', `/deployments?search=deployment-${DEPLOYMENTS}`);
  const { hosts } = await ask('GET', '/hosts?limit=1');
  return {
    url,
    pid,
    isHub: false,
    attackers: { anonymous: undefined, viewer: await tokenOf('attacker', 'viewer') },
    caller: await tokenOf('caller', 'viewer'),
    callerPath: '/api/v1/deployments?limit=20',
    ids: { deployment: deployments[0].id, host: hosts[0].id, workload: workload.id },
  };
}

/** Starts both services, and fills their databases. */
export async function startServices() {
  const postgres = await startPostgres();
  const services = [];
  const create = (app, environment) => {
    const service = createService({ app, environment: { RATE_LIMIT: 'on', ...environment } });
    services.push(service);
    return service;
  };
  const stop = async () => {
    await Promise.all(services.map((service) => service.stop()));
    await postgres.stop();
  };
  try {
    const hubDatabase = await postgres.create('hub');
    const hub = await startHub(
      create('hub', {
        DATABASE_URL: hubDatabase,
        OIDC_ISSUER: 'http://127.0.0.1:1',
        OIDC_AUDIENCE: 'https://hub.example.test',
      }),
      hubDatabase,
    );
    const fleetDatabase = await postgres.create('fleet');
    const fleet = await startFleet(
      create('fleet', {
        DATABASE_URL: fleetDatabase,
        ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
        HUB_SYNC_INTERVAL: '0',
        OUTBOUND_ALLOW: 'http,loopback',
        HUB_URL: hub.url,
        HUB_API_KEY: hub.fleetKey,
      }),
      fleetDatabase,
    );
    return { hub, fleet, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
