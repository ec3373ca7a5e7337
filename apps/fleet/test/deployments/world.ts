import type { Template } from '@svc/contract';
import { type Answered, type Api, deletionOf, withReferring } from '@svc/testing';
import type { Prisma } from '../../src/generated/prisma/client.ts';
import type { ReconcilerTimings } from '../../src/reconciler/timings.ts';
import { contentsOf } from '../audit/contents.ts';
import { mirrorIn } from '../catalog/mirror.ts';
import { startFakeHub } from '../fake-hub.ts';
import { startWorld } from '../world.ts';
import { startDownloads } from './templates/downloads.ts';

export const GIB = 2 ** 30;

interface Capacity {
  readonly cpus?: number;
  readonly gib?: number;
}

type HostGiven = Partial<Prisma.HostUncheckedCreateInput> & Capacity & { readonly gpuCount?: number };
type ClusterGiven = Partial<Prisma.ClusterUncheckedCreateInput> & Capacity;

/** The body of a request. */
export type Body = Readonly<Record<string, unknown>>;

let count = 0;
const aName = (what: string) => `${what}-${++count}`;

/** GPUs with 24 GiB each. */
const someGpus = (number: number) =>
  Array.from({ length: number }, (_, index) => ({ id: `gpu-${index}`, model: 'any', vram: '24Gi' }));

const EMPTIED = [
  'hosts',
  'clusters',
  'workloads',
  'deployments',
  'applications',
  'volumes',
  'secrets',
  'idempotency_keys',
  'download_reports',
];

interface DeploymentWorldOptions {
  readonly kept?: boolean;
  /** `SHORT_TIMINGS` by default. */
  readonly reconcilerTimings?: ReconcilerTimings;
}

/**
 * A fleet with its hub, and helpers for tests of deployments. Fleet and hub are emptied before each
 * test of the file, unless they are `kept`.
 */
