import type { Endpoint } from '@svc/contract';
import { byDepth, once } from '@svc/testing';
import { z } from 'zod';
import { aTemplate } from '../a-template.ts';
import { aPair } from './certificates.ts';
import { type Plural, pathOf, type Resources, type Shown, singulars } from './resources.ts';

/** How many rows an endpoint can change or delete: more than one, so that some are left. */
const ROWS = byDepth({ short: 2, full: 4, long: 4 });

const plurals = Object.keys(singulars) as Plural[];

const pluralOf = (path: string): Plural | undefined => plurals.find((plural) => path.startsWith(pathOf(plural)));

/** A template in the mirror as a sync stores it. It requires nothing that a fleet may lack. */
async function aMirrored({ client, aName }: Resources): Promise<string> {
  const bare = { secret_refs: [], registry_credentials: null, env_schema: [], required_network_types: [] };
  const document = aTemplate({ ...bare, name: aName('template'), node_selector: {} });
  const { id, slug, category_id, category_slug, is_featured, updated_at } = document;
  const data = { id, slug, category_id, category_slug, is_featured, updated_at, search_text: slug, sort_name: slug };
  await client.catalogTemplate.create({ data: { ...data, document: document as object } });
  return slug;
}

const pair = aPair();

/** Valid values of members by name, so that requests pass the checks of types. */
const sane = {
  labels: [{ team: 'ml' }, {}],
  env: [{ MODE: 'fast' }, {}, []],
  generation: [1, 2],
  revision: [1, 2],
  replicas: [1, 2, 3],
  endpoint: ['tcp://engine.example.test:2376', 'unix:///run/engine.sock', 'tcp://10.0.0.7:2375'],
  credentials: [null, { ca_certificate: pair.certificate, ...pair }],
  gpus: [[{ id: '0' }, { id: '1' }], []],
  server: ['https://cluster.example.test:6443', 'https://10.0.0.7'],
  ca_certificate: [null, pair.certificate],
  auth: [
    { kind: 'token', token: 'a token' },
    { kind: 'client_certificate', ...pair },
  ],
  image_name: ['library/nginx'],
  registry_url: [null, 'ghcr.io'],
  registry_credentials: [null],
  volume_mounts: [[{ name: 'data', mountPath: '/data' }], []],
  tolerations: [[{ operator: 'Exists' }], []],
  size: ['20Gi', '1Ti'],
  values: [{ password: 'a password' }, { password: 'a password', more: '' }],
};

/** Values of members that a request may repeat from a response and whose content is ignored. */
function readOnlyOf({ body }: Endpoint): Record<string, readonly unknown[]> {
  if (!(body instanceof z.ZodObject)) return {};
  const members = Object.entries<z.ZodType>(body.shape);
  const ignored = members.filter(([, member]) => member.safeParse(7).success && member.safeParse({}).success);
  return Object.fromEntries(ignored.map(([name]) => [name, ['as it was read']]));
}

/** Resources that refer to each other. They are created when they are first requested. */
function rowsIn(resources: Resources) {
  const { aRoomyHost, aRoomyCluster, aWorkload, aDeployment, aVolume, aSecret } = resources;
  const host = once<Shown>(() => aRoomyHost({ gpus: [{ id: '0' }, { id: '1' }] }));
  const cluster = once<Shown>(aRoomyCluster);
  const secret = once<Shown>(aSecret);
  const volume = once<Shown>(() => aVolume({ access_mode: 'ReadWriteMany' }));
  const secretRefs = async () => [{ name: (await secret()).name, env: 'PASSWORD' }];
  const workload = once<Shown>(async () =>
    aWorkload({
      env_schema: [{ name: 'MODE' }],
      secret_refs: await secretRefs(),
      volume_mounts: [{ name: 'data', mountPath: '/data' }],
    }),
  );
  const aDeploymentOfIt = async () =>
    aDeployment({ workload_id: (await workload()).id, target: { host_id: (await host()).id } });
  const deployment = once<Shown>(aDeploymentOfIt);
  const makers: Readonly<Record<Plural, () => Promise<Shown>>> = {
    hosts: aRoomyHost,
    clusters: aRoomyCluster,
    workloads: aWorkload,
    deployments: aDeploymentOfIt,
    storage: aVolume,
    secrets: aSecret,
  };
  /** Resources that the deployment needs, so that they cannot be deleted. */
  const needed: Readonly<Partial<Record<Plural, () => Promise<Shown>>>> = {
    hosts: host,
    workloads: workload,
    secrets: secret,
  };
  const own = new Map<Plural, Promise<readonly Shown[]>>();
  const make = async (plural: Plural, count: number) => {
    const rows: Shown[] = [];
    while (rows.length < count) rows.push(await makers[plural]());
    return rows;
  };
  return {
    /** Rows of a kind to which nothing refers. */
    own: (plural: Plural, count: number): Promise<readonly Shown[]> => {
      const rows = own.get(plural) ?? make(plural, count);
      own.set(plural, rows);
      return rows;
    },
    /** Rows of a kind to which a deployment refers. */
    used: async (plural: Plural): Promise<readonly Shown[]> => {
      const row = needed[plural];
      if (!row) return [];
      await deployment();
      return [await row()];
    },
    known: {
      workload_id: async () => [(await workload()).id],
      deployment_id: async () => [(await deployment()).id],
      template: once(async () => [await aMirrored(resources)]),
      target: async () => {
        const host_id = (await host()).id;
        const cluster_id = (await cluster()).id;
        return [{ host_id }, { cluster_id }, { host_id: cluster_id }];
      },
      volumes: async () => [{ data: { storage_id: (await volume()).id } }, { data: { size: '1Gi' } }, {}],
      secret_refs: async () => [await secretRefs(), []],
    },
  };
}

type Known = Readonly<Record<string, readonly unknown[] | (() => Promise<readonly unknown[]>)>>;

/**
 * Existing resources that refer to each other, by the members of requests that name them. Endpoints
 * that only read share theirs. Each of the others has its own, so that it finds them whatever
 * another endpoint has changed or removed.
 */
export function createKnownRows(resources: Resources): (endpoint: Endpoint) => Promise<Known> {
  const shared = once(async () => {
    const rows = rowsIn(resources);
    await rows.known.template();
    for (const plural of plurals) await rows.own(plural, ROWS); // for lists, which name no row
    return rows;
  });
  return async (endpoint) => {
    const { method, path } = endpoint;
    const rows = method === 'get' ? await shared() : rowsIn(resources);
    const known = { ...readOnlyOf(endpoint), ...sane, ...rows.known };
    const plural = pluralOf(path);
    if (!plural) return known;
    const own = () => rows.own(plural, method === 'put' ? 1 : ROWS);
    const used = async () => (method === 'put' ? [] : rows.used(plural));
    return {
      ...known,
      id: async () => [...(await own()), ...(await used())].map(({ id }) => id),
      // A name does not change, so a PUT repeats it.
      ...(method === 'put' ? { name: async () => (await own()).map(({ name }) => name) } : {}),
    };
  };
}
