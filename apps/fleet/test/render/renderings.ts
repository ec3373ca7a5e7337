import { type WorkloadSpec, workloadDefaults } from '@svc/contract/fleet';
import { gpuCountOf } from '../../src/placement/candidates.ts';
import { addressText, subnetOf } from '../../src/placement/subnets.ts';
import type { Host, HostNetwork } from '../../src/render/allocation.ts';
import { CURRENT_DEFAULTS } from '../../src/render/defaults.ts';
import { resolveEnv } from '../../src/render/env.ts';
import type { Cluster } from '../../src/render/pod.ts';
import { type BoundVolume, portsOf, type Rendering } from '../../src/render/rendering.ts';
import { secretsWithPlaceholders, secretsWithValues } from '../../src/render/secrets.ts';

/** A workload with only the required members. */
export const aSpec = (given: Partial<WorkloadSpec> = {}): WorkloadSpec => ({
  ...workloadDefaults,
  image_name: 'team/app',
  ...given,
});

export const aVolume = (given: Partial<BoundVolume> = {}): BoundVolume => ({
  mount: 'data',
  id: '019a0000-0000-7000-8000-00000000da7a',
  name: 'data',
  size: '10Gi',
  access_mode: 'ReadWriteOnce',
  storage_class: null,
  ...given,
});

/** The text that each value of a secret contains here, and that occurs nowhere else. */
export const CANARY = 'c4n4ry-value';

/** The secrets that a spec names, each with the requested keys. */
const rowsFor = ({ secret_refs, registry_credentials }: WorkloadSpec) => {
  const wanted = [
    ...secret_refs.map(({ name, key, env }) => [name, key ?? env] as const),
    ...['username', 'password'].flatMap((key) => (registry_credentials ? [[registry_credentials, key] as const] : [])),
  ];
  return [...new Set(wanted.map(([name]) => name))].map((name) => ({
    name,
    version: 3,
    values: Object.fromEntries(
      wanted.filter(([of]) => of === name).map(([, key]) => [key, `${CANARY}-${name}-${key}`]),
    ),
  }));
};

const ID = '019a0000-0000-7000-8000-0000decade01';

/** A deployment of a spec with all required variables and the named secrets. */
export function aRendering(spec: WorkloadSpec, given: Partial<Rendering<'values'>> = {}): Rendering<'values'> {
  const asked = new Set(spec.secret_refs.map(({ env }) => env));
  const required = spec.env_schema.filter(({ name, required }) => required && !asked.has(name));
  return {
    id: ID,
    name: 'web',
    generation: 7,
    source: { workload_id: '019a0000-0000-7000-8000-00000a0c10ad', revision: 2, variables: [] },
    replicas: 1,
    autoscaling: null,
    restarted_at: null,
    defaults: CURRENT_DEFAULTS,
    defaultLimits: { memory_bytes: 2 * 2 ** 30, processes: 4096 },
    spec,
    pull: 'auto',
    env: resolveEnv(spec, Object.fromEntries(required.map(({ name }) => [name, 'given']))).env,
    bound: [],
    volumes: [...new Set(spec.volume_mounts.map(({ name }) => name))].map((mount, index) =>
      aVolume({ mount, name: mount, id: `019a0000-0000-7000-8000-${String(index).padStart(12, '0')}` }),
    ),
    secrets: secretsWithValues(rowsFor(spec)),
    ...given,
  };
}

/** The same deployment without the values of its secrets. */
export const shown = (rendering: Rendering<'values'>): Rendering<'placeholders'> => ({
  ...rendering,
  secrets: secretsWithPlaceholders(rowsFor(rendering.spec).map((row) => ({ ...row, keys: Object.keys(row.values) }))),
});

export const aCluster = (given: Partial<Cluster> = {}): Cluster => ({
  namespace: 'fleet',
  gpu_resource_name: 'nvidia.com/gpu',
  default_storage_class: null,
  public_service_type: 'ClusterIP',
  ...given,
});

/** A host with the allocations that a rendering requests. */
export function aHost({ spec, replicas }: Rendering, engine: Host['engine'] = 'docker'): Host {
  const ordinals = Array.from({ length: replicas }, (_, ordinal) => ordinal);
  const ports = portsOf(spec);
  return {
    engine,
    gpus: ordinals.map((ordinal) =>
      Array.from({ length: gpuCountOf(spec) }, (_, at) => `${ordinal * gpuCountOf(spec) + at}`),
    ),
    ports: ordinals.map((ordinal) =>
      ports.map((port, at) => ({ ...port, hostPort: 30_000 + ordinal * ports.length + at, addresses: [] })),
    ),
  };
}

/** A network of an application, in which each instance of a rendering has an address. */
export const aNetwork = ({ replicas }: Pick<Rendering, 'replicas'>, given: Partial<HostNetwork> = {}): HostNetwork => {
  const { first } = subnetOf('10.213.16.0/20');
  return {
    id: '019a0000-0000-7000-8000-0000000000a1',
    application_id: '019a0000-0000-7000-8000-00000000000a',
    subnet: '10.213.16.0/20',
    losses: 0,
    addresses: Array.from({ length: replicas }, (_, ordinal) => addressText(first + 2 + ordinal)),
    names: [{ name: 'web', address: addressText(first + 2) }],
    ...given,
  };
};
