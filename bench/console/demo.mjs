// The data of the bench and of the screenshots: hosts with and without GPUs, clusters, services
// that run and that fail, and several organizations in the hub.
import { setTimeout as delay } from 'node:timers/promises';

const GIB = 2 ** 30;
const gpus = (count, model, vram) => Array.from({ length: count }, (_, index) => ({ id: `${index}`, model, vram }));
const forGpus = [{ key: 'nvidia.com/gpu', value: '', effect: 'NoSchedule' }];

/** Simulated hosts, in the order of their engines. */
const hosts = [
  { name: 'fra-web-1', labels: { site: 'fra', role: 'web' }, network_types: ['mesh', 'public'] },
  { name: 'fra-web-2', labels: { site: 'fra', role: 'web' }, network_types: ['mesh', 'public'] },
  { name: 'fra-data-1', labels: { site: 'fra', role: 'data' } },
  { name: 'ams-gpu-1', labels: { site: 'ams', role: 'gpu' }, taints: forGpus, gpus: gpus(8, 'NVIDIA H100', '80Gi') },
  { name: 'ams-gpu-2', labels: { site: 'ams', role: 'gpu' }, gpus: gpus(4, 'NVIDIA L40S', '48Gi') },
  { name: 'hel-edge-1', labels: { site: 'hel', role: 'edge' }, schedulable: false },
];
export const HOSTS = hosts.length;
export const CPUS_PER_HOST = 64;

/** Deployments of templates of the catalog. Required variables that are secret are generated. */
const deployments = [
  { name: 'shop-database', template: 'postgresql', host: 'fra-data-1', env: { POSTGRES_DB: 'shop' } },
  { name: 'shop-cache', template: 'redis', host: 'fra-data-1' },
  { name: 'shop-web', template: 'nginx', host: 'fra-web-1' },
  { name: 'shop-sessions', template: 'memcached', host: 'fra-web-1', replicas: 3 },
  { name: 'events', template: 'kafka', host: 'fra-data-1' },
  { name: 'documents', template: 'minio', host: 'fra-data-1' },
  { name: 'search', template: 'qdrant', host: 'fra-data-1' },
  { name: 'metrics', template: 'prometheus', host: 'fra-web-2' },
  { name: 'dashboards', template: 'grafana', host: 'fra-web-2' },
  { name: 'logs', template: 'loki', host: 'fra-web-2' },
  { name: 'status-page', template: 'uptime-kuma', host: 'fra-web-1' },
  { name: 'workflows', template: 'n8n', host: 'fra-web-1' },
  { name: 'chat-model', template: 'vllm-openai', host: 'ams-gpu-1' },
  { name: 'chat-model-canary', template: 'vllm-openai', host: 'ams-gpu-1' },
  { name: 'embeddings', template: 'text-embeddings-inference', host: 'ams-gpu-2' },
  { name: 'code-model', template: 'llama-cpp-cuda', host: 'ams-gpu-2' },
  { name: 'image-studio', template: 'comfyui', host: 'ams-gpu-2' },
  { name: 'transcripts', template: 'speaches', host: 'ams-gpu-2' },
  { name: 'research-notebook', template: 'jupyter-scipy', host: 'fra-web-2', stops: true },
];

/**
 * Workloads whose deployments fail: a simulated host ends `false`, and cannot pull the tag
 * `missing`.
 */
const failing = [
  {
    workload: { name: 'checkout-api', image_name: 'shop/checkout-api', image_tag: '2.4.1', command: ['false'] },
    host: 'fra-web-1',
    replicas: 2,
  },
  { workload: { name: 'invoice-mailer', image_name: 'shop/invoice-mailer', image_tag: 'missing' }, host: 'fra-web-2' },
];

const secrets = [
  {
    ...{ name: 'registry-login', kind: 'registry', server: 'registry.example.test' },
    values: { username: 'robot', password: 'not-a-password' },
  },
  { name: 'smtp-password', values: { value: 'not-a-password' } },
  { name: 'payment-provider-key', values: { value: 'not-a-key' } },
];
const tokens = [
  ['build pipeline', 'operator'],
  ['coding agent', 'viewer'],
  ['backup job', 'viewer'],
];
const users = [
  ['Ada Okafor', 'ada@example.test', 'admin'],
  ['Jonas Berg', 'jonas@example.test', 'operator'],
  ['Mei Tanaka', 'mei@example.test', 'viewer'],
];

const SETTLE_MS = 60_000;

