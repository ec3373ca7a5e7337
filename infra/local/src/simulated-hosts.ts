import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifetime } from './lifetime.ts';
import type { SecretStore } from './secrets.ts';
import type { Program } from './services.ts';
import { repository } from './settings.ts';
import { StartError } from './start-error.ts';

const script = path.join(repository, 'bench', 'fleet', 'engines.mjs');
const REMOVAL_TIMEOUT_MS = 60_000;

const hosts = [
  { name: 'demo-web-1', labels: { site: 'fra' }, network_types: ['mesh', 'public'] },
  { name: 'demo-data-1', labels: { site: 'fra' }, network_types: ['mesh'] },
  {
    name: 'demo-gpu-1',
    labels: { site: 'ams' },
    network_types: ['mesh'],
    gpus: [{ id: '0', model: 'NVIDIA L40S', vram: '48Gi' }],
  },
] as const;

type HostName = (typeof hosts)[number]['name'];

const generated = { generate: 24 };

/** Deployments of templates of the starter catalog, and the host of each. */
const deployments: readonly { host: HostName; body: { name: string; template: string } & Record<string, unknown> }[] = [
  { host: 'demo-web-1', body: { name: 'shop-web', template: 'nginx' } },
  { host: 'demo-web-1', body: { name: 'shop-sessions', template: 'memcached', replicas: 2 } },
  { host: 'demo-web-1', body: { name: 'status-page', template: 'uptime-kuma' } },
  {
    host: 'demo-data-1',
    body: { name: 'shop-database', template: 'postgresql', env: { POSTGRES_PASSWORD: generated, POSTGRES_DB: 'shop' } },
  },
  { host: 'demo-data-1', body: { name: 'shop-cache', template: 'redis', env: { REDIS_PASSWORD: generated } } },
  { host: 'demo-gpu-1', body: { name: 'chat-model', template: 'vllm-openai' } },
];

/** Its command ends with exit code 1, so that its deployment has a problem. */
const failing = {
  host: 'demo-web-1',
  workload: { name: 'checkout-api', image_name: 'shop/checkout-api', image_tag: '2.4.1', command: ['false'] },
} as const;

type Call = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>;

/** The ids of simulated hosts that an earlier start has registered. */
const recorded = (store: SecretStore) => store.secrets.simulatedHosts ?? [];

/**
 * Registers simulated hosts, and creates deployments on them. The hosts are a process of their own, which keeps
 * everything in memory and runs nothing.
 * @returns the names of the hosts
 * @throws StartError if a step fails
 */
export async function addSimulatedHosts(
  fleet: Program,
  { token, store, lifetime, add }: DemoTarget & { lifetime: Lifetime; add: (name: string, pid: number) => void },
): Promise<string[]> {
  const ask = requireSuccess(callerOf(fleet, token, lifetime.signal));
  const endpoints = await startEngines(lifetime, add);
  const ids = new Map<HostName, string>();
  for (const [index, host] of hosts.entries()) {
    const addresses = Object.fromEntries(host.network_types.map((type) => [type, '127.0.0.1']));
    const endpoint = endpoints[index];
    const registered = await ask('POST', '/hosts', { ...host, engine: 'docker', endpoint, addresses });
    ids.set(host.name, idIn(registered, 'host'));
    store.update({ simulatedHosts: [...ids.values()] });
  }
  const targetOf = (name: HostName) => ({ host_id: ids.get(name) });
  for (const { host, body } of deployments) await ask('POST', '/deployments', { ...body, target: targetOf(host) });
  const workload = await ask('POST', '/workloads', failing.workload);
  const workloadId = idIn(workload, 'workload');
  store.update({ simulatedWorkloads: [workloadId] });
  const { name } = failing.workload;
  await ask('POST', '/deployments', { name, workload_id: workloadId, target: targetOf(failing.host) });
  return [...ids.keys()];
}

