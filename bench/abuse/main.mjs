// Does one caller with few rights degrade the service for another one?
//
//   pnpm bench:abuse [--only <text in the operation id or path>] [--service hub|fleet]
//                    [--seconds <per phase, default 1.5>] [--connections <of the attacker, default 1,20>]
//
// Method: both services run as in production, with RATE_LIMIT=on, a catalog of 3,000 templates, 200
// hosts and 1,000 deployments. For each route, for an anonymous attacker and one with few rights
// (an API key of an organization, a viewer's token), and for 1 and 20 connections, two phases
// alternate: the attacker sends ordinary requests to the route, then the worst requests of
// abuse/requests.mjs. Meanwhile a caller with other credentials and another loopback address
// requests a list of 20 items at a fixed rate; its latency counts from the scheduled time. Each
// phase uses new addresses, so that it begins below the rate limit.
//
// A route fails if the caller's p99 with the worst requests is more than three times its p99 with
// ordinary requests. Because the p99 of a short phase is noisy, a failed comparison is repeated
// with five longer, alternating phases of each kind, and only the medians of their p99 count. The
// bench also fails if the caller receives a status other than 200, if one of its connections is
// opened again, or if a service uses 1 GB of memory. `pnpm bench:routes` checks that each operation of
// the contract has requests.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '../shared/client.mjs';
import { peakMemoryOf } from '../shared/processes.mjs';
import { median, p99 } from '../shared/statistics.mjs';
import { as, routesOf } from './requests.mjs';
import { startServices } from './services.mjs';

const LIMIT = 3;
const MEMORY_MB = 1000;
const CALLER_RATE = 80;
const CALLER_CONNECTIONS = 4;
const QUIET_MS = 40;
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '1.5' },
    service: { type: 'string' },
    connections: { type: 'string', default: '1,20' },
  },
});
const PHASE_MS = Number(values.seconds) * 1000;
const CONNECTIONS = values.connections.split(',').map(Number);

const newClient = () => fork(new URL('../shared/load-process.mjs', import.meta.url));
const attacker = newClient();
const caller = newClient();
const runOn = async (client, task) => {
  client.send(task);
  const [answer] = await once(client, 'message');
  return answer;
};

let phases = 0;
/** One phase. @returns what `load-process.mjs` reports of the caller and of the attacker */
async function phase(service, requests, connections, milliseconds) {
  phases += 1;
  const host = `${Math.floor(phases / 250) % 250}.${(phases % 250) + 1}`;
  const attack = runOn(attacker, {
    url: service.url,
    localAddress: `127.1.${host}`,
    connections,
    requests,
    milliseconds,
  });
  const measured = await runOn(caller, {
    url: service.url,
    localAddress: `127.2.${host}`,
    connections: CALLER_CONNECTIONS,
    requests: as(service.caller, [{ method: 'GET', path: service.callerPath }]),
    milliseconds,
    perSecond: CALLER_RATE,
  });
  return { measured, attacked: await attack };
}

/**
 * Waits until the service has finished the work of the previous phase, so that it does not count
 * for the next one.
 */
async function untilQuiet({ url, caller: key, callerPath }) {
  const client = createClient({ url });
  for (let quick = 0; quick < 5; ) {
    const { latency } = await client.send({ path: callerPath, key });
    quick = latency < QUIET_MS ? quick + 1 : 0;
    await delay(20);
  }
  client.close();
}

function countOf(list) {
  const counts = new Map();
  for (const each of list) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status}×${count}`).join(' ');
}

/**
 * Alternates ordinary and worst requests.
 * @returns `usual` and `attacked`, the medians of the caller's p99 with each kind, their `ratio`,
 * the statuses of the caller's failures, the number of its `reconnects`, and the statuses
 * that the attacker has `seen`
 */
async function compare(service, { ordinary, worst }, connections, { rounds, milliseconds }) {
  const p99s = { ordinary: [], worst: [] };
  const statuses = [];
  const seen = [];
  let reconnects = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [kind, requests] of Object.entries({ ordinary, worst })) {
      await untilQuiet(service);
      const { measured, attacked } = await phase(service, requests, connections, milliseconds);
      p99s[kind].push(p99(measured.results.map(([latency]) => latency)));
      statuses.push(...measured.results.map(([, status]) => status));
      reconnects += measured.reconnects;
      if (kind === 'worst') seen.push(...attacked.results.map(([, status]) => status));
    }
  }
  const usual = median(p99s.ordinary);
  const attacked = median(p99s.worst);
  return {
    usual,
    attacked,
    ratio: attacked / usual,
    failed: statuses.filter((each) => each !== 200),
    reconnects,
    seen,
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
  for (const name of ['hub', 'fleet']) {
    if (values.service !== undefined && values.service !== name) continue;
    const service = services[name];
    const routes = routesOf(service);
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
          const { usual, attacked, ratio, failed, reconnects, seen } = result;
          const memory = peakMemoryOf(service.pid);
          const line = `${title}: p99 ${usual.toFixed(1)} → ${attacked.toFixed(1)} ms, ratio ${ratio.toFixed(2)}, ${memory} MB [${countOf(seen)}]`;
          console.log(`${isRepeated ? '(repeated) ' : ''}${line}`);
          if (ratio > LIMIT) failures.push(`${title}: ratio ${ratio.toFixed(2)}`);
          if (failed.length > 0) failures.push(`${title}: the caller received ${countOf(failed)}`);
          if (reconnects > 0) failures.push(`${title}: ${reconnects} reconnects of the caller`);
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
