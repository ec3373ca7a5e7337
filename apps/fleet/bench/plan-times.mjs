// How long does it take to plan a deployment, in a fleet that has many hosts and deployments?
//
//   node bench/plan-times.mjs <fleet URL> <token of an operator> <its DATABASE_URL> [tries, default 200]
//
// It fills the fleet's database: use one of its own, and run the fleet with RATE_LIMIT=off. What
// was filled by an earlier run is used again.
//
// Method: 1,000 hosts of five sizes, every fourth with eight GPUs, some of them labelled, closed or
// away, and four clusters of 25 nodes; 5,000 deployments on them, of which every tenth has a GPU;
// all of it inserted by SQL, then ANALYZE. POST /api/v1/deployments/plan is asked for plans of
// several kinds, each 200 times after 20 that don't count. One request at a time, over one
// connection that is kept; a time is from the request's first byte to the answer's last. Every
// answer must be a 200, and `ok` or not as it is to be: a plan that is refused still judges every
// candidate.
//
// Aim: a median below 100 ms. Every candidate is in the answer with its reasons, which is most of
// its size.

import pg from 'pg';

const WARM_UP = 20;

const [url, token, databaseUrl, tries = '200'] = process.argv.slice(2);
if (!url || !token || !databaseUrl) {
  console.error('node bench/plan-times.mjs <fleet URL> <token of an operator> <its DATABASE_URL> [tries]');
  process.exit(2);
}
const rounds = Number(tries);

const FILL = `
  INSERT INTO hosts (id, name, labels, engine, endpoint, by_admin, created_by, network_types, schedulable, reachability,
      cpu_millis, memory_bytes, check_at, gpus)
    SELECT gen_random_uuid(), 'host-' || n, jsonb_build_object('zone', 'zone-' || n % 3), 'docker', 'unix:///run/engine.sock',
      true, 'bench', CASE n % 3 WHEN 0 THEN '{public,mesh}'::text[] ELSE '{public}' END, n % 50 <> 7,
      (CASE n % 50 WHEN 9 THEN 'unreachable' ELSE 'online' END)::"Reachability",
      (4 << n % 5) * 1000, (16::bigint << n % 5) * 1073741824, now() + interval '1 day',
      CASE n % 4 WHEN 0 THEN (SELECT jsonb_agg(jsonb_build_object('id', 'gpu-' || g, 'model', 'any', 'vram', '24Gi'))
        FROM generate_series(0, 7) g) ELSE '[]' END
    FROM generate_series(1, 1000) n;
  INSERT INTO clusters (id, name, server, by_admin, created_by, auth_kind, sealed, key_id, namespace, network_types,
      gpu_resource_name, reachability, check_at, cpu_millis, memory_bytes, gpu_count)
    SELECT gen_random_uuid(), 'cluster-' || n, 'https://cluster.example.test', true, 'bench', 'token', '', '', 'fleet',
      '{public}', 'nvidia.com/gpu', 'online', now() + interval '1 day', 400000, 1600 * 1073741824::bigint, 20
    FROM generate_series(1, 4) n;
  INSERT INTO nodes (id, cluster_id, name, labels, taints, schedulable, ready, version, arch, cpu_millis, memory_bytes, gpu_count)
    SELECT gen_random_uuid(), c.id, c.name || '-' || n, '{"nvidia.com/gpu.memory": "24576"}', '[]', true, true, 'v1.33.1', 'amd64',
      16000, 64 * 1073741824::bigint, CASE WHEN n <= 5 THEN 4 ELSE 0 END
    FROM clusters c, generate_series(1, 25) n;
  INSERT INTO deployments (id, name, created_by, workload_id, revision, host_id, replicas, cpu_millis, memory_bytes, gpu_count,
      due_at)
    SELECT gen_random_uuid(), 'deployment-' || n, 'bench', $1::uuid, 1, h.id, 1, 100, 134217728, 0, now() + interval '1 day'
    FROM generate_series(1, 5000) n JOIN hosts h ON h.name = 'host-' || (1 + n % 1000);
  WITH given AS (
    SELECT DISTINCT ON (d.host_id) d.id, d.host_id FROM deployments d JOIN hosts h ON h.id = d.host_id
    WHERE h.gpus <> '[]' ORDER BY d.host_id, d.id)
  INSERT INTO allocated_gpus (host_id, gpu_id, deployment_id, ordinal) SELECT host_id, 'gpu-0', id, 0 FROM given;
  UPDATE deployments d SET gpu_count = 1 FROM allocated_gpus g WHERE g.deployment_id = d.id;
  INSERT INTO deployment_revisions (deployment_id, generation, operation, revision, replicas, env, desired_state, created_by)
    SELECT id, 1, 'create', 1, 1, '{}', 'running', 'bench' FROM deployments;
  ANALYZE`;