/** A fleet with its stored state. `token` is one of an admin. */
type DemoTarget = { token: string; store: SecretStore };

/**
 * Removes the simulated hosts of an earlier start, with everything on them.
 * @returns the number of removed hosts
 */
export async function removeSimulatedHosts(
  fleet: Program,
  { token, store, signal }: DemoTarget & { signal: AbortSignal },
): Promise<number> {
  const call = callerOf(fleet, token, signal);
  const ids = recorded(store);
  const deadline = Date.now() + REMOVAL_TIMEOUT_MS;
  for (let left = ids; left.length > 0; ) {
    const refusals: string[] = [];
    const refused: string[] = [];
    for (const id of left) {
      // The fleet deletes the records of a host only after it has seen that the host is not reachable.
      await call('POST', `/hosts/${id}/check`);
      const { status, body } = await call('DELETE', `/hosts/${id}?abandon=true`);
      if (status < 300 || status === 404) continue;
      refused.push(id);
      refusals.push(JSON.stringify(body));
    }
    left = refused;
    store.update({ simulatedHosts: left });
    if (left.length > 0 && Date.now() > deadline) {
      throw new StartError(`The simulated hosts of an earlier start cannot be removed: ${refusals.join(' ')}`);
    }
    if (left.length > 0) await sleep(250, undefined, { signal });
  }
  for (const id of store.secrets.simulatedWorkloads ?? []) await call('DELETE', `/workloads/${id}`);
  store.update({ simulatedWorkloads: [] });
  return ids.length;
}

/**
 * Ensures that all hosts of the fleet are simulated, and that it has no cluster.
 * @throws StartError with the names of the others
 */
export async function requireOnlySimulatedHosts(
  fleet: Program,
  { token, store, signal }: DemoTarget & { signal: AbortSignal },
): Promise<void> {
  const ask = requireSuccess(callerOf(fleet, token, signal));
  // The contract states these shapes.
  const { hosts: registered } = (await ask('GET', '/hosts?limit=100')) as { hosts: { id: string; name: string }[] };
  const { clusters } = (await ask('GET', '/clusters?limit=100')) as { clusters: { name: string }[] }; // see above
  const real = [...registered.filter(({ id }) => !recorded(store).includes(id)), ...clusters].map(({ name }) => name);
  if (real.length === 0) return;
  throw new StartError(
    `--demo adds simulated hosts only to a fleet without other hosts and clusters, but this one has ${real.join(', ')}. ` +
      'Choose another data folder, for example: DATA_DIR=.data/demo npm start -- --demo',
  );
}

/** Starts the process of the simulated hosts. @returns the endpoint of each */
async function startEngines(lifetime: Lifetime, add: (name: string, pid: number) => void): Promise<string[]> {
  const child = fork(script, ['--hosts', `${hosts.length}`], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(() =>
    lifetime.fail(new StartError('The simulated hosts ended unexpectedly.')),
  );
  lifetime.atEnd(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  if (child.pid !== undefined) add('simulated-hosts', child.pid);
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const [line] = await once(lines, 'line', { signal: lifetime.signal });
  return (JSON.parse(line) as { endpoints: string[] }).endpoints; // see engines.mjs
}

function callerOf({ url }: Program, token: string, signal: AbortSignal): Call {
  return async (method, at, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method, headers, signal };
    const response = await fetch(
      `${url}/api/v1${at}`,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    return { status: response.status, body: JSON.parse((await response.text()) || 'null') };
  };
}

const requireSuccess =
  (call: Call) =>
  async (...args: Parameters<Call>): Promise<unknown> => {
    const { status, body } = await call(...args);
    if (status < 300) return body;
    throw new StartError(`The demo cannot be prepared: ${args[0]} ${args[1]}: ${status} ${JSON.stringify(body)}`);
  };

// The contract states this shape.
const idIn = (body: unknown, member: string) => (body as Record<string, { id: string }>)[member]?.id ?? '';
