// How long does it take to find a place for a deployment, with every candidate assessments?
//
//   node bench/placement-times.mjs [hosts, default 1000] [deployments, default 5000]
//
// It needs a build (pnpm build), no service and no database. Method: so many hosts of five sizes,
// every fourth with GPUs, some of them tainted, labelled, closed or away, and four clusters of 25
// nodes each; then so many deployments are placed on them one after the other, each by `place`
// itself, and what they get is allocated. On what is left, `place` is timed for wishes of several
// kinds: 200 times each after 20 that don't count, in one thread, every candidate assessments with
// all its reasons. Nothing is drawn by chance: each run meets the same hosts and wishes.

import { place } from '../dist/placement/place.js';

const WARM_UP = 20;
const TIMED = 200;
const GiB = 1024 ** 3;

const hostCount = Number(process.argv[2] ?? '1000');
const deploymentCount = Number(process.argv[3] ?? '5000');
if (!(hostCount > 0) || !(deploymentCount >= 0)) {
  console.error('node bench/placement-times.mjs [hosts] [deployments]');
  process.exit(2);
}

const SIZES = [4, 8, 16, 32, 64];
const VRAM = [16, 24, 48, 80];
const repeat = (count, make) => Array.from({ length: count }, (_, index) => make(index));

const aHost = (index) => ({
  kind: 'host',
  id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
  name: `host-${index}`,
  labels: { zone: `zone-${index % 3}`, disk: index % 2 ? 'ssd' : 'hdd' },
  taints:
    index % 10 === 0 ? [{ key: 'team', value: 'red', effect: index % 20 ? 'NoSchedule' : 'PreferNoSchedule' }] : [],
  schedulable: index % 50 !== 7,
  reachability: index % 50 === 9 ? 'unreachable' : 'online',
  network_types: index % 3 ? ['public'] : ['public', 'mesh'],
  capacity: { cpu_millis: SIZES[index % 5] * 1000, memory_bytes: SIZES[index % 5] * 4 * GiB },
  gpus: repeat(index % 4 ? 0 : 8, (gpu) => ({ id: `gpu-${gpu}`, model: 'any', vram_bytes: VRAM[index % 3] * GiB })),
  allocated: { cpu_millis: 0, memory_bytes: 0, gpus: [] },
});

const aNode = (index) => ({
  name: `node-${index}`,
  labels: { zone: `zone-${index % 3}` },
  taints: [],
  schedulable: true,
  allocatable: { cpu_millis: 16_000, memory_bytes: 64 * GiB, gpu_count: index % 5 ? 0 : 4 },
  vram_bytes: 24 * GiB,
});

const aCluster = (index) => ({
  kind: 'cluster',
  id: `00000000-0000-7000-8000-c${String(index).padStart(11, '0')}`,
  name: `cluster-${index}`,
  reachability: 'online',
  network_types: ['public'],
  allocatable: { cpu_millis: 400_000, memory_bytes: 1600 * GiB, gpu_count: 20 },
  allocated: { cpu_millis: 0, memory_bytes: 0, gpu_count: 0 },
  nodes: repeat(25, aNode),
});

const aRequest = ({ cpus = 0, memory = 0, gpus = 0, vram = 0, ...given }) => ({
  replicas: 1,
  per_replica: { cpu_millis: cpus * 1000, memory_bytes: memory * GiB, gpu_count: gpus, vram_bytes: vram * GiB },
  required_network_types: [],
  node_selector: {},
  tolerations: [],
  volumes: [],
  ...given,
});

const tolerant = [{ key: 'team', operator: 'Exists' }];
const usual = [
  aRequest({ cpus: 0.5, memory: 1 }),
  aRequest({ cpus: 2, memory: 4, required_network_types: ['public'] }),
  aRequest({ cpus: 1, memory: 2, replicas: 3, node_selector: { disk: 'ssd' } }),
  aRequest({ cpus: 1, memory: 8, gpus: 1, vram: 24, tolerations: tolerant }),
  aRequest({ cpus: 0.25, memory: 0.5, required_network_types: ['mesh'] }),
];

const timed = {
  'small, without any condition': aRequest({ cpus: 0.1, memory: 0.1, tolerations: tolerant }),
  'selector, network and three replicas': aRequest({
    cpus: 1,
    memory: 2,
    replicas: 3,
    node_selector: { zone: 'zone-1', disk: 'ssd' },
    required_network_types: ['public'],
  }),
  'two GPUs with 24 GiB each': aRequest({ cpus: 1, memory: 8, gpus: 2, vram: 24, tolerations: tolerant }),
  'fits nowhere, for many reasons': aRequest({
    cpus: 500,
    memory: 5000,
    gpus: 16,
    vram: 160,
    node_selector: { zone: 'moon', rack: '1' },
    required_network_types: ['lab', 'mesh'],
    volumes: [{ name: 'data', access_mode: 'ReadWriteOnce', attached_to: 'other' }],
  }),
  'with a target': aRequest({ cpus: 0.1, target: { kind: 'host', id: aHost(hostCount - 1).id } }),
};

function allocate({ allocated }, { replicas, per_replica }, { kind, gpus }) {
  allocated.cpu_millis += replicas * per_replica.cpu_millis;
  allocated.memory_bytes += replicas * per_replica.memory_bytes;
  if (kind === 'host') allocated.gpus.push(...gpus.flat());
  else allocated.gpu_count += replicas * per_replica.gpu_count;
}

const candidates = [...repeat(hostCount, aHost), ...repeat(4, aCluster)];
const byId = new Map(candidates.map((candidate) => [candidate.id, candidate]));
let placed = 0;
const started = performance.now();
for (let index = 0; index < deploymentCount; index += 1) {
  const request = usual[index % usual.length];
  const { chosen } = place(request, candidates);
  if (!chosen) continue;
  allocate(byId.get(chosen.id), request, chosen);
  placed += 1;
}
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`Node ${process.version}; ${hostCount} hosts, 4 clusters with 25 nodes each`);
console.log(`${placed} of ${deploymentCount} deployments placed one after the other in ${seconds} s`);

const timeOf = (request) => {
  const before = performance.now();
  place(request, candidates);
  return performance.now() - before;
};
const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
const shown = (milliseconds) => `${milliseconds.toFixed(2)} ms`;

for (const [what, request] of Object.entries(timed)) {
  for (let round = 0; round < WARM_UP; round += 1) place(request, candidates);
  const sorted = repeat(TIMED, () => timeOf(request)).toSorted((a, b) => a - b);
  const { assessments } = place(request, candidates);
  const fitting = assessments.filter(({ fits }) => fits).length;
  const times = `median ${shown(quantile(sorted, 0.5))}, p95 ${shown(quantile(sorted, 0.95))}`;
  console.log(`${what} (${fitting} of ${assessments.length} fit): ${times}, slowest ${shown(sorted.at(-1))}`);
}