const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

async function made(name, given) {
  const { workloads } = await (await fetch(new URL(`/api/v1/workloads?search=${name}`, url), { headers })).json();
  if (workloads.length > 0) return workloads[0].id;
  const body = JSON.stringify({ name, image_name: 'team/app', ...given });
  const answer = await fetch(new URL('/api/v1/workloads', url), { method: 'POST', headers, body });
  if (answer.status !== 201) throw new Error(`POST /workloads was answered ${answer.status}`);
  return (await answer.json()).workload.id;
}

const small = await made('bench-small', {
  cpu_request: '100m',
  memory_request: '128Mi',
  env_schema: [{ name: 'NAME' }],
  ports: [{ containerPort: 80 }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
});
const gpus = await made('bench-gpus', {
  cpu_request: '1',
  memory_request: '4Gi',
  gpu_count: 2,
  vram_request: '20Gi',
  required_network_types: ['mesh'],
});
const nowhere = await made('bench-nowhere', { cpu_request: '500', gpu_count: 16, node_selector: { zone: 'moon' } });

const database = new pg.Client({ connectionString: databaseUrl });
await database.connect();
const count = async (table) => Number((await database.query(`SELECT count(*) FROM ${table}`)).rows[0].count);
if ((await count('hosts')) === 0) {
  for (const statement of FILL.split(/;\n/)) await database.query(statement, statement.includes('$1') ? [small] : []);
}
const hosts = await count('hosts');
const deployments = await count('deployments');
const { rows } = await database.query(`
  SELECT d.id, d.host_id FROM deployments d JOIN hosts h ON h.id = d.host_id
  WHERE h.reachability = 'online' AND h.schedulable ORDER BY d.name LIMIT 1`);
await database.end();

const [{ id: deployment_id, host_id }] = rows;
const timed = {
  'a new one, small': { ok: true, body: { name: 'planned', workload_id: small } },
  'a new one with two GPUs each, three replicas': { ok: true, body: { workload_id: gpus, replicas: 3 } },
  'a new one on a given host': { ok: true, body: { workload_id: small, target: { host_id } } },
  'one that fits nowhere': { ok: false, body: { workload_id: nowhere } },
  'a change of one that is there': { ok: true, body: { deployment_id, replicas: 2 } },
};

async function timeOf({ ok, body }) {
  const started = performance.now();
  const answer = await fetch(new URL('/api/v1/deployments/plan', url), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  const took = performance.now() - started;
  const plan = JSON.parse(text);
  if (answer.status !== 200 || plan.ok !== ok)
    throw new Error(`a plan was answered ${answer.status}: ${text.slice(0, 300)}`);
  return { took, size: text.length, candidates: plan.placement.candidates.length };
}

const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
const shown = (milliseconds) => `${milliseconds.toFixed(1)} ms`;

console.log(`Node ${process.version}; ${hosts} hosts, ${deployments} deployments`);
for (const [what, wish] of Object.entries(timed)) {
  const taken = [];
  let last;
  for (let round = -WARM_UP; round < rounds; round += 1) {
    last = await timeOf(wish);
    if (round >= 0) taken.push(last.took);
  }
  const sorted = taken.toSorted((a, b) => a - b);
  const times = `median ${shown(quantile(sorted, 0.5))}, p95 ${shown(quantile(sorted, 0.95))}, slowest ${shown(sorted.at(-1))}`;
  console.log(`${what}: ${times} (${last.candidates} candidates, ${Math.round(last.size / 1024)} KiB)`);
}
