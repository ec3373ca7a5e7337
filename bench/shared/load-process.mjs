// A child process that sends requests to a server, and reports their latencies and statuses. It is
// separate from the bench, so that a busy attacker does not delay the measurements of the caller.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from './client.mjs';

const GRACE_MS = 5000;

/**
 * Sends the requests in turn on each connection until the time is over. With `perSecond`, it sends
 * them at fixed times on all connections; the latency then counts from the scheduled time, so that
 * a slow response does not hide the delay of later requests.
 * @returns `results`, the latency and the status of each request, or the code of the error of its
 * connection, and the number of `reconnects`
 */
async function run({ url, localAddress, connections, requests, milliseconds, perSecond }) {
  const results = [];
  const clients = Array.from({ length: connections }, () => createClient({ url, localAddress }));
  const started = performance.now();
  const isOver = () => performance.now() - started > milliseconds;
  const send = async (client, index, scheduled) => {
    const status = await Promise.race([
      client.send(requests[index % requests.length]).then(
        (response) => response.status,
        (error) => error.code ?? error.message,
      ),
      delay(Math.max(0, started + milliseconds + GRACE_MS - performance.now()), 'UNFINISHED', { ref: false }),
    ]);
    results.push([performance.now() - scheduled, status]);
  };
  if (perSecond === undefined) {
    const loop = async (client, first) => {
      for (let index = first; !isOver(); index += 1) await send(client, index, performance.now());
    };
    const overdue = delay(milliseconds + 500, undefined, { ref: false });
    await Promise.race([Promise.all(clients.map(loop)), overdue]);
  } else {
    const sent = [];
    for (let index = 0; !isOver(); index += 1) {
      const scheduled = started + (index * 1000) / perSecond;
      await delay(Math.max(0, scheduled - performance.now()));
      sent.push(send(clients[index % clients.length], index, scheduled));
    }
    await Promise.all(sent);
  }
  const reconnects = clients.reduce((sum, client) => sum + client.reconnects(), 0);
  for (const client of clients) client.close();
  return { results, reconnects };
}

process.on('message', (task) => {
  run(task).then((answer) => process.send(answer));
});
