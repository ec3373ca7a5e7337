// What do open streams of changes cost a fleet, and what does it cost to record changes in the
// order of commits?
//
//   pnpm bench:watch [--streams <default 1000>] [--seconds <per phase, default 15>] [--record]
//
// Method: a fleet runs as in production, with 1,000 deployments. Its CPU time and resident memory
// are measured while it is idle, with open streams of ten callers, and with these streams while one
// deployment per second changes. The CPU time of the streams is the difference. Then connections to
// PostgreSQL change deployments, in turn with and without the triggers. PostgreSQL writes to the
// disk at each commit. The bench fails if a stream ends.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { workloadDefaults } from '@svc/contract/fleet';
import { startPostgres, withClient } from '../shared/database.mjs';
import { memoryOf } from '../shared/processes.mjs';
import { atLeast, atMost, createReport } from '../shared/report.mjs';
import { createService } from '../shared/services.mjs';
import { percent } from '../shared/statistics.mjs';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '15' },
    record: { type: 'boolean', default: false },
  },
});
const streams = Number(values.streams);
const seconds = Number(values.seconds);
const CALLERS = 10;
const DEPLOYMENTS = 1000;
const GOALS = { cpu: 0.1, memory: 100, changesPerSecond: 250 };
const WRITERS = 8;

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

const postgres = await startPostgres({ durable: true });
const databaseUrl = await postgres.create('fleet');
const service = createService({
  app: 'fleet',
  environment: { DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` },
});
const connected = (work) => withClient(databaseUrl, work);

/**
 * Opens a stream.
 * @returns functions: `events` returns their number, and `hasEnded` whether it ended
 */
async function openStream(url, token) {
  const headers = { authorization: `Bearer ${token}` };
  const request = http.get(`${url}/api/v1/changes?kinds=deployments`, { headers, agent: false });
  const [response] = await once(request, 'response');
  if (response.statusCode !== 200) throw new Error(`a stream was answered with ${response.statusCode}`);
  let events = 0;
  let hasEnded = false;
  response.on('data', (chunk) => (events += String(chunk).split('event: change\n').length - 1));
  response.on('error', () => undefined); // it is followed by `close`
  response.on('close', () => {
    hasEnded = true;
  });
  return { events: () => events, hasEnded: () => hasEnded };
}

/** The share of a core that a process uses for some seconds. */
async function shareDuring(fleet, work = () => delay(seconds * 1000)) {
  const before = fleet.cpu();
  const started = performance.now();
  await work();
  return (fleet.cpu() - before) / (performance.now() - started);
}

async function changeEachSecond() {
  await connected(async (client) => {
    for (let nth = 0; nth < seconds; nth += 1) {
      await client.query(`UPDATE deployments SET message = 'change ${nth}' WHERE name = 'deployment-1'`);
      await delay(1000);
    }
  });
}

async function measureStreams(fleet, tokens) {
  await delay(2000);
  const memoryBefore = memoryOf(fleet.pid);
  const idle = await shareDuring(fleet);
  const opened = [];
  for (let nth = 0; nth < streams; nth += 1) opened.push(await openStream(fleet.url, tokens[nth % CALLERS]));
  await delay(2000);
  const share = await shareDuring(fleet);
  const memoryOpen = memoryOf(fleet.pid);
  report(
    `${streams} open streams: CPU ${percent(share)} of a core (without streams ${percent(idle)})`,
    atMost(share - idle, GOALS.cpu),
  );
  const changing = await shareDuring(fleet, changeEachSecond);
  await delay(1000);
  const added = Math.max(memoryOpen, memoryOf(fleet.pid)) - memoryBefore;
  report(
    `${streams} open streams: ${added.toFixed(0)} MB of resident memory in addition to ${memoryBefore.toFixed(0)} MB`,
    atMost(added, GOALS.memory),
  );
  const delivered = opened.reduce((sum, stream) => sum + stream.events(), 0);
  report(
    `one change per second for ${streams} streams: CPU ${percent(changing)} of a core, ${delivered} events`,
    delivered === streams * seconds ? 'pass' : 'fail',
  );
  const ended = opened.filter((stream) => stream.hasEnded()).length;
  report(`${ended} streams have ended`, atMost(ended, 0));
}

/**
 * The number of commits per second of `WRITERS` connections, each of which changes one deployment.
 */
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
  const recorded = Math.round(Math.max(...rates.enabled));
  const plain = Math.round(Math.max(...rates.disabled));
  report(
    `changes of ${WRITERS} connections: ${recorded} commits per second, without triggers ${plain}`,
    atLeast(recorded, GOALS.changesPerSecond),
  );
}

try {
  const fleet = await service.start();
  await connected((client) => client.query(FILL, [JSON.stringify({ ...workloadDefaults, image_name: 'team/app' })]));
  const tokens = [];
  for (let nth = 0; nth < CALLERS; nth += 1) {
    const output = await service.command('create-token', '--name', `caller-${nth}`, '--role', 'viewer');
    tokens.push(JSON.parse(output).secret);
  }
  await measureStreams(fleet, tokens);
  await measureCommits();
} finally {
  await service.stop();
  await postgres.stop();
}
end(values.record ? { what: 'watch', variant: `${streams}` } : undefined, { seconds });
