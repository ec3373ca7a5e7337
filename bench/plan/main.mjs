// How long does it take to plan a deployment in a fleet that has many hosts and deployments?
//
// And how long plans of files take, and the changes of others while a large plan is applied?
//
//   pnpm bench:plan [--tries <default 200>]
//
// Method: a fleet runs as in production, with 1,000 hosts of five sizes, four clusters of 25 nodes each,
// and 5,000 deployments, which are inserted into its database. Every fourth host has eight GPUs, some
// hosts are unschedulable or unreachable, and one deployment on each host with GPUs has one of them.
// Plans of several kinds are requested one at a time on one connection, after 20 requests of each kind
// that do not count. A time is from the start of the request to the end of the response. The goal is a
// median of 100 ms. Each response contains every candidate with its reasons, which is most of its size.
//
// Then the files of a set with 2,000 documents, of which 10 changed, are planned. The goal is a median of 300 ms. Last, a plan of
// 200 creations is applied while another caller creates deployments one after the other: each must succeed, and the slowest must
// take at most 5 s.
import { parseArgs } from 'node:util';
import { startFleet } from '../fleet/processes.mjs';
import { createClient, sendOnce } from '../shared/client.mjs';
import { withClient } from '../shared/database.mjs';
import { atMost, createReport } from '../shared/report.mjs';
import { median, quantile } from '../shared/statistics.mjs';

const { values } = parseArgs({ options: { tries: { type: 'string', default: '200' } } });
const tries = Number(values.tries);
const WARM_UP = 20;
const HOSTS = 1000;
const DEPLOYMENTS = 5000;
const GOAL_MS = 100;

const FILL = `
  INSERT INTO hosts (id, name, labels, engine, endpoint, by_admin, created_by, network_types, schedulable, reachability,
      cpu_millis, memory_bytes, check_at, gpus)
    SELECT gen_random_uuid(), 'host-' || n, jsonb_build_object('zone', 'zone-' || n % 3), 'docker', 'unix:///run/engine.sock',
      true, 'bench', CASE n % 3 WHEN 0 THEN '{public,mesh}'::text[] ELSE '{public}' END, n % 50 <> 7,
      (CASE n % 50 WHEN 9 THEN 'unreachable' ELSE 'online' END)::"Reachability",
      (4 << n % 5) * 1000, (16::bigint << n % 5) * 1073741824, now() + interval '1 day',
      CASE n % 4 WHEN 0 THEN (SELECT jsonb_agg(jsonb_build_object('id', 'gpu-' || g, 'model', 'any', 'vram', '24Gi'))
        FROM generate_series(0, 7) g) ELSE '[]' END
    FROM generate_series(1, ${HOSTS}) n;
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
    FROM generate_series(1, ${DEPLOYMENTS}) n JOIN hosts h ON h.name = 'host-' || (1 + n % ${HOSTS});
  WITH given AS (
    SELECT DISTINCT ON (d.host_id) d.id, d.host_id FROM deployments d JOIN hosts h ON h.id = d.host_id
    WHERE h.gpus <> '[]' ORDER BY d.host_id, d.id)
  INSERT INTO allocated_gpus (host_id, gpu_id, deployment_id, ordinal) SELECT host_id, 'gpu-0', id, 0 FROM given;
  UPDATE deployments d SET gpu_count = 1 FROM allocated_gpus g WHERE g.deployment_id = d.id;
  INSERT INTO deployment_revisions (deployment_id, generation, operation, revision, replicas, env, desired_state, created_by)
    SELECT id, 1, 'create', 1, 1, '{}', 'running', 'bench' FROM deployments;
  ANALYZE`;

/** The workloads of the plans. */
const WORKLOADS = {
  small: {
    name: 'bench-small',
    cpu_request: '100m',
    memory_request: '128Mi',
    env_schema: [{ name: 'NAME' }],
    ports: [{ containerPort: 80 }],
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
  },
  gpus: {
    name: 'bench-gpus',
    cpu_request: '1',
    memory_request: '4Gi',
    gpu_count: 2,
    vram_request: '20Gi',
    required_network_types: ['mesh'],
  },
  nowhere: { name: 'bench-nowhere', cpu_request: '500', gpu_count: 16, node_selector: { zone: 'moon' } },
};

