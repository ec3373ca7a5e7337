import { randomInt } from 'node:crypto';
import { eventually } from '@svc/testing';
import { startEngine } from '@svc/testing/engine';
import { subnetOf } from '../../../src/placement/subnets.ts';
import type { ReconcilerTimings } from '../../../src/reconciler/timings.ts';
import { SERVE, SLEEP } from '../../engines/world.ts';
import { startFakeHub } from '../../fake-hub.ts';
import { startWorld } from '../../world.ts';
import { type Body, deploymentHelpers } from '../deployment-helpers.ts';

/**
 * A range of addresses for the networks of a host. Engines of tests that run at the same time share the machine, so that
 * the same range would be refused in one of them, or only when its first container starts.
 */
const aNetworkPool = () => subnetOf(`10.${128 + randomInt(64)}.${64 * randomInt(4)}.0/18`);

const OUTBOUND = ['http', 'loopback', 'unix'] as const;

const IMAGE = {
  registry_url: 'localhost',
  image_name: 'svc-test/busybox',
  image_tag: '1',
  env: [{ name: 'GREETING', value: 'hello' }],
};

/** A workload that runs until it is stopped. */
export const SLEEPER = { ...IMAGE, command: ['/bin/sh', '-c', SLEEP] };
/** A workload that serves port 8080, with a variable, a secret and a volume. */
export const SERVER = {
  ...IMAGE,
  command: ['/bin/sh', '-c', SERVE],
  secret_refs: [{ name: 'pass', env: 'PASSWORD' }],
  ports: [{ containerPort: 8080, protocol: 'TCP' }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
};

/** A container as its engine lists it. */
export interface Listed {
  readonly name: string;
  readonly id: string;
  /** Such as `running`. */
  readonly state: string;
}

/** A container as the API of its engine lists it. */
interface EngineContainer {
  readonly Names: readonly string[];
  readonly Id: string;
  readonly State: string;
}

/** A fleet that reconciles, a hub and a real engine. */
export async function startMachineWorld(timings?: ReconcilerTimings, engine: Parameters<typeof startEngine>[0] = {}) {
  const podman = await startEngine(engine);
  const hub = await startFakeHub();
  const given = { networkPool: aNetworkPool(), ...(timings && { reconcilerTimings: timings }) };
  const world = await startWorld({ hub, outboundAllow: new Set(OUTBOUND), ...given });
  const { engineRuntime } = world.services;
  engineRuntime.start();
  const api = world.asAdmin;
  const words = deploymentHelpers(world);
  const { good } = words;
  /** Registers the engine as a host. */
  const aHost = async (given: Body = {}) => {
    const body = { name: 'machine', engine: podman.kind, endpoint: podman.endpoint, ...given };
    return (await good(api.post('/api/v1/hosts', body))).host;
  };
  const host = async (id: string) => (await good(api.get(`/api/v1/hosts/${id}`))).host;
  const hostIs = (id: string, reachability: string) =>
    eventually(`the host is ${reachability}`, async () => {
      const row = await world.database.client.host.findUniqueOrThrow({ where: { id } });
      return row.reachability === reachability && host(id);
    });

  /** The containers of a deployment in any state. */
  const containers = async (id: string, of = podman): Promise<Listed[]> => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`fleet/deployment=${id}`] }));
    const found: EngineContainer[] = await of.read(`/containers/json?all=true&filters=${filters}`);
    return found
      .map(({ Names: [name = ''], Id, State }) => ({ name: name.replace(/^\//, ''), id: Id, state: State }))
      .sort((a, b) => a.name.localeCompare(b.name));
  };

  return {
    ...world,
    ...words,
    podman,
    hub,
    api,
    engineRuntime,
    aHost,
    host,
    hostIs,
    containers,
    /** The response of the first port of a deployment. */
    fetched: async (id: string, path = '/') => {
      const [endpoint] = (await words.deployment(id)).endpoints;
      // A container runs before its program listens.
      const request = () => fetch(`http://${endpoint.address}${path}`, { headers: { connection: 'close' } });
      const read = () =>
        request().then(
          (answer) => answer.text(),
          () => undefined,
        );
      return (await eventually('the program responds', read, { until: (text) => text !== undefined })) ?? '';
    },
    stop: async () => {
      await engineRuntime.stop();
      await world.stop();
      await hub.stop();
      await podman.stop();
    },
  };
}

export type MachineWorld = Awaited<ReturnType<typeof startMachineWorld>>;

/**
 * Starts a world before the tests of a describe block, with a host that is online, and stops it
 * after them.
 */
export function aMachineWorld(timings?: ReconcilerTimings): () => MachineWorld & { readonly hostId: string } {
  let world: MachineWorld & { readonly hostId: string };
  beforeAll(async () => {
    const started = await startMachineWorld(timings);
    const { id } = await started.aHost({ gpus: [{ id: 'gpu-0', model: 'any', vram: '24Gi' }] });
    await started.hostIs(id, 'online');
    world = { ...started, hostId: id };
  });
  afterAll(() => world?.stop());
  return () => world;
}
