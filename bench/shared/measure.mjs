// What requests cost a server: one of `startServer` with its `url`, and with `databaseCpu` if it
// has a database, which returns milliseconds so far.
import { sendEach } from './client.mjs';
import { load } from './load.mjs';

/**
 * The CPU time in milliseconds that a server needs for some work, and the same with that of its
 * database.
 */
export async function cpuDuring(server, work) {
  const before = server.cpu();
  const databaseBefore = server.databaseCpu?.() ?? 0;
  const result = await work();
  const cpu = server.cpu() - before;
  return { result, cpu, withDatabase: cpu + (server.databaseCpu?.() ?? 0) - databaseBefore };
}

/**
 * Sends requests in turn for a time.
 * @returns the CPU time per request in milliseconds, the p99 in milliseconds, and the requests per
 * second
 */
export async function measure(server, requests, { connections, seconds }) {
  const { result, cpu, withDatabase } = await cpuDuring(server, () => load(server, { requests, connections, seconds }));
  const { sent, p99 } = result;
  return { cpu: cpu / sent, withDatabase: withDatabase / sent, p99, rate: sent / seconds };
}

/** Sends each request once. @returns the CPU time per request, and the latencies in milliseconds */
export async function measureEach(server, requests, connections) {
  const { result, cpu, withDatabase } = await cpuDuring(server, () =>
    sendEach({ url: server.url, requests, connections }),
  );
  const failed = result.find(({ status }) => status !== 200);
  if (failed) throw new Error(`a request to ${server.url} was answered with ${failed.status}`);
  const count = requests.length;
  return { cpu: cpu / count, withDatabase: withDatabase / count, latencies: result.map(({ latency }) => latency) };
}
