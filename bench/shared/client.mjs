// A child process that sends requests to a service and reports latencies and statuses. It is separate from the bench, so that a
// busy attacker does not delay the measurements of the caller.
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT_MS = 30_000;

/**
 * Sends one request.
 * @returns the status, or the code of the error of the connection
 */
function send(origin, agent, localAddress, { method, path, headers = {}, body, unread = false }) {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(origin);
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = http.request({
      ...{ hostname, port, agent, localAddress, method, path, timeout: TIMEOUT_MS },
      headers: { ...length, ...headers },
    });
    request.on('response', (response) => {
      // A client that does not read keeps its connection until the run ends.
      if (unread) return;
      response.resume();
      response.on('end', () => resolve(response.statusCode));
      response.on('error', (error) => resolve(error.code ?? 'ERROR'));
      response.on('aborted', () => resolve('ABORTED'));
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', (error) => resolve(error.code ?? error.message));
    request.end(body);
  });
}

/** Sends the requests in turn on each connection until the time is over. With a rate, at fixed times on all connections. */
async function run({ origin, localAddress, connections, requests, milliseconds, perSecond }) {
  const results = [];
  const agents = Array.from({ length: connections }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  const started = performance.now();
  const isOver = () => performance.now() - started > milliseconds;
  const one = async (agent, index, scheduled) => {
    const status = await Promise.race([
      send(origin, agent, localAddress, requests[index % requests.length]),
      delay(Math.max(0, started + milliseconds + TIMEOUT_MS / 6 - performance.now()), 'UNFINISHED', { ref: false }),
    ]);
    results.push([performance.now() - scheduled, status]);
  };
  if (perSecond === undefined) {
    const loop = async (agent, first) => {
      for (let index = first; !isOver(); index++) await one(agent, index, performance.now());
    };
    const overdue = delay(milliseconds + 500, undefined, { ref: false });
    await Promise.race([Promise.all(agents.map(loop)), overdue]);
  } else {
    // The latency counts from the scheduled time, so that a slow response does not hide the delay of later requests.
    const sent = [];
    for (let index = 0; !isOver(); index++) {
      const scheduled = started + (index * 1000) / perSecond;
      await delay(Math.max(0, scheduled - performance.now()));
      sent.push(one(agents[index % agents.length], index, scheduled));
    }
    await Promise.all(sent);
  }
  for (const agent of agents) agent.destroy();
  return results;
}

process.on('message', (task) => {
  run(task).then((results) => process.send(results));
});
