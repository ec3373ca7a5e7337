// The hub with its database, the bare server that it is compared with, and the load.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import { peakMemoryOf, untilReady } from '../process.mjs';
import { fillHub } from './data.mjs';

const MAIN = path.resolve(import.meta.dirname, '../../../../apps/hub/dist/main.js');
const BARE = path.join(import.meta.dirname, 'bare.mjs');
const TICK_MS = 10; // of the CPU times in /proc

const statOf = (pid) => fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');

/** The CPU time of a process so far in milliseconds, and with `children` that of its past and present children. */
function cpuOf(pid, { children = false } = {}) {
  const fields = statOf(pid).map(Number);
  const own = fields[11] + fields[12];
  if (!children) return own * TICK_MS;
  const ofChildren = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        const stat = statOf(name);
        return Number(stat[1]) === pid ? Number(stat[11]) + Number(stat[12]) : 0;
      } catch {
        return 0; // the process has ended
      }
    });
  return (own + fields[13] + fields[14] + ofChildren.reduce((sum, ticks) => sum + ticks, 0)) * TICK_MS;
}

/** Starts a hub as in production, with a catalog. Its log is written to a file. */
export async function startHub(templates) {
  const postgres = await startEmbeddedPostgres();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  const log = fs.openSync(path.join(folder, 'hub.log'), 'w');
  const databaseUrl = await postgres.ensureDatabase({
    ...{ name: 'hub', role: 'hub', password: randomBytes(12).toString('hex') },
  });
  const port = await freePort();
  const environment = {
    ...{ DATABASE_URL: databaseUrl, PORT: `${port}`, RATE_LIMIT: 'off' },
    ...{ OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'https://hub.example.test' },
  };
  const run = (...args) =>
    spawn(process.execPath, [MAIN, ...args], {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
      stdio: ['ignore', log, 'inherit'],
    });
  const migration = run('migrate');
  await once(migration, 'close');
  const keys = await fillHub(databaseUrl, templates);
  const child = run();
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    await postgres.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(url, child);
  } catch (error) {
    await stop();
    throw error;
  }
  const postmaster = Number(fs.readFileSync(path.join(postgres.dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  return {
    url,
    keys,
    databaseUrl,
    cpu: () => cpuOf(child.pid),
    databaseCpu: () => cpuOf(postmaster, { children: true }),
    memory: () => peakMemoryOf(child.pid),
    stop,
  };
}

/** Starts a bare `node:http` server that sends these responses, by path. */
export async function startBare(responses) {
  const child = spawn(process.execPath, [BARE], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(responses));
  const [port] = await once(child.stdout, 'data');
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  return { url: `http://127.0.0.1:${String(port).trim()}`, cpu: () => cpuOf(child.pid), stop };
}

const REPORT = `
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d", summary.requests,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(99)))
end`;

/** A request whose path ends with the `checked_at` of the last response to the same poller. Its id names the poller. */
const POLLS = `
local latest = {}
response = function(status, headers, body)
  local poller = string.match(headers["X-Request-Id"] or "", "^poller(%d+)$")
  local checked_at = poller and string.match(body, '"checked_at":"([^"]+)"')
  if checked_at then latest[tonumber(poller)] = checked_at end
end
local textOf = function(item)
  if type(item) == "string" then return item end
  return item.before .. (latest[item.poller] or item.first) .. item.after
end`;

const PLAIN = 'local textOf = function(item) return item end';

/**
 * Sends requests in turn on all connections with wrk. A request with `poller`, a number, is a poll by `since`: `path` ends with its
 * first value, and each response of the poller replaces it. @returns the number of requests, that of failures, and the p99 in ms
 */
export async function load({ url, requests, connections, seconds }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-load-'));
  const script = path.join(folder, 'requests.lua');
  const { host } = new URL(url);
  const items = requests.map(({ path: target, key, poller }) => {
    const head = (id = '') => {
      const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\\r\\n`;
      return ` HTTP/1.1\\r\\nHost: ${host}\\r\\n${id}${authorization}\\r\\n`;
    };
    if (poller === undefined) return `"GET ${target}${head()}"`;
    const [before, first] = target.split(/(?<=since=)/);
    return `{poller=${poller},before="GET ${before}",first="${first}",after="${head(`X-Request-Id: poller${poller}\\r\\n`)}"}`;
  });
  const hasPolls = requests.some(({ poller }) => poller !== undefined);
  const next = 'request = function() at = at % #items + 1; return textOf(items[at]) end';
  fs.writeFileSync(
    script,
    [`local items = {${items.join(',\n')}}`, 'local at = 0', hasPolls ? POLLS : PLAIN, next, REPORT].join('\n'),
  );
  try {
    const wrk = spawn('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    wrk.once('error', () => undefined); // reported below
    let output = '';
    wrk.stdout.on('data', (chunk) => (output += chunk));
    await once(wrk, 'close');
    const [, sent, failed, p99] = /RESULT (\d+) (\d+) (\d+)/.exec(output) ?? [];
    if (sent === undefined)
      throw new Error(`wrk is required (Debian: apt-get install wrk), and must succeed: ${output}`);
    return { sent: Number(sent), failed: Number(failed), p99: Number(p99) / 1000 };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
