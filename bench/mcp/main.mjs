// What does a call of a tool cost compared with the same operation by the API?
//
//   pnpm bench:mcp [--rounds <default 400>] [--record]
//
// Method: a fleet runs as in production, with 100 deployments. Each round sends each request and
// each call in turn on one connection, so that both see the same load of the machine. The medians
// are compared. The bench fails if a request fails, or if its connection is opened again.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { workloadDefaults } from '@svc/contract/fleet';
import { createClient } from '../shared/client.mjs';
import { startPostgres, withClient } from '../shared/database.mjs';
import { createReport } from '../shared/report.mjs';
import { createService } from '../shared/services.mjs';
import { median, micro } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '400' }, record: { type: 'boolean', default: false } },
});
const rounds = Number(values.rounds);
const WARM_UP = 50;
const DEPLOYMENTS = 100;
/** Calls are limited per principal and minute, and a round has four. */
const ROUNDS_PER_TOKEN = 50;
/** A call may cost this share of a request, or this much more, in milliseconds. */
const GOALS = { ratio: 1.5, more: 2 };

const { report, end } = createReport();

const FILL = `
  WITH workload AS (INSERT INTO workloads (id, name, created_by) VALUES (gen_random_uuid(), 'bench', 'bench') RETURNING id),
  revision AS (
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, created_by)
    SELECT id, 1, $1::jsonb, '{}', 'bench' FROM workload RETURNING workload_id)
  INSERT INTO deployments (id, name, created_by, workload_id, revision, replicas, due_at, env)
  SELECT gen_random_uuid(), 'deployment-' || n, 'bench', workload_id, 1, 1, now() + interval '1 day', '{}'
  FROM revision, generate_series(1, ${DEPLOYMENTS}) n`;

/** Sends a request. @returns its duration in milliseconds. @throws if it or the call in it fails */
async function timeOf(client, request) {
  const { status, body, latency } = await client.send(request);
  const text = `${body}`;
  if (status === 200 && !/"isError":true|"error":\{/.test(text)) return latency;
  throw new Error(`${request.method} ${request.path} was answered with ${status}: ${text.slice(0, 300)}`);
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const ACCEPT = { accept: 'application/json, text/event-stream' };

const call = (name, given) => ({
  method: 'POST',
  path: '/mcp',
  headers: { ...ACCEPT, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta: META } },
});

const callOfEarlierRevision = (name, given) => ({
  method: 'POST',
  path: '/mcp',
  headers: { ...ACCEPT, 'mcp-protocol-version': '2025-11-25' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
});

/** Measures each operation by the API and by its tool, with the tokens in turn. */
async function measure(client, tokens, workloadId) {
  const plan = { workload_id: workloadId, name: 'planned' };
  const list = { method: 'GET', path: '/api/v1/deployments?limit=20' };
  const comparisons = [
    { name: 'list_deployments', request: list, call: call('list_deployments', {}) },
    {
      name: 'list_deployments, revision 2025-11-25',
      request: list,
      call: callOfEarlierRevision('list_deployments', {}),
    },
    {
      name: 'get_workload',
      request: { method: 'GET', path: `/api/v1/workloads/${workloadId}` },
      call: call('get_workload', { id: workloadId }),
    },
    {
      name: 'plan_deployment',
      request: { method: 'POST', path: '/api/v1/deployments/plan', body: plan },
      call: call('plan_deployment', plan),
    },
  ].map((comparison) => ({ ...comparison, requestTimes: [], callTimes: [] }));
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const key = tokens[(round + WARM_UP) % tokens.length];
    for (const { request, call: tool, requestTimes, callTimes } of comparisons) {
      const requestTime = await timeOf(client, { ...request, key });
      const callTime = await timeOf(client, { ...tool, key });
      if (round < 0) continue;
      requestTimes.push(requestTime);
      callTimes.push(callTime);
    }
  }
  for (const { name, requestTimes, callTimes } of comparisons) {
    const request = median(requestTimes);
    const tool = median(callTimes);
    const isReached = tool <= GOALS.ratio * request || tool <= request + GOALS.more;
    const ratio = (tool / request).toFixed(2);
    report(`${name}: ${micro(tool)}, request ${micro(request)}, ratio ${ratio}`, isReached ? 'pass' : 'fail');
  }
}

const postgres = await startPostgres({ durable: true });
const databaseUrl = await postgres.create('fleet');
const service = createService({
  app: 'fleet',
  environment: {
    DATABASE_URL: databaseUrl,
    RATE_LIMIT: 'off',
    LOG_LEVEL: 'warn',
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  },
});
try {
  const fleet = await service.start();
  const workloadId = await withClient(databaseUrl, async (client) => {
    await client.query(FILL, [JSON.stringify({ ...workloadDefaults, image_name: 'team/app' })]);
    const { rows } = await client.query('SELECT id FROM workloads');
    return rows[0].id;
  });
  const tokens = [];
  for (let nth = 0; nth * ROUNDS_PER_TOKEN < rounds + WARM_UP; nth += 1) {
    const output = await service.command('create-token', '--name', `bench-${nth}`, '--role', 'viewer');
    tokens.push(JSON.parse(output).secret);
  }
  const client = createClient({ url: fleet.url });
  try {
    await measure(client, tokens, workloadId);
    client.end();
  } finally {
    client.close();
  }
} finally {
  await service.stop();
  await postgres.stop();
}
end(values.record ? { what: 'mcp', variant: `${rounds}` } : undefined, { rounds });