/** Fills the fleet. @returns the ids of hosts, deployments and one cluster, by name */
export async function fillFleet({ ask, engines, query }) {
  const fleet = (method, at, body) => ask('fleet', method, at, body);
  const hostIds = {};
  for (const [index, { name, network_types = ['mesh'], ...more }] of hosts.entries()) {
    const addresses = Object.fromEntries(network_types.map((type) => [type, '127.0.0.1']));
    const { host } = await fleet('POST', '/hosts', {
      ...{ name, engine: 'docker', endpoint: engines.endpoints[index], network_types, addresses },
      ...more,
    });
    hostIds[name] = host.id;
  }
  await waitFor(async () => (await fleet('GET', '/hosts?reachability=online&limit=1')).pagination.total === HOSTS);
  const clusterId = await insertCluster(query);
  const created = {};
  for (const { name, template, host, replicas = 1, env = {} } of deployments) {
    const { deployment } = await fleet('POST', '/deployments', {
      ...{ name, template, replicas, target: { host_id: hostIds[host] } },
      env: { ...(await requiredVariables(fleet, template)), ...env },
    });
    created[name] = deployment.id;
  }
  for (const { workload, host, replicas = 1 } of failing) {
    const { workload: made } = await fleet('POST', '/workloads', {
      ...{ registry_url: 'registry.example.test', cpu_request: '500m', memory_request: '512Mi' },
      ports: [{ containerPort: 8080 }],
      ...workload,
    });
    const target = { host_id: hostIds[host] };
    const { deployment } = await fleet('POST', '/deployments', {
      name: workload.name,
      workload_id: made.id,
      replicas,
      target,
    });
    created[workload.name] = deployment.id;
  }
  await insertOnCluster(query, clusterId);
  for (const { name, stops } of deployments) {
    if (stops) await fleet('PUT', `/deployments/${created[name]}`, { desired_state: 'stopped' });
  }
  for (const secret of secrets) await fleet('POST', '/secrets', secret);
  for (const [name, role] of tokens) await fleet('POST', '/tokens', { name, role, expires_in_days: 90 });
  for (const [name, email, role] of users) await fleet('POST', '/users', { name, email, role });
  await waitFor(async () => {
    const { pagination } = await fleet('GET', '/deployments?phase=pending,starting&limit=1');
    return pagination.total === 0;
  });
  return { hosts: hostIds, deployments: created, cluster: clusterId };
}

async function waitFor(condition) {
  for (const deadline = Date.now() + SETTLE_MS; Date.now() < deadline; await delay(250)) {
    if (await condition()) return;
  }
}

/** A value for each required variable without a default. */
async function requiredVariables(fleet, template) {
  const { env_schema } = await fleet('GET', `/catalog/templates/${template}`);
  return Object.fromEntries(
    env_schema
      .filter(({ required, default_value }) => required && !default_value)
      .map(({ name, description }) => [
        name,
        /\[secret\]/i.test(description) ? { generate: 24 } : name.endsWith('URL') ? 'https://example.test' : 'admin',
      ]),
  );
}

/**
 * A cluster with nodes, as its last check reported them. The next check is a day away, because no
 * API server exists.
 */
async function insertCluster(query) {
  const [{ id }] = await query(
    'fleet',
    `INSERT INTO clusters (id, name, labels, created_by, server, by_admin, auth_kind, sealed, key_id, namespace, network_types,
       gpu_resource_name, reachability, last_seen_at, kubernetes_version, cpu_millis, memory_bytes, gpu_count, conditions,
       storage_classes, check_at)
     VALUES (gen_random_uuid(), 'lon-k8s', '{"site": "lon"}', 'admin@example.test', 'https://10.40.0.10:6443', true, 'token', '',
       'local', 'fleet', '{mesh,public}', 'nvidia.com/gpu', 'online', now(), 'v1.34.2', 192000, 6 * 128 * ${GIB}::bigint, 8, $1, $2,
       now() + interval '1 day') RETURNING id`,
    [
      JSON.stringify([
        { type: 'Permitted', status: 'True', reason: 'Permitted', message: '', at: new Date().toISOString() },
        {
          type: 'MetricsAvailable',
          status: 'False',
          reason: 'NotInstalled',
          message: 'The cluster serves no metrics.',
          at: new Date().toISOString(),
        },
      ]),
      JSON.stringify([]),
    ],
  );
  await query(
    'fleet',
    `INSERT INTO nodes (id, cluster_id, name, labels, taints, schedulable, ready, version, arch, cpu_millis, memory_bytes, gpu_count)
     SELECT gen_random_uuid(), $1, 'lon-node-' || n, '{}', '[]', n <> 5, true, 'v1.34.2', 'amd64', 32000, 128 * ${GIB}::bigint,
       CASE WHEN n > 4 THEN 4 ELSE 0 END
     FROM generate_series(1, 6) n`,
    [id],
  );
  return id;
}

/** Deployments on the cluster, which no worker reconciles. */
const insertOnCluster = (query, cluster) =>
  query(
    'fleet',
    `INSERT INTO deployments (id, name, created_by, workload_id, revision, cluster_id, replicas, cpu_millis, memory_bytes, gpu_count,
       due_at, phase, message, generation, observed_generation, observed_at, instances)
     SELECT gen_random_uuid(), given.name, 'ada@example.test', w.id, 1, $1, given.replicas, given.cpus * 1000,
       given.gib * ${GIB}::bigint, given.gpus, now() + interval '1 day', given.phase,
       given.up || ' of ' || given.replicas || ' up.', 1, 1, now(), '[]'
     FROM workloads w, (VALUES ('recommendations', 6, 24, 48, 0, 'running', 6), ('feature-store', 3, 12, 96, 0, 'running', 3),
       ('batch-scoring', 4, 16, 64, 4, 'running', 4), ('storefront', 8, 16, 32, 0, 'degraded', 6))
       AS given (name, replicas, cpus, gib, gpus, phase, up)
     WHERE w.name = 'checkout-api'`,
    [cluster],
  );