export async function startDeploymentWorld({ kept = false, ...timings }: DeploymentWorldOptions = {}) {
  const hub = await startFakeHub();
  const downloads = await startDownloads(hub);
  const address = { url: downloads.url, key: hub.key };
  const world = await startWorld({ hub: address, outboundAllow: new Set(['http', 'loopback', 'unix']), ...timings });
  const { client } = world.database;
  const mirror = mirrorIn((sql) => client.$queryRawUnsafe(sql));
  const operator = world.asOperator;

  const deletion = deletionOf(await withReferring((sql) => client.$queryRawUnsafe(sql), EMPTIED));
  const empty = () => client.$executeRawUnsafe(deletion);
  if (!kept) {
    beforeEach(async () => {
      await empty();
      hub.reset();
      downloads.forget();
      await mirror.forget();
    });
  }
  afterAll(async () => {
    await world.sync.stop(); // waits for the download report that is being sent
    await world.stop();
    await downloads.stop();
    await hub.stop();
  });

  /** A checked host with capacity. */
  const aHost = ({ cpus = 64, gib = 256, gpuCount = 0, ...given }: HostGiven = {}) =>
    client.host.create({
      data: {
        name: aName('host'),
        engine: 'docker',
        endpoint: 'unix:///run/engine.sock',
        by_admin: true,
        created_by: 'test',
        reachability: 'online',
        cpu_millis: cpus * 1000,
        memory_bytes: gib * GIB,
        gpus: someGpus(gpuCount),
        ...given,
      },
    });

  /** A checked cluster with capacity. */
  const aCluster = ({ cpus = 64, gib = 256, ...given }: ClusterGiven = {}) =>
    client.cluster.create({
      data: {
        name: aName('cluster'),
        server: 'https://cluster.example.test',
        by_admin: true,
        auth_kind: 'token',
        sealed: 'of no use',
        key_id: 'test',
        namespace: 'fleet',
        gpu_resource_name: 'nvidia.com/gpu',
        created_by: 'test',
        reachability: 'online',
        cpu_millis: cpus * 1000,
        memory_bytes: gib * GIB,
        gpu_count: 0,
        ...given,
      },
    });

  /** Creates a resource through the API. @returns the resource as the API returns it */
  const made = async (api: Api, path: 'secrets' | 'storage' | 'workloads' | 'deployments', body: Body) => {
    const answer = await api.post(`/api/v1/${path}`, body);
    if (answer.status !== 201) throw new Error(`POST ${path} responded with ${answer.status}: ${answer.text}`);
    return answer.body[path === 'storage' ? path : path.slice(0, -1)];
  };
  const aSecret = (name: string, values: Body, given: Body = {}) =>
    made(world.asAdmin, 'secrets', { name, values, ...given });
  const aVolume = (given: Body = {}) => made(operator, 'storage', { name: aName('volume'), ...given });
  const aWorkload = (given: Body = {}) =>
    made(operator, 'workloads', { name: aName('workload'), image_name: 'team/app', cpu_request: '1', ...given });
  /** Creates a deployment, with its own workload unless `given` has a workload or a template. */
  const deployed = async ({ workload, ...given }: Body & { readonly workload?: Body } = {}) => {
    const what = given.workload_id || given.template ? {} : { workload_id: (await aWorkload(workload)).id };
    return made(operator, 'deployments', { name: aName('deployment'), ...what, ...given });
  };

  /** Reads a resource. */
  const read = async (path: string) => {
    const { status, body } = await operator.get(`/api/v1/${path}`);
    if (status !== 200) throw new Error(`GET ${path} responded with ${status}`);
    return body;
  };

  return {
    hub,
    downloads,
    address,
    world,
    client,
    operator,
    viewer: world.asViewer,
    admin: world.asAdmin,
    aName,
    aHost,
    aCluster,
    aSecret,
    aVolume,
    aWorkload,
    deployed,
    /** Deletes all hosts, clusters, deployments, and what they use. */
    empty,
    /** Publishes templates in the hub, and syncs the fleet. */
    publish: async (...templates: readonly Template[]) => {
      hub.publish(...templates);
      await world.sync.run();
    },
    /** Syncs the fleet with the hub. */
    sync: () => world.sync.run(),
    deploy: (body: Body, headers?: Readonly<Record<string, string>>) =>
      operator.post('/api/v1/deployments', { name: aName('deployment'), ...body }, headers),
    plan: (body: Body): Promise<Answered> => operator.post('/api/v1/deployments/plan', body),
    /** Requests an operation on a deployment. */
    ask: (id: string, operation: string, body?: Body, headers?: Readonly<Record<string, string>>) =>
      operator.post(`/api/v1/deployments/${id}/${operation}`, body, headers),
    change: (id: string, body: Body, headers?: Readonly<Record<string, string>>) =>
      operator.put(`/api/v1/deployments/${id}`, body, headers),
    remove: (id: string, headers?: Readonly<Record<string, string>>) =>
      operator.delete(`/api/v1/deployments/${id}`, undefined, headers),
    deployment: async (id: string) => (await read(`deployments/${id}`)).deployment,
    events: async (id: string) => (await read(`deployments/${id}/events?limit=100`)).events,
    revisions: async (id: string) => (await read(`deployments/${id}/revisions?limit=100`)).revisions,
    manifest: async (id: string) => (await read(`deployments/${id}/manifest`)).manifest,
    host: async (id: string) => (await read(`hosts/${id}`)).host,
    cluster: async (id: string) => (await read(`clusters/${id}`)).cluster,
    storage: async () => (await read('storage?limit=100')).storage,
    contents: () => contentsOf(world.database),
  };
}

export type DeploymentWorld = Awaited<ReturnType<typeof startDeploymentWorld>>;

/** The reasons of a rejection: of a plan, or of a rejected deployment. */
export const reasonsOf = (answer: Answered): { path: string; message: string }[] =>
  (answer.body.refusals ?? answer.body.errors).map(({ path, message }: { path: string; message: string }) => ({
    path,
    message,
  }));
