// What do open streams of changes cost a fleet, and what does it cost to record changes in the order of commits?
//
//   pnpm bench:watch [--streams <default 1000>] [--seconds <per phase, default 15>] [--record]
//
// Method: a fleet runs as in production, with 1,000 deployments. Its CPU time and resident memory are measured while it is idle, with
// open streams of ten callers, and with these streams while one deployment per second changes. The CPU time of the streams is the
// difference. Then connections to PostgreSQL change deployments, in turn with and without the triggers. PostgreSQL writes to the disk
// at each commit.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import pg from 'pg';
import { cpuOf } from '../hub/processes.mjs';
import { memoryOf, untilReady } from '../shared/processes.mjs';
import { atLeast, atMost, createReport } from '../shared/report.mjs';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '15' },
    record: { type: 'boolean', default: false },
  },
});
const [streams, seconds] = [values.streams, values.seconds].map(Number);
const CALLERS = 10;
const DEPLOYMENTS = 1000;
const GOALS = { cpu: 0.1, memory: 100, changesPerSecond: 250 };
const WRITERS = 8;

const main = path.resolve(import.meta.dirname, '../../apps/fleet/dist/main.js');
const { report, end } = createReport();

const FILL = `
  WITH workload AS (INSERT INTO workloads (id, name, created_by) VALUES (gen_random_uuid(), 'bench', 'bench') RETURNING id),
  revision AS (
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, created_by)
    SELECT id, 1, $1::jsonb, '{}', 'bench' FROM workload RETURNING workload_id)
  INSERT INTO deployments (id, name, created_by, workload_id, revision, replicas, due_at, env)
  SELECT gen_random_uuid(), 'deployment-' || n, 'bench', workload_id, 1, 1, now() + interval '1 day',
    jsonb_build_object('NAME', repeat('x', 200))
  FROM revision, generate_series(1, ${DEPLOYMENTS}) n`;

// A temporary server would not wait for its disk.
const dataDir = path.join(os.tmpdir(), `watch-bench-${randomBytes(6).toString('hex')}`);
const postgres = await startEmbeddedPostgres({ dataDir, password: randomBytes(12).toString('hex') });
const databaseUrl = await postgres.ensureDatabase({
  name: 'fleet',
  role: 'fleet',
  password: randomBytes(12).toString('hex'),
});
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const run = (args, stdout) =>
  spawn(process.execPath, [main, ...args], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      PORT: `${port}`,
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    },
    stdio: ['ignore', stdout, 'inherit'],
  });

async function connected(work) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Opens a stream. @returns a function that returns the number of its events */
async function openStream(token) {
  const headers = { authorization: `Bearer ${token}` };
  const request = http.get(`${url}/api/v1/changes?kinds=deployments`, { headers, agent: false });
  const [response] = await once(request, 'response');
  if (response.statusCode !== 200) throw new Error(`a stream was answered with ${response.statusCode}`);
  let events = 0;
  response.on('data', (chunk) => (events += String(chunk).split('event: change\n').length - 1));
  return () => events;
}

/** The share of a core that a process uses for some seconds. */
async function shareDuring(pid, work = () => delay(seconds * 1000)) {
  const [before, start] = [cpuOf(pid), performance.now()];
  await work();
  return (cpuOf(pid) - before) / (performance.now() - start);
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

async function changeEachSecond() {
  await connected(async (client) => {
    for (let nth = 0; nth < seconds; nth += 1) {
      await client.query(`UPDATE deployments SET message = 'change ${nth}' WHERE name = 'deployment-1'`);
      await delay(1000);
    }
  });
}

async function measureStreams(pid, tokens) {
  await delay(2000);
  const [memoryBefore, idle] = [memoryOf(pid), await shareDuring(pid)];
  const opened = [];
  for (let nth = 0; nth < streams; nth += 1) opened.push(await openStream(tokens[nth % CALLERS]));
  await delay(2000);
  const share = await shareDuring(pid);
  const memoryOpen = memoryOf(pid);
  report(
    `${streams} open streams: CPU ${percent(share)} of a core (without streams ${percent(idle)})`,
    atMost(share - idle, GOALS.cpu),
  );
  const changing = await shareDuring(pid, changeEachSecond);
  await delay(1000);
  const added = Math.max(memoryOpen, memoryOf(pid)) - memoryBefore;
  report(
    `${streams} open streams: ${added.toFixed(0)} MB of resident memory in addition to ${memoryBefore.toFixed(0)} MB`,
    atMost(added, GOALS.memory),
  );
  const delivered = opened.reduce((sum, events) => sum + events(), 0);
  report(
    `one change per second for ${streams} streams: CPU ${percent(changing)} of a core, ${delivered} events`,
    delivered === streams * seconds ? 'pass' : 'fail',
  );
}

/** The number of commits per second of `WRITERS` connections, each of which changes one deployment. */
async function commitsPerSecond() {
  const until = performance.now() + seconds * 250;
  const counts = await Promise.all(
    Array.from({ length: WRITERS }, (_, writer) =>
      connected(async (client) => {
        let count = 0;
        for (; performance.now() < until; count += 1) {
          const number = 1 + writer + WRITERS * (count % 100);
          await client.query('UPDATE deployments SET message = $1 WHERE name = $2', [
            `${count} ${writer}`,
            `deployment-${number}`,
          ]);
        }
        return count;
      }),
    ),
  );
  return counts.reduce((sum, count) => sum + count) / (seconds / 4);
}

async function measureCommits() {
  const rates = { enabled: [], disabled: [] };
  for (let round = 0; round < 4; round += 1) {
    for (const state of ['enabled', 'disabled']) {
      await connected((client) =>
        client.query(`ALTER TABLE deployments ${state === 'enabled' ? 'ENABLE' : 'DISABLE'} TRIGGER USER`),
      );
      rates[state].push(await commitsPerSecond());
    }
  }
  const [recorded, plain] = [rates.enabled, rates.disabled].map((each) => Math.round(Math.max(...each)));
  report(
    `changes of ${WRITERS} connections: ${recorded} commits per second, without triggers ${plain}`,
    atLeast(recorded, GOALS.changesPerSecond),
  );
}

let fleet;
try {
  fleet = run([], 'ignore');
  await untilReady(url, fleet);
  const { workloadDefaults } = await import('@svc/contract/fleet');
  await connected((client) => client.query(FILL, [JSON.stringify({ ...workloadDefaults, image_name: 'team/app' })]));
  const tokens = [];
  for (let nth = 0; nth < CALLERS; nth += 1) {
    const child = run(['create-token', '--name', `caller-${nth}`, '--role', 'viewer'], 'pipe');
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    await once(child, 'close');
    tokens.push(JSON.parse(output).secret);
  }
  await measureStreams(fleet.pid, tokens);
  await measureCommits();
} finally {
  if (fleet?.exitCode === null) {
    fleet.kill('SIGTERM');
    await once(fleet, 'exit');
  }
  await postgres.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}
end(values.record ? { what: 'watch', variant: `${streams}` } : undefined, { seconds });
