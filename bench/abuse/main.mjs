// Does one caller with few rights degrade the service for another one?
//
//   pnpm bench:abuse [--only <text in the operation id or path>] [--seconds <per phase, default 1.5>] [--service hub|fleet]
//
// Method: both services run as in production, with RATE_LIMIT=on, a catalog of 3,000 templates, 200 hosts and 1,000 deployments. For
// each route, for an anonymous attacker and one with few rights (an API key of an organization, a viewer's token), and for 1 and 20
// connections, two phases alternate: the attacker sends ordinary requests to the route, then the worst requests of
// abuse/requests.mjs. Meanwhile a caller with other credentials and another loopback address requests a list of 20 items at a fixed
// rate; its latency counts from the scheduled time. Each phase uses new addresses, so that it begins below the rate limit.
//
// A route fails if the caller's p99 with the worst requests is more than three times its p99 with ordinary requests. Because the
// p99 of a short phase is noisy, a failed comparison is repeated with five longer, alternating phases of each kind, and only the
// medians of their p99 count. The bench also fails if the caller receives a status other than 200, if a service uses 1 GB of memory, or if a route
// of the contract is missing in abuse/requests.mjs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fleetEndpoints } from '@svc/contract/fleet';
import { hubEndpoints } from '@svc/contract/hub';
import { peakMemoryOf } from '../shared/processes.mjs';
import { as, routesOf } from './requests.mjs';
import { startServices } from './services.mjs';

const LIMIT = 3;
const MEMORY_MB = 1000;
const CONNECTIONS = [1, 20];
const CALLER_RATE = 80;
const QUIET_MS = 40;
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '1.5' },
    service: { type: 'string' },
  },
});
const PHASE_MS = Number(values.seconds) * 1000;

const newClient = () => fork(new URL('../shared/client.mjs', import.meta.url));
const [attacker, caller] = [newClient(), newClient()];
const runOn = async (client, task) => {
  client.send(task);
  const [results] = await once(client, 'message');
  return results;
};

let phases = 0;
/** One phase. @returns the latencies of the caller in milliseconds, and the statuses that it and the attacker received */
async function phase(service, requests, connections, milliseconds) {
  phases += 1;
  const host = `${Math.floor(phases / 250) % 250}.${(phases % 250) + 1}`;
  const attack = runOn(attacker, {
    ...{ origin: service.url, localAddress: `127.1.${host}`, connections, requests, milliseconds },
  });
  const measured = await runOn(caller, {
    ...{ origin: service.url, localAddress: `127.2.${host}`, connections: 4, milliseconds, perSecond: CALLER_RATE },
    requests: as(service.caller, [{ method: 'GET', path: service.callerPath }]),
  });
  return { measured, attacked: await attack };
}

/** Waits until the service has finished the work of the previous phase, so that it does not count for the next one. */
async function untilQuiet({ url, caller: credential, callerPath }) {
  const headers = { authorization: `Bearer ${credential}` };
  for (let quick = 0; quick < 5; ) {
    const started = performance.now();
    const response = await fetch(url + callerPath, { headers });
    await response.arrayBuffer();
    quick = performance.now() - started < QUIET_MS ? quick + 1 : 0;
    await delay(20);
  }
}

const p99 = (latencies) => {
  const sorted = [...latencies].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))];
};
const medianOf = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
function countOf(list) {
  const counts = new Map();
  for (const each of list) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status}×${count}`).join(' ');
}

/** Alternates ordinary and worst requests. @returns the median of the caller's p99 of each kind, and their ratio */
async function compare(service, { ordinary, worst }, connections, { rounds, milliseconds }) {
  const found = { ordinary: [], worst: [], statuses: [], attacked: [] }; // the p99 of each phase, and statuses
  for (let round = 0; round < rounds; round++) {
    for (const [kind, requests] of Object.entries({ ordinary, worst })) {
      await untilQuiet(service);
      const { measured, attacked } = await phase(service, requests, connections, milliseconds);
      found[kind].push(p99(measured.map(([latency]) => latency)));
      found.statuses.push(...measured.map(([, status]) => status));
      if (kind === 'worst') found.attacked.push(...attacked.map(([, status]) => status));
    }
  }
  const [usual, attacked] = [medianOf(found.ordinary), medianOf(found.worst)];
  return {
    usual,
    attacked,
    ratio: attacked / usual,
    failed: found.statuses.filter((each) => each !== 200),
    seen: found.attacked,
  };
}

const failures = [];
const services = await startServices();
const end = async () => {
  for (const client of [attacker, caller]) client.disconnect();
  await services.stop();
};
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end().finally(() => process.exit(1)));
try {
  for (const [name, endpoints] of [
    ['hub', hubEndpoints],
    ['fleet', fleetEndpoints],
  ]) {
    if (values.service !== undefined && values.service !== name) continue;
    const service = services[name];
    const routes = routesOf(service);
    const missing = Object.values(endpoints).filter(({ operationId }) => !(operationId in routes));
    failures.push(...missing.map(({ operationId }) => `${name} ${operationId}: missing in abuse/requests.mjs`));
    // The first requests of a process are slow.
    await phase(service, as(service.caller, [{ method: 'GET', path: service.callerPath }]), 1, 3000);
    for (const [route, { ordinary, worst }] of Object.entries(routes)) {
      if (!route.includes(values.only)) continue;
      for (const [kind, credential] of Object.entries(service.attackers)) {
        const requests = { ordinary: as(credential, ordinary), worst: as(credential, worst) };
        for (const connections of CONNECTIONS) {
          const title = `${name} ${route}, ${kind}, ${connections} connection${connections === 1 ? '' : 's'}`;
          let result = await compare(service, requests, connections, { rounds: 1, milliseconds: PHASE_MS });
          const isRepeated = result.ratio > LIMIT;
          if (isRepeated) {
            result = await compare(service, requests, connections, { rounds: 5, milliseconds: 2 * PHASE_MS });
          }
          const { usual, attacked, ratio, failed, seen } = result;
          const memory = peakMemoryOf(service.pid);
          const line = `${title}: p99 ${usual.toFixed(1)} → ${attacked.toFixed(1)} ms, ratio ${ratio.toFixed(2)}, ${memory} MB [${countOf(seen)}]`;
          console.log(`${isRepeated ? '(repeated) ' : ''}${line}`);
          if (ratio > LIMIT) failures.push(`${title}: ratio ${ratio.toFixed(2)}`);
          if (failed.length > 0) failures.push(`${title}: the caller received ${countOf(failed)}`);
          if (memory >= MEMORY_MB) failures.push(`${title}: the service used ${memory} MB`);
        }
      }
    }
  }
} finally {
  await end();
}
console.log(failures.length === 0 ? 'passed' : `${failures.length} failures:\n${failures.join('\n')}`);
process.exitCode = failures.length === 0 ? 0 : 1;
