import type { Endpoint } from '@svc/contract';
import { z } from 'zod';
import { aTemplate } from '../a-template.ts';
import { aPair } from './certificates.ts';
import { type Plural, pathOf, type Resources, type Shown } from './resources.ts';

/** So many rows of what an endpoint is about that some are left when the first were deleted. */
const ROWS = 4;

const pluralOf = (path: string): Plural | undefined =>
  (['hosts', 'clusters', 'workloads', 'deployments', 'storage', 'secrets'] as const).find((plural) =>
    path.startsWith(pathOf(plural)),
  );

/** A template of the mirror, as a sync would leave it; it needs nothing that a fleet may lack. */
async function aMirrored({ client, aName }: Resources): Promise<string> {
  const bare = { secret_refs: [], registry_credentials: null, env_schema: [], required_network_types: [] };
  const document = aTemplate({ ...bare, name: aName('template'), node_selector: {} });
  const { id, slug, category_id, category_slug, is_featured, updated_at } = document;
  const data = { id, slug, category_id, category_slug, is_featured, updated_at, search_text: slug, sort_name: slug };
  await client.catalogTemplate.create({ data: { ...data, document: document as object } });
  return slug;
}

const pair = aPair();

/** What members may well be, whatever they are of: so that more than their shapes is reached. */
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

/** Members that take anything, since they are only read: mostly something that no parser minds. */
function readOnlyOf({ body }: Endpoint): Record<string, readonly unknown[]> {
  if (!(body instanceof z.ZodObject)) return {};
  const members = Object.entries<z.ZodType>(body.shape);
  const ignored = members.filter(([, member]) => member.safeParse(7).success && member.safeParse({}).success);
  return Object.fromEntries(ignored.map(([name]) => [name, ['as it was read']]));
}

/** Resources that are there, and hold together: by the members of requests that name them. */
export async function knownRows(resources: Resources, endpoint: Endpoint): Promise<Record<string, readonly unknown[]>> {
  const { method, path } = endpoint;
  const { aRoomyHost, aRoomyCluster, aWorkload, aDeployment, aVolume, aSecret } = resources;
  const { id: host_id } = await aRoomyHost({ gpus: [{ id: '0' }, { id: '1' }] });
  const { id: cluster_id } = await aRoomyCluster();
  const [secret, template] = [await aSecret(), await aMirrored(resources)];
  const secret_refs = [{ name: secret.name, env: 'PASSWORD' }];
  const volume_mounts = [{ name: 'data', mountPath: '/data' }];
  const workload = await aWorkload({ env_schema: [{ name: 'MODE' }], secret_refs, volume_mounts });
  const { id: storage_id } = await aVolume({ access_mode: 'ReadWriteMany' });
  const deployment = () => aDeployment({ workload_id: workload.id, target: { host_id } });
  const makers: Readonly<Record<Plural, () => Promise<Shown>>> = {
    hosts: aRoomyHost,
    clusters: aRoomyCluster,
    workloads: aWorkload,
    deployments: deployment,
    storage: aVolume,
    secrets: aSecret,
  };
  const plural = pluralOf(path);
  const own: Shown[] = [];
  while (plural && own.length < (method === 'put' ? 1 : ROWS)) own.push(await makers[plural]());
  const used = {
    hosts: host_id,
    clusters: cluster_id,
    workloads: workload.id,
    storage: storage_id,
    secrets: secret.id,
  };
  const inUse = plural && plural !== 'deployments' && method !== 'put' ? [used[plural]] : [];
  return {
    ...readOnlyOf(endpoint),
    ...sane,
    ...(method === 'put' && plural ? { name: own.map(({ name }) => name) } : {}), // a name is for good
    id: [...own.map(({ id }) => id), ...inUse],
    workload_id: [workload.id],
    deployment_id: [(await deployment()).id],
    template: [template],
    target: [{ host_id }, { cluster_id }, { host_id: cluster_id }],
    volumes: [{ data: { storage_id } }, { data: { size: '1Gi' } }, {}],
    secret_refs: [secret_refs, []],
  };
}
