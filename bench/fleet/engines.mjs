// Simulated hosts with container engines, as one process: each host has a port of its own on the
// loopback address.
//
//   node bench/fleet/engines.mjs --hosts <number, default 1> [--cpus <per host, default 16>] [--jobs-end]
//
// With --jobs-end, the containers of jobs end at once, with the exit code 0.
//
// The process prints one line of JSON with the URL of its control port, and the endpoints of the
// hosts. It ends with the process that forked it, if any. Requests to the control port:
//
//   POST /hang {"hosts": [0, 1]}    these hosts accept connections and requests, but do not answer
//   POST /resume {"hosts": [0, 1]}  these hosts answer again, also to the requests that wait
//   GET  /calls                     the number of requests so far, by kind
//   GET  /first-calls               the time of the first request about each deployment, in
//                                   milliseconds since 1970
//   GET  /creations                 all containers that were created, with `removedAt` (null: it
//                                   exists)
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { readCall } from './engine-api.mjs';
import { EngineHost } from './engine-host.mjs';

/** The label that names the deployment of a container. */
const DEPLOYMENT = 'fleet/deployment';

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '1' },
    cpus: { type: 'string', default: '16' },
    'jobs-end': { type: 'boolean' },
  },
});
const calls = new Map();
const firstCalls = new Map();

function count(kind, labels) {
  calls.set(kind, (calls.get(kind) ?? 0) + 1);
  const deployment = labels[DEPLOYMENT];
  if (deployment && !firstCalls.has(deployment)) firstCalls.set(deployment, performance.timeOrigin + performance.now());
}

async function startHost(name) {
  const host = new EngineHost({ name, cpus: Number(values.cpus), jobsEnd: values['jobs-end'] });
  let hanging = false;
  const waiting = [];
  const defer = (work) => (hanging ? waiting.push(work) : work());
  const server = createServer((request, response) => {
    readCall(host, request).then(
      ({ kind, labels, answer }) => {
        count(kind, labels);
        defer(() => response.destroyed || answer(response, defer));
      },
      () => response.destroy(), // the client has aborted the request, or its body is not JSON
    );
  });
  server.keepAliveTimeout = 60_000;
  await listen(server);
  return {
    endpoint: `tcp://127.0.0.1:${server.address().port}`,
    host,
    hang: () => {
      hanging = true;
    },
    resume: () => {
      hanging = false;
      for (const work of waiting.splice(0)) work();
    },
  };
}

const listen = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const hosts = [];
for (let number = 1; number <= Number(values.hosts); number += 1) hosts.push(await startHost(`host-${number}`));

const each = (numbers, act) => {
  for (const number of numbers) act(hosts[number]);
  return {};
};
const CONTROLS = {
  'POST /hang': ({ hosts: numbers }) => each(numbers, (host) => host.hang()),
  'POST /resume': ({ hosts: numbers }) => each(numbers, (host) => host.resume()),
  'GET /calls': () => Object.fromEntries(calls),
  'GET /first-calls': () => Object.fromEntries(firstCalls),
  'GET /creations': () => hosts.flatMap(({ host }) => host.creations),
};

const control = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const act = CONTROLS[`${request.method} ${request.url}`];
  if (!act) return response.writeHead(404).end();
  const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8'));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(act(body)));
});
await listen(control);
const endpoints = hosts.map(({ endpoint }) => endpoint);
console.log(JSON.stringify({ control: `http://127.0.0.1:${control.address().port}`, endpoints }));
process.once('disconnect', () => process.exit());