async function createWorkloads({ replica, tokens }) {
  const ids = {};
  for (const [kind, workload] of Object.entries(WORKLOADS)) {
    const body = { image_name: 'team/app', ...workload };
    const request = { method: 'POST', path: '/api/v1/workloads', key: tokens.admin, body };
    ids[kind] = JSON.parse((await sendOnce(replica.url, request)).body).workload.id;
  }
  return ids;
}

/** Inserts the data. @returns a deployment on a host that can run more, and this host */
const fill = (databaseUrl, workload) =>
  withClient(databaseUrl, async (client) => {
    for (const statement of FILL.split(/;\n/)) {
      await client.query(statement, statement.includes('$1') ? [workload] : []);
    }
    const { rows } = await client.query(`
      SELECT d.id AS deployment_id, d.host_id FROM deployments d JOIN hosts h ON h.id = d.host_id
      WHERE h.reachability = 'online' AND h.schedulable ORDER BY d.name LIMIT 1`);
    return rows[0];
  });

/** The bodies of the plans, and whether they are possible. */
const plansOf = ({ small, gpus, nowhere }, { deployment_id, host_id }) => [
  { title: 'a new deployment', ok: true, body: { name: 'planned', workload_id: small } },
  {
    title: 'a new deployment of three replicas with two GPUs each',
    ok: true,
    body: { workload_id: gpus, replicas: 3 },
  },
  { title: 'a new deployment on a given host', ok: true, body: { workload_id: small, target: { host_id } } },
  { title: 'a new deployment that fits nowhere', ok: false, body: { workload_id: nowhere } },
  { title: 'a change of a deployment', ok: true, body: { deployment_id, env: { NAME: 'changed' } } },
];

/** @throws if the response is not as expected */
async function requestPlan(client, key, { ok, body }) {
  const response = await client.send({ method: 'POST', path: '/api/v1/deployments/plan', key, body });
  const plan = JSON.parse(response.body);
  if (response.status !== 200 || plan.ok !== ok) {
    throw new Error(`a plan was answered with ${response.status}: ${response.body.subarray(0, 300)}`);
  }
  return { latency: response.latency, bytes: response.body.length, candidates: plan.placement.candidates.length };
}

const DOCUMENTS = 2000;
const CHANGED = 10;
const FILES_GOAL_MS = 300;
const CREATIONS = 200;
const OTHERS_GOAL_MS = 5000;

const aDocument = (number, rest) => `kind: deployment\nname: deployment-${number}\nworkload: bench-small\n${rest}`;

/** The files of a set, of which the first ones set another value in each round. */
const filesOf = (round) =>
  Array.from({ length: DOCUMENTS / 20 }, (_, file) => ({
    path: `${file}.yaml`,
    text: Array.from({ length: 20 }, (_, index) => {
      const number = file * 20 + index + 1;
      return aDocument(number, number <= CHANGED ? `env: { NAME: value-${round} }\n` : '');
    }).join('---\n'),
  }));

/** @throws if the response has another status */
async function expectStatus(client, request, expected) {
  const response = await client.send(request);
  const body = JSON.parse(response.body);
  if (response.status === expected) return { ...response, body };
  throw new Error(`${request.path} was answered with ${response.status}: ${JSON.stringify(body).slice(0, 500)}`);
}

const planFiles = (client, key, body) =>
  expectStatus(client, { method: 'POST', path: '/api/v1/plans', key, body }, 201);

const applyPlan = (client, key, { id, digest }) =>
  expectStatus(client, { method: 'POST', path: `/api/v1/plans/${id}/apply`, key, body: { digest } }, 200);

