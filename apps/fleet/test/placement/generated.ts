import fc from 'fast-check';
import type {
  Candidate,
  ClusterCandidate,
  HostCandidate,
  PlacementRequest,
  RequestedVolume,
  Taint,
  Toleration,
} from '../../src/placement/candidates.ts';

// There are few distinct values, so that they often match, and candidates fit about as often as
// not.

const some = <T>(...values: T[]) => fc.subarray(values);
const one = <const T>(...values: T[]) => fc.constantFrom(...values);
const often = <const T>(usual: T, ...others: T[]) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 5 }, { arbitrary: one(...others), weight: 1 });

const key = one('gpu', 'zone');
const value = one('a', 'b', '');
const effect = one('NoSchedule', 'PreferNoSchedule', 'NoExecute');
const taint: fc.Arbitrary<Taint> = fc.record({ key, effect, value }, { requiredKeys: ['key', 'effect'] });
const toleration: fc.Arbitrary<Toleration> = fc.record(
  { key, value, effect, operator: one('Exists', 'Equal') },
  { requiredKeys: [] },
);
const networks = some('mesh', 'public', 'lab');
const reachability = often('online', 'unknown', 'unreachable');

const machine = {
  labels: fc.dictionary(key, value, { maxKeys: 2 }),
  taints: fc.array(taint, { maxLength: 1 }),
  schedulable: often(true, false),
};

const amounts = (cpus: number, bytes: number) => ({
  cpu_millis: fc.nat(cpus),
  memory_bytes: fc.oneof(
    fc.nat(bytes),
    fc.nat(Math.floor(bytes / 1000)).map((part) => part * 1000),
  ),
});

const gpus = fc
  .array(fc.nat(4), { maxLength: 5 })
  .map((sizes) => sizes.map((size, index) => ({ id: `gpu-${index}`, model: 'L4', vram_bytes: size * 1024 })));

/** A host. It is assigned its id together with the other candidates. */
const host: fc.Arbitrary<HostCandidate> = fc
  .record({
    ...machine,
    name: one('red', 'blue'),
    reachability,
    network_types: networks,
    addresses: fc.dictionary(one('mesh', 'public'), fc.constant('10.1.2.3')),
    capacity: fc.option(fc.record(amounts(8000, 20_000)), { freq: 8 }),
    gpus,
    used: fc.record({ ...amounts(4000, 10_000), gpus: some('gpu-0', 'gpu-1', 'gpu-2', 'gone') }),
  })
  .map(({ used, ...rest }) => ({
    kind: 'host',
    engine: 'docker',
    engine_version: '28.0.0',
    id: '',
    allocated: used,
    ...rest,
  }));

const countedAmounts = (cpus: number, bytes: number, gpuCount: number) =>
  fc.record({ ...amounts(cpus, bytes), gpu_count: fc.nat(gpuCount) });

const node = fc.record(
  {
    ...machine,
    name: one('node-1', 'node-2'),
    allocatable: countedAmounts(6000, 15_000, 3),
    vram_bytes: fc.nat(4).map((size) => size * 1024),
  },
  { requiredKeys: ['labels', 'taints', 'schedulable', 'name', 'allocatable'] },
);

/** A cluster. It is assigned its id together with the other candidates. */
const cluster: fc.Arbitrary<ClusterCandidate> = fc
  .record({
    name: one('red', 'blue'),
    reachability,
    network_types: networks,
    allocatable: fc.option(countedAmounts(16_000, 40_000, 6), { freq: 8 }),
    allocated: countedAmounts(8000, 20_000, 3),
    nodes: fc.array(node, { maxLength: 4 }),
    missing_permissions: often([], [], ['create horizontalpodautoscalers']),
  })
  .map((rest) => ({ kind: 'cluster', id: '', ...rest }));

/** Up to six candidates with distinct ids. */
export const candidates: fc.Arbitrary<Candidate[]> = fc
  .array(fc.oneof(host, cluster), { maxLength: 6 })
  .map((all) => all.map((candidate, index) => ({ ...candidate, id: `id-${index}` })));

const volume: fc.Arbitrary<RequestedVolume> = fc.record(
  {
    mount: fc.constant('mount'),
    name: one('data', 'logs'),
    access_mode: one('ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany'),
    boundTo: fc.record({ kind: one('host', 'cluster'), id: one('id-0', 'id-1', 'id-9') }),
    attached_to: fc.constant('other'),
  },
  { requiredKeys: ['mount', 'name', 'access_mode'] },
);

const rarely = <T>(values: fc.Arbitrary<T[]>) =>
  fc.oneof({ arbitrary: fc.constant<T[]>([]), weight: 3 }, { arbitrary: values, weight: 1 });

/** A request for the placement of a deployment. It may refer to any of the candidates above. */
export const placementRequest: fc.Arbitrary<PlacementRequest> = fc
  .record({
    replicas: fc.nat(4),
    per_replica: fc.record({
      ...amounts(2000, 5000),
      gpu_count: often(0, 1, 2),
      vram_bytes: often(0, 1024, 2048, 4096),
    }),
    required_network_types: rarely(networks),
    node_selector: fc.oneof({ arbitrary: fc.constant({}), weight: 3 }, fc.dictionary(key, value, { maxKeys: 2 })),
    tolerations: fc.array(toleration, { maxLength: 3 }),
    scaling: often('fleet' as const, 'cluster' as const, 'autoscaling' as const),
    volumes: rarely(fc.array(volume, { maxLength: 2 })),
    has_ports: fc.boolean(),
  })
  // Requirements with GPU memory always have a number of GPUs: `requirementsOf` ensures it.
  .map((rest) => ({
    ...rest,
    per_replica: {
      ...rest.per_replica,
      gpu_count: rest.per_replica.gpu_count || Number(rest.per_replica.vram_bytes > 0),
    },
  }));
