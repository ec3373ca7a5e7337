import type { Plural, Resources } from './resources.ts';

/** A kind of resource, for tests that all kinds pass. */
export interface Kind {
  readonly plural: Plural;
  /** The members of a new one besides its name. */
  readonly members: object;
  /** A change, and its result. */
  readonly change: object;
  readonly shown: object;
  /** Another change. */
  readonly other: object;
  /** Read-only members, with values that they cannot have. */
  readonly readOnly: object;
  /** Invalid members of a new one, by the paths in the error. */
  readonly wrong: object;
  readonly wrongPaths: readonly string[];
  /** The status of a deletion: 204, or another if a representation is returned. */
  readonly deleted: 200 | 204;
}

const common = { id: 'x', version: 99, created_at: 'never', updated_at: 'never', created_by: 'somebody else' };

/** All six kinds. Deployments are of an existing workload, on a host with capacity. */
export async function kindsIn({ aRoomyHost, aWorkload }: Resources): Promise<readonly Kind[]> {
  await aRoomyHost();
  const workload = await aWorkload({ env_schema: [{ name: 'MODE' }] });
  return [
    {
      plural: 'hosts',
      members: { engine: 'docker', endpoint: 'tcp://engine.example.test:2376' },
      change: { schedulable: false },
      shown: { schedulable: false },
      other: { network_types: ['mesh'] },
      readOnly: { ...common, reachability: 'online', capacity: {}, allocated: 7, has_credentials: true },
      wrong: { engine: 'lxc', endpoint: 'ssh://somewhere', gpus: [{ id: '' }] },
      wrongPaths: ['endpoint', 'engine', 'gpus.0.id'],
      deleted: 204,
    },
    {
      plural: 'clusters',
      members: { server: 'https://cluster.example.test:6443', auth: { kind: 'token', token: 'a token' } },
      change: { namespace: 'elsewhere' },
      shown: { namespace: 'elsewhere' },
      other: { network_types: ['mesh'] },
      readOnly: { ...common, auth_kind: 'none', allocatable: {}, conditions: 'all of them' },
      wrong: { server: 'http://cluster.example.test', auth: { kind: 'token' }, namespace: 'Not A Label' },
      wrongPaths: ['auth.token', 'namespace', 'server'],
      deleted: 204,
    },
    {
      plural: 'workloads',
      members: { image_name: 'library/nginx', env: [{ name: 'A', value: 'a' }] },
      change: { image_tag: '1.29' },
      shown: { image_tag: '1.29' },
      other: { gpu_count: 1 },
      readOnly: { ...common, revision: 7, template_id: 'x', template_state: 'withdrawn', min_tier: 'pro' },
      wrong: { image_name: 'UPPER', cpu_request: 'much', ports: [{ containerPort: 0 }] },
      wrongPaths: ['cpu_request', 'image_name', 'ports.0.containerPort'],
      deleted: 204,
    },
    {
      plural: 'deployments',
      members: { workload_id: workload.id },
      change: { replicas: 2 },
      shown: { replicas: 2, generation: 2 },
      other: { env: { MODE: 'fast' } },
      readOnly: {
        ...common,
        phase: 'running',
        generation: 99,
        workload_name: 'x',
        endpoints: 'x',
        template_state: 'x',
      },
      wrong: { workload_id: 'x', replicas: 0, env: { 'not a name': '' } },
      wrongPaths: ['env.not a name', 'replicas', 'workload_id'],
      deleted: 200,
    },
    {
      plural: 'storage',
      members: { size: '1Gi' },
      change: { size: '2Gi' },
      shown: { size: '2Gi' },
      other: { reclaim: 'delete' },
      readOnly: { ...common, phase: 'bound', attached_to: 'all', deployment_id: 'x' },
      wrong: { size: 'much', access_mode: 'Sometimes', target: {} },
      wrongPaths: ['access_mode', 'size', 'target'],
      deleted: 204,
    },
    {
      plural: 'secrets',
      members: { values: { password: 'a password' } },
      change: { values: { another: 'a password' } },
      shown: { keys: ['another'], values_version: 2 },
      other: { values: { third: 'a password' } },
      readOnly: { ...common, keys: ['x'], values_version: 9, used_by: [], last_rotated_at: 'never' },
      wrong: { kind: 'ssh', values: { 'not a key': '' } },
      wrongPaths: ['kind', 'values.not a key'],
      deleted: 204,
    },
  ];
}