/** Plans a set of files of which a few changed, after they were applied once. */
async function measureFiles(client, key) {
  const plain = Array.from({ length: DOCUMENTS }, (_, index) => aDocument(index + 1, '')).join('---\n');
  const managed = await planFiles(client, key, { files: [{ path: 'all.yaml', text: plain }] });
  await applyPlan(client, key, managed.body.plan);
  const latencies = [];
  for (let round = -3; round < Math.max(5, tries / 10); round += 1) {
    const { body, latency } = await planFiles(client, key, { files: filesOf(round) });
    if (body.plan.summary.change !== CHANGED)
      throw new Error(`unexpected changes: ${JSON.stringify(body.plan.summary)}`);
    if (round >= 0) latencies.push(latency);
    if (round % 2 === 0) await applyPlan(client, key, body.plan); // so that the open plans stay within their bound
  }
  const times = `median ${ms(median(latencies))}, slowest ${ms(Math.max(...latencies))}`;
  report(
    `a plan of ${DOCUMENTS} documents with ${CHANGED} changes: ${times}`,
    atMost(median(latencies), FILES_GOAL_MS),
  );
}

/**
 * The number of one of 19 large hosts. The documents name their hosts, so that creations of the other caller do not change the plan. No
 * changed document of `filesOf` runs on them: the hosts have no engine, and a change shows that they are unreachable.
 */
const hostOf = (index) => (1 + (index % 19)) * 50 + 4;

/** Applies a plan of many creations, while another caller creates deployments. */
async function measureApplication(url, { admin, operator = admin }, workload) {
  const [client, other] = [createClient({ url }), createClient({ url })];
  const text = Array.from(
    { length: CREATIONS },
    (_, index) =>
      `kind: deployment\nname: many-${index}\nworkload: bench-small\ntarget: { host: host-${hostOf(index)} }\n`,
  );
  const { body } = await planFiles(client, admin, {
    set: 'many',
    files: [{ path: 'many.yaml', text: text.join('---\n') }],
  });
  let isApplied = false;
  const application = applyPlan(client, admin, body.plan).finally(() => {
    isApplied = true;
  });
  const latencies = [];
  for (let count = 0; !isApplied || latencies.length === 0; count += 1) {
    const created = { name: `other-${count}`, workload_id: workload };
    const request = { method: 'POST', path: '/api/v1/deployments', key: operator, body: created };
    latencies.push((await expectStatus(other, request, 201)).latency);
  }
  const { latency } = await application;
  const slowest = Math.max(...latencies);
  report(
    `a plan of ${CREATIONS} creations is applied in ${ms(latency)}; ${latencies.length} creations meanwhile, slowest ${ms(slowest)}`,
    atMost(slowest, OTHERS_GOAL_MS),
  );
  for (const each of [client, other]) {
    each.end();
    each.close();
  }
}

const ms = (milliseconds) => `${milliseconds.toFixed(1)} ms`;
const { report, end } = createReport();
const fleet = await startFleet();
try {
  const workloads = await createWorkloads(fleet);
  const existing = await fill(fleet.databaseUrl, workloads.small);
  const client = createClient({ url: fleet.replica.url });
  try {
    for (const plan of plansOf(workloads, existing)) {
      const latencies = [];
      let last;
      for (let round = -WARM_UP; round < tries; round += 1) {
        last = await requestPlan(client, fleet.tokens.admin, plan);
        if (round >= 0) latencies.push(last.latency);
      }
      const times = `median ${ms(median(latencies))}, p95 ${ms(quantile(latencies, 0.95))}`;
      const slowest = ms(Math.max(...latencies));
      const size = `${last.candidates} candidates, ${Math.round(last.bytes / 1024)} KiB`;
      report(`${plan.title}: ${times}, slowest ${slowest} (${size})`, atMost(median(latencies), GOAL_MS));
    }
    await measureFiles(client, fleet.tokens.admin);
    client.end();
    await measureApplication(fleet.replica.url, fleet.tokens, workloads.small);
  } finally {
    client.close();
  }
} finally {
  await fleet.stop();
}
end();
