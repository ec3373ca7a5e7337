// What does a call of a tool cost compared with the same operation by the API?
//
//   pnpm bench:mcp [--rounds <default 400>] [--record]
//
// Method: a fleet runs as in production, with 100 deployments. Each round sends each request and each call in turn, on connections
// that stay open, so that both see the same load of the machine. The medians are compared.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import pg from 'pg';
import { untilReady } from '../shared/processes.mjs';
import { createReport, median, micro } from '../shared/report.mjs';

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

const main = path.resolve(import.meta.dirname, '../../apps/fleet/dist/main.js');
const { report, end } = createReport();
const password = () => randomBytes(12).toString('hex');

const FILL = `
  WITH workload AS (INSERT INTO workloads (id, name, created_by) VALUES (gen_random_uuid(), 'bench', 'bench') RETURNING id),
  revision AS (
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, created_by)
    SELECT id, 1, $1::jsonb, '{}', 'bench' FROM workload RETURNING workload_id)
  INSERT INTO deployments (id, name, created_by, workload_id, revision, replicas, due_at, env)
  SELECT gen_random_uuid(), 'deployment-' || n, 'bench', workload_id, 1, 1, now() + interval '1 day', '{}'
  FROM revision, generate_series(1, ${DEPLOYMENTS}) n`;

const dataDir = path.join(os.tmpdir(), `mcp-bench-${randomBytes(6).toString('hex')}`);
const postgres = await startEmbeddedPostgres({ dataDir, password: password() });
const databaseUrl = await postgres.ensureDatabase({ name: 'fleet', role: 'fleet', password: password() });
const port = await freePort();
const run = (args, stdout) =>
  spawn(process.execPath, [main, ...args], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      PORT: `${port}`,
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'warn',
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    },
    stdio: ['ignore', stdout, 'inherit'],
  });

async function aToken(name) {
  let output = '';
  for await (const chunk of run(['create-token', '--name', name, '--role', 'viewer'], 'pipe').stdout) output += chunk;
  return JSON.parse(output).secret;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

/** Sends a request. @returns its duration in milliseconds */
function send(token, { method, target, headers = {}, body }) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const type =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const all = { authorization: `Bearer ${token}`, ...type, ...headers };
    const request = http.request({ host: '127.0.0.1', port, path: target, method, agent, headers: all }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => {
        const isDone = response.statusCode === 200 && !/"isError":true|"error":\{/.test(text);
        if (isDone) resolve(performance.now() - start);
        else reject(new Error(`${method} ${target} answered ${response.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    request.on('error', reject).end(body);
  });
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const ACCEPT = { accept: 'application/json, text/event-stream' };

const call = (name, given) => ({
  method: 'POST',
  target: '/mcp',
  headers: { ...ACCEPT, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  body: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name, arguments: given, _meta: META },
  }),
});

const callOfEarlierRevision = (name, given) => ({
  method: 'POST',
  target: '/mcp',
  headers: { ...ACCEPT, 'mcp-protocol-version': '2025-11-25' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
});

/** Measures each operation by the API and by its tool, with the tokens in turn. */
async function measure(tokens, workloadId) {
  const plan = { workload_id: workloadId, name: 'planned' };
  const get = (target) => ({ method: 'GET', target });
  const pairs = [
    ['list_deployments', get('/api/v1/deployments?limit=20'), call('list_deployments', {})],
    [
      'list_deployments, revision 2025-11-25',
      get('/api/v1/deployments?limit=20'),
      callOfEarlierRevision('list_deployments', {}),
    ],
    ['get_workload', get(`/api/v1/workloads/${workloadId}`), call('get_workload', { id: workloadId })],
    [
      'plan_deployment',
      { method: 'POST', target: '/api/v1/deployments/plan', body: JSON.stringify(plan) },
      call('plan_deployment', plan),
    ],
  ];
  const times = pairs.map(() => ({ request: [], call: [] }));
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const token = tokens[(round + WARM_UP) % tokens.length];
    for (const [index, [, request, tool]] of pairs.entries()) {
      const [one, other] = [await send(token, request), await send(token, tool)];
      if (round < 0) continue;
      times[index].request.push(one);
      times[index].call.push(other);
    }
  }
  for (const [index, [name]] of pairs.entries()) {
    const [request, tool] = [median(times[index].request), median(times[index].call)];
    const isReached = tool <= GOALS.ratio * request || tool <= request + GOALS.more;
    const ratio = (tool / request).toFixed(2);
    report(`${name}: ${micro(tool)}, request ${micro(request)}, ratio ${ratio}`, isReached ? 'pass' : 'fail');
  }
}

let fleet;
try {
  fleet = run([], 'ignore');
  await untilReady(`http://127.0.0.1:${port}`, fleet);
  const { workloadDefaults } = await import('@svc/contract/fleet');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(FILL, [JSON.stringify({ ...workloadDefaults, image_name: 'team/app' })]);
  const { rows } = await client.query('SELECT id FROM workloads');
  await client.end();
  const tokens = [];
  for (let nth = 0; nth * ROUNDS_PER_TOKEN < rounds + WARM_UP; nth += 1) tokens.push(await aToken(`bench-${nth}`));
  await measure(tokens, rows[0].id);
} finally {
  agent.destroy();
  if (fleet?.exitCode === null) {
    fleet.kill('SIGTERM');
    await once(fleet, 'exit');
  }
  await postgres.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}
end(values.record ? { what: 'mcp', variant: `${rounds}` } : undefined, { rounds });
