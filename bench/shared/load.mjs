// The load of wrk: requests for a time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** wrk opens one more connection than the load has, to test the address. */
const PROBES = 1;
/** A response that takes longer counts as a failed request. */
const TIMEOUT_SECONDS = 1;
const NOTICE_TIMEOUT_MS = 5000;

const REPORT = `
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d", summary.requests,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(99)))
end`;

/**
 * A request whose path ends with the `checked_at` of the last response to the same poller. Its id
 * names the poller.
 */
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
 * Sends requests in turn on all connections with wrk. A request with `poller`, a number, is a poll
 * by `since`: `path` ends with its first value, and each response of the poller replaces it.
 * @param server one of `startServer`, with its `url`
 * @returns the number of requests, and the p99 in milliseconds
 * @throws if a request fails or takes longer than wrk waits, if a response has another status than
 * 2xx or 304, or if a connection is opened again
 */
export async function load(server, { requests, connections, seconds }) {
  const before = await server.counts();
  const { sent, failed, p99 } = await runWrk(server.url, { requests, connections, seconds });
  const after = await countsWhenClosed(server, before.open);
  const problems = {
    'failed requests': failed,
    reconnects: after.connections - before.connections - connections - PROBES,
    'stalled connections': after.stalled - before.stalled,
  };
  for (const [status, count] of Object.entries(after.statuses)) {
    if (!/^2|^304$/.test(status)) problems[`responses ${status}`] = count - (before.statuses[status] ?? 0);
  }
  const found = Object.entries(problems).filter(([, count]) => count !== 0);
  if (sent === 0 || found.length > 0) {
    const counts = found.map(([problem, count]) => `${count} ${problem}`).join(', ');
    throw new Error(`${sent} responses of ${server.url}: ${counts}`);
  }
  return { sent, p99 };
}

/** The server notices a moment later that wrk has closed its connections. */
async function countsWhenClosed(server, open) {
  for (const deadline = Date.now() + NOTICE_TIMEOUT_MS; ; await delay(20)) {
    const counts = await server.counts();
    if (counts.open <= open || Date.now() > deadline) return counts;
  }
}

async function runWrk(url, { requests, connections, seconds }) {
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
    const wrk = spawn(
      'wrk',
      ['-t1', `-c${connections}`, `-d${seconds}s`, `--timeout=${TIMEOUT_SECONDS}s`, '-s', script, url],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
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