const organizations = [
  { name: 'Northwind Research', slug: 'northwind', tier: 'enterprise', status: 'active', grants: [0, 1] },
  { name: 'Harbour Logistics', slug: 'harbour', tier: 'pro', status: 'active', grants: [0] },
  { name: 'Studio Lumen', slug: 'lumen', tier: 'free', status: 'active', grants: [] },
  { name: 'Old Mill Press', slug: 'old-mill', tier: 'free', status: 'suspended', grants: [] },
];
const categories = [
  { name: 'Internal platform', description: 'Shared services of the company', is_private: true },
  { name: 'Partner models', description: 'Models under a licence', is_private: true },
];

/** The templates of each of these categories. */
const privateTemplates = [
  ['container-registry', 'gitea', 'keycloak'],
  ['tensorrt-llm', 'triton-inference-server'],
];

/**
 * Fills the hub. Organizations, which only their users create, their keys and downloads are
 * inserted.
 */
export async function fillHub({ ask, query }) {
  const hub = (method, at, body) => ask('hub', method, at, body);
  const privateIds = [];
  for (const category of categories) privateIds.push((await hub('POST', '/admin/categories', category)).category.id);
  for (const { name, slug, tier, status, grants } of organizations) {
    const [{ id }] = await query(
      'hub',
      `INSERT INTO organizations (id, name, slug, status, updated_at, created_at)
       VALUES (gen_random_uuid(), $1, $2, $3::"OrgStatus", now(), now() - interval '90 days') RETURNING id`,
      [name, slug, status],
    );
    await query(
      'hub',
      `INSERT INTO subscriptions (id, org_id, tier, updated_at) VALUES (gen_random_uuid(), $1, $2, now())`,
      [id, tier],
    );
    await query(
      'hub',
      `INSERT INTO api_keys (id, org_id, name, key_hash, key_prefix, last_used_at, created_at)
       SELECT gen_random_uuid(), $1, key, md5($2 || key), 'svcc_' || left(md5($2 || key), 6),
         now() - n * interval '3 hours', now() - n * interval '20 days'
       FROM unnest(ARRAY['production fleet', 'staging fleet']) WITH ORDINALITY AS given (key, n)`,
      [id, slug],
    );
    for (const grant of grants) {
      await hub('POST', '/admin/catalog-access', { org_id: id, category_id: privateIds[grant] });
    }
    if (grants.length === 0 && status === 'active') {
      await query(
        'hub',
        `INSERT INTO access_requests (id, org_id, category_slug, reason, requested_by)
         VALUES (gen_random_uuid(), $1, 'internal-platform', 'Our build servers need the registry templates.', 'kim@example.test')`,
        [id],
      );
    }
  }
  await query(
    'hub',
    `UPDATE users SET org_id = (SELECT id FROM organizations WHERE slug = 'northwind'), org_role = 'org_admin'
     WHERE email = 'admin@example.test'`,
  );
  const { templates } = await hub('GET', '/admin/templates?limit=100');
  for (const [index, slugs] of privateTemplates.entries()) {
    for (const { id } of templates.filter(({ slug }) => slugs.includes(slug))) {
      await hub('PUT', `/admin/templates?id=${id}`, { category_id: privateIds[index] });
    }
  }
  await query(
    'hub',
    `INSERT INTO template_downloads (template_id, count)
     SELECT id, (2400 / (2 + row_number() OVER (ORDER BY md5(slug))))::bigint FROM templates
     ON CONFLICT (template_id) DO UPDATE SET count = excluded.count`,
  );
}

/** Adds deployments to the fleet, which no worker reconciles, on its hosts in turn. */
export async function insertDeployments({ query }, count) {
  await query(
    'fleet',
    `WITH one AS (
       SELECT r.workload_id, r.revision FROM workload_revisions r JOIN workloads w ON w.id = r.workload_id
       WHERE w.name = 'shop-web'),
     targets AS (SELECT array_agg(id ORDER BY name) AS ids FROM hosts)
     INSERT INTO deployments (id, name, created_by, created_at, updated_at, workload_id, revision, host_id, replicas, due_at, env,
       phase, message, generation, observed_generation, observed_at)
     SELECT gen_random_uuid(), 'app-' || lpad(n::text, 5, '0'), 'bench', now() - n * interval '1 minute',
       now() - n * interval '1 minute', one.workload_id, one.revision, targets.ids[1 + n % array_length(targets.ids, 1)], 1,
       now() + interval '1 day', '{}', CASE WHEN n % 97 = 0 THEN 'failed' WHEN n % 53 = 0 THEN 'stopped' ELSE 'running' END,
       '1 of 1 running.', 1, 1, now()
     FROM one, targets, generate_series(0, $1 - 1) n`,
    [count],
  );
  await query('fleet', 'ANALYZE');
}
