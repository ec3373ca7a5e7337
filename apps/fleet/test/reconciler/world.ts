import { setTimeout as pause } from 'node:timers/promises';
import type { Answered } from '@svc/testing';
import { startPodman } from '@svc/testing/podman';
import { SERVE, SLEEP } from '../engines/world.ts';
import { startFakeHub } from '../fake-hub.ts';
import { startWorld } from '../world.ts';

const OUTBOUND = ['http', 'loopback', 'unix'] as const;

/** What a test says of something. */
export type Body = Readonly<Record<string, unknown>>;

const IMAGE = {
  registry_url: 'localhost',
  image_name: 'svc-test/busybox',
  image_tag: '1',
  env: [{ name: 'GREETING', value: 'hello' }],
};

/** What runs until it is told to end, and nothing else. */
export const SLEEPER = { ...IMAGE, command: ['/bin/sh', '-c', SLEEP] };
/** What answers on 8080, with a variable, a secret and a volume. */
export const SERVER = {
  ...IMAGE,
  command: ['/bin/sh', '-c', SERVE],
  secret_refs: [{ name: 'pass', env: 'PASSWORD' }],
  ports: [{ containerPort: 8080, protocol: 'TCP' }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
};

const PATIENCE_MS = 60_000;

/** Looks until there is something to see. @throws after a minute, with what was waited for, and what was seen last */
export async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await pause(100)) {
    const seen = await look();
    if (seen) return seen;
  }
  throw new Error(`still not after ${PATIENCE_MS / 1000} s: ${what}`);
}

/** A container as its engine lists it. */
export interface Listed {
  readonly name: string;
  readonly id: string;
  /** `Up`, or how else it stands. */
  readonly state: string;
}

/** A fleet, a hub and a real Podman; what machines there are is kept as desired. */
export async function startMachineWorld() {
  const podman = await startPodman();
  const hub = await startFakeHub();
  const world = await startWorld({ hub, outboundAllow: new Set(OUTBOUND) });
  const { machines } = world.services;
  machines.start();
  const api = world.asAdmin;
  const good = async (asked: Promise<Answered>) => {
    const answer = await asked;
    if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };

  /** A host of the Podman, unless it is said otherwise. */
  const aHost = async (given: Body = {}) => {
    const body = { name: 'machine', engine: 'podman', endpoint: podman.endpoint, ...given };
    return (await good(api.post('/api/v1/hosts', body))).host;
  };
  const host = async (id: string) => (await good(api.get(`/api/v1/hosts/${id}`))).host;
  const hostIs = (id: string, reachability: string) =>
    eventually(`the host is ${reachability}`, async () => {
      const seen = await host(id);
      return seen.reachability === reachability && seen;
    });

  const aWorkload = async (name: string, given: Body) =>
    (await good(api.post('/api/v1/workloads', { name, ...given }))).workload;
  /** A deployment of a workload of its own. */
  const deployed = async (name: string, workload: Body, given: Body = {}) => {
    const { id } = await aWorkload(name, workload);
    return (await good(api.post('/api/v1/deployments', { name, workload_id: id, ...given }))).deployment;
  };
  const deployment = async (id: string) => (await good(api.get(`/api/v1/deployments/${id}`))).deployment;
  /** Waits until what was asked for last has come to this. */
  const deploymentIs = async (id: string, phase: string, reason: string | null = null) => {
    let seen = await deployment(id);
    const isSo = () => seen.phase === phase && seen.reason === reason && seen.observed_generation === seen.generation;
    await eventually(`${seen.name} is ${phase}`, async () => {
      seen = await deployment(id);
      return isSo();
    }).catch((cause) => {
      throw new Error(`${cause.message}, but ${JSON.stringify(seen)}`);
    });
    return seen;
  };
  /** What engines did to it and came to, in words, the first at the beginning. */
  const events = async (id: string): Promise<string[]> =>
    (await good(api.get(`/api/v1/deployments/${id}/events?limit=100`))).events
      .reverse()
      .map(({ reason, message }: Record<string, string>) => `${reason}: ${message}`);
  const ask = async (id: string, operation: string, body: Body = {}) =>
    (await good(api.post(`/api/v1/deployments/${id}/${operation}`, body))).deployment;
  const removed = async (id: string) => {
    await good(api.delete(`/api/v1/deployments/${id}`));
    await eventually('the deployment is gone', async () => {
      const { status } = await api.get(`/api/v1/deployments/${id}`);
      return status === 404;
    });
  };

  /** The containers of a deployment, whatever they do. */
  const containers = async (id: string, of = podman): Promise<Listed[]> => {
    const filter = ['--filter', `label=fleet/deployment=${id}`];
    const lines = await of.byHand('ps', '--all', ...filter, '--format', '{{.Names}} {{.ID}} {{.State}}');
    return lines
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' '))
      .map(([name = '', containerId = '', state = '']) => ({ name, id: containerId, state }))
      .sort((a, b) => a.name.localeCompare(b.name));
  };

  return {
    ...{ ...world, podman, hub, api, machines, good, aHost, host, hostIs },
    ...{ aWorkload, deployed, deployment, deploymentIs, events, ask, removed, containers },
    /** What the first port of a deployment answers. */
    fetched: async (id: string, path = '/') => {
      const [endpoint] = (await deployment(id)).endpoints;
      const answer = await fetch(`http://${endpoint.address}${path}`, { headers: { connection: 'close' } });
      return answer.text();
    },
    stop: async () => {
      await machines.stop();
      await world.stop();
      await hub.stop();
      await podman.stop();
    },
  };
}

export type MachineWorld = Awaited<ReturnType<typeof startMachineWorld>>;

/** For the top of a describe: such a world for all of its tests, with a host that is there. */
export function aMachineWorld(): () => MachineWorld & { readonly hostId: string } {
  let world: MachineWorld & { readonly hostId: string };
  beforeAll(async () => {
    const started = await startMachineWorld();
    const { id } = await started.aHost({ gpus: [{ id: 'gpu-0', model: 'any', vram: '24Gi' }] });
    await started.hostIs(id, 'online');
    world = { ...started, hostId: id };
  }, 120_000);
  afterAll(() => world?.stop(), 60_000);
  return () => world;
}
