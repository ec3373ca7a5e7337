import type { Api } from '@svc/testing';
import { type ReplicaOptions, startWorld } from '../world.ts';

/** The names of the lists of each kind, and of a single resource. */
export const singulars = {
  hosts: 'host',
  clusters: 'cluster',
  workloads: 'workload',
  deployments: 'deployment',
  storage: 'storage',
  secrets: 'secret',
} as const;

export type Plural = keyof typeof singulars;

/** A resource as the API returns it. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts the members of a resource
export type Shown = any;

/** More capacity than any test requests. */
const AVAILABLE = { reachability: 'online', cpu_millis: 64_000, memory_bytes: 2 ** 36 } as const;

export const pathOf = (plural: Plural, id = '') => `/api/v1/${plural}${id && `/${id}`}`;

/** A fleet that may connect to any engine, and resources of every kind, created through its API. */
export async function startResources(options: ReplicaOptions = {}) {
  const everything = new Set(['http', 'loopback', 'private', 'unix'] as const);
  const world = await startWorld({ outboundAllow: everything, ...options });
  const { client } = world.database;
  let count = 0;
  /** A name that no resource has. */
  const aName = (what: string) => `${what}-${++count}`;

  const make = async (plural: Plural, given: object, as: Api = world.asAdmin): Promise<Shown> => {
    const { status, body } = await as.post(pathOf(plural), { name: aName(singulars[plural]), ...given });
    if (status !== 201) throw new Error(`POST ${pathOf(plural)} answered ${status}: ${JSON.stringify(body)}`);
    return body[singulars[plural]];
  };
  const read = async (plural: Plural, id: string): Promise<Shown> => {
    const { body } = await world.asViewer.get(pathOf(plural, id));
    return body[singulars[plural]];
  };
  const aHost = (given: object = {}) =>
    make('hosts', { engine: 'docker', endpoint: 'tcp://engine.example.test:2376', ...given });
  const aCluster = (given: object = {}) =>
    make('clusters', {
      server: 'https://cluster.example.test:6443',
      auth: { kind: 'token', token: 'of-a-service-account' },
      ...given,
    });
  /** A host that was checked, and has capacity. */
  const aRoomyHost = async (given: object = {}) => {
    const host = await aHost(given);
    await client.host.update({ where: { id: host.id }, data: AVAILABLE });
    return host;
  };
  const aRoomyCluster = async (given: object = {}) => {
    const cluster = await aCluster(given);
    await client.cluster.update({ where: { id: cluster.id }, data: { ...AVAILABLE, gpu_count: 8 } });
    return cluster;
  };
  const aWorkload = (given: object = {}) => make('workloads', { image_name: 'library/nginx', ...given });

  return {
    ...world,
    client,
    aName,
    make,
    read,
    aHost,
    aCluster,
    aRoomyHost,
    aRoomyCluster,
    aWorkload,
    aDeployment: (given: object) => make('deployments', given),
    aVolume: (given: object = {}) => make('storage', given),
    aSecret: (given: object = {}) => make('secrets', { values: { password: 'a password' }, ...given }),
  };
}

export type Resources = Awaited<ReturnType<typeof startResources>>;

/** The paths of the errors of a response, sorted. */
export const invalidPathsOf = ({ body }: { readonly body: Shown }): string[] => [
  ...new Set<string>((body.errors ?? []).map(({ path }: { path: string }) => path).sort()),
];
