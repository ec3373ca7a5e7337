import type { Obstacle } from '@svc/contract/fleet';
import { loopbackNote } from './addresses.ts';
import type {
  Candidate,
  ClusterCandidate,
  CountedAmounts,
  Gpu,
  HostCandidate,
  PlacementRequest,
  RequestedVolume,
  TargetRef,
} from './candidates.ts';
import { assessGrowth, isElastic } from './elastic.ts';
import { areOrIs, compareStrings, formatCores, formatMemory, formatMemoryOf, pluralize } from './format.ts';
import { admissionObstacles, assessNodes, avoidedTaints, taintText } from './nodes.ts';
import { reachObstacles } from './reach.ts';
import { capacityRemedies, onRequest, onTarget } from './remedies.ts';

/** The name of a target; its id if the name is not known. */
export type NameOf = (target: TargetRef) => string;

/**
 * The reasons why volumes exclude a target: a volume is bound to another one, or attached to
 * another deployment.
 */
const volumeObstacles = (request: PlacementRequest, candidate: Candidate, nameOf: NameOf): Obstacle[] =>
  request.volumes.flatMap((volume) => [...boundElsewhere(volume, candidate, nameOf), ...attachedElsewhere(volume)]);

function boundElsewhere({ mount, name, boundTo }: RequestedVolume, candidate: Candidate, nameOf: NameOf): Obstacle[] {
  if (!boundTo || (boundTo.kind === candidate.kind && boundTo.id === candidate.id)) return [];
  const message = `volume ${name} is bound to ${boundTo.kind} ${nameOf(boundTo)}`;
  return [{ code: 'volume_bound_elsewhere', message, remedies: [onRequest('volumes', [mount])] }];
}

function attachedElsewhere({ mount, name, access_mode, attached_to }: RequestedVolume): Obstacle[] {
  if (attached_to === undefined || access_mode !== 'ReadWriteOnce') return [];
  const message = `volume ${name} is ReadWriteOnce and attached to deployment ${attached_to}`;
  return [{ code: 'volume_in_use', message, remedies: [onRequest('volumes', [mount])] }];
}

const AVOIDED = 'avoided if another target fits';

/**
 * A candidate on which the deployment fits, with notes, its score, and the GPU ids of each replica.
 */
export interface Feasible {
  readonly fits: true;
  readonly candidate: Candidate;
  readonly reasons: readonly string[];
  readonly score: Score;
  readonly gpus: readonly (readonly string[])[];
}

/** A candidate on which the deployment does not fit, with all reasons. */
export interface Infeasible {
  readonly fits: false;
  readonly candidate: Candidate;
  readonly obstacles: readonly Obstacle[];
  /**
   * Whether the only reason is that its first check has not finished, so that it can become
   * feasible at any time.
   */
  readonly isUnchecked: boolean;
}

interface Findings {
  readonly against: readonly Obstacle[];
  readonly notes: readonly string[];
  readonly gpus: readonly (readonly string[])[];
  readonly avoided: number;
  readonly vramUnknown: boolean;
  /** The number of nodes that the cluster must add. */
  readonly newNodes: number;
}

/** Assesses whether a deployment fits on a candidate. */
export function assessFeasibility(
  request: PlacementRequest,
  candidate: Candidate,
  nameOf: NameOf,
): Feasible | Infeasible {
  const available = availableCapacityOf(candidate);
  const findings = assessCapacity(request, candidate, available);
  const others = [
    ...networkObstacles(request, candidate),
    ...tokenObstacles(request, candidate),
    ...findings.against,
    ...volumeObstacles(request, candidate, nameOf),
    ...reachObstacles(request.needed_ports ?? [], candidate),
  ];
  const obstacles = [...reachabilityObstacles(candidate, available), ...others].map((obstacle) =>
    withBounds(request, obstacle),
  );
  if (!available || obstacles.length > 0) {
    const isUnchecked = candidate.reachability === 'unknown' && others.length === 0;
    return { fits: false, candidate, obstacles, isUnchecked };
  }
  const remaining = subtract(available.free, totalRequirements(request));
  return {
    fits: true,
    candidate,
    get reasons() {
      const fits = findings.newNodes === 0 ? [remainingText(remaining, available)] : [];
      return [...fits, ...findings.notes];
    },
    gpus: findings.gpus,
    score: {
      ...scoreOf(request, available),
      new_nodes: findings.newNodes,
      avoided_taints: findings.avoided,
      vram_unknown: Number(findings.vramUnknown),
    },
  };
}

/** With autoscaling, fewer replicas are a lower bound of its autoscaler. */
function withBounds({ scaling }: PlacementRequest, obstacle: Obstacle): Obstacle {
  if (scaling !== 'autoscaling') return obstacle;
  const remedies = obstacle.remedies.map((remedy) =>
    remedy.object === 'request' && remedy.field === 'replicas' ? onRequest('autoscaling', remedy.values) : remedy,
  );
  return { ...obstacle, remedies };
}

/**
 * Assesses the capacity of a candidate. If the present nodes of an elastic cluster do not suffice,
 * new ones can.
 */
function assessCapacity(
  request: PlacementRequest,
  candidate: Candidate,
  available: AvailableCapacity | undefined,
): Findings {
  const findings =
    candidate.kind === 'host' ? assessHost(request, candidate) : assessCluster(request, candidate, available);
  const against = [...(available ? shortages(request, available) : []), ...findings.against];
  if (!isElastic(candidate) || (against.length === 0 && candidate.nodes.length > 0)) return { ...findings, against };
  const { obstacles, notes, new_nodes: newNodes } = assessGrowth(request, candidate);
  return { ...findings, against: obstacles, notes, newNodes, avoided: 0, vramUnknown: false };
}

/**
 * The score of a candidate of which only the available capacity is known. The score of
 * `assessFeasibility` is not lower.
 */
function scoreOf(request: PlacementRequest, { total, free }: AvailableCapacity): Score {
  const remaining = subtract(free, totalRequirements(request));
  return {
    new_nodes: 0,
    avoided_taints: 0,
    vram_unknown: 0,
    gpus_unneeded: request.per_replica.gpu_count === 0 ? Number(total.gpu_count > 0) : 0,
    gpus_left: remaining.gpu_count,
    memory_bytes_left: remaining.memory_bytes,
    cpu_millis_left: remaining.cpu_millis,
  };
}

/**
 * A candidate with the score that it has at best, which costs much less than an assessment;
 * undefined if its CPU or memory are not sufficient, and it adds no nodes.
 */
export function bestCaseOf(request: PlacementRequest, candidate: Candidate): Scored | undefined {
  const available = availableCapacityOf(candidate);
  if (!available) return undefined;
  const score = scoreOf(request, available);
  if (isSufficient(totalRequirements(request), available)) return { candidate, score };
  return isElastic(candidate) ? { candidate, score: { ...score, new_nodes: 1 } } : undefined;
}

function assessHost(request: PlacementRequest, host: HostCandidate): Findings {
  const choice = chooseGpus(request, host);
  const avoided = avoidedTaints(host, request);
  return {
    against: [
      ...choice.obstacles,
      ...engineObstacles(request, host),
      ...admissionObstacles(host, request),
      ...scalingObstacles(request),
    ],
    notes: [
      ...avoided.map((taint) => `taint ${taintText(taint)} is not tolerated: ${AVOIDED}`),
      ...(request.has_ports ? loopbackNote(request.required_network_types, host.addresses) : []),
    ],
    gpus: choice.perReplica,
    avoided: avoided.length,
    vramUnknown: false,
    newNodes: 0,
  };
}

/** The first versions of the engines that give GPUs to containers through the Docker Engine API. */
const GPU_ENGINES = {
  docker: { name: 'Docker', version: '19.03' },
  podman: { name: 'Podman', version: '5.4' },
} as const;

/** The reason why the engine of a host cannot give GPUs to containers. */
function engineObstacles({ per_replica }: PlacementRequest, host: HostCandidate): Obstacle[] {
  const required = GPU_ENGINES[host.engine];
  const { engine_version: version } = host;
  if (per_replica.gpu_count === 0 || host.gpus.length === 0 || version === null || !isOlder(version, required.version))
    return [];
  const message = `needs GPUs, which ${required.name} gives to containers from version ${required.version} (it has ${version})`;
  return [{ code: 'engine_too_old', message, remedies: [onTarget('check')] }];
}

/** Whether the major and minor number of a version are lower. A version without numbers is not. */
function isOlder(version: string, than: string): boolean {
  const [major = Number.NaN, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const [requiredMajor = 0, requiredMinor = 0] = than.split('.').map(Number);
  return major < requiredMajor || (major === requiredMajor && minor < requiredMinor);
}

/** The reason why a host cannot run a deployment whose number of replicas a cluster sets. */
function scalingObstacles({ scaling }: PlacementRequest): Obstacle[] {
  if (scaling === 'fleet') return [];
  const code = 'scaled_in_cluster';
  return scaling === 'autoscaling'
    ? [{ code, message: 'has no autoscaler; only clusters have one', remedies: [onRequest('autoscaling')] }]
    : [{ code, message: 'is no cluster, which sets the number of replicas', remedies: [onRequest('scaled_by')] }];
}

/** The reason why the fleet cannot create an autoscaler in a cluster. */
function permissionObstacles({ scaling }: PlacementRequest, { missing_permissions }: ClusterCandidate): Obstacle[] {
  const missing = missing_permissions.filter((permission) => permission.endsWith(` ${AUTOSCALERS}`));
  if (scaling !== 'autoscaling' || missing.length === 0) return [];
  const message = `does not permit the fleet to ${missing.join(', ')}, which autoscaling needs`;
  return [{ code: 'permission_missing', message, remedies: [onTarget('check')] }];
}

const AUTOSCALERS = 'horizontalpodautoscalers';

function assessCluster(
  request: PlacementRequest,
  cluster: ClusterCandidate,
  available: AvailableCapacity | undefined,
): Findings {
  const nodes = assessNodes(request, cluster);
  return {
    against: [...gpuShortage(request, available), ...nodes.obstacles, ...permissionObstacles(request, cluster)],
    notes: [
      ...(nodes.avoidedTaints > 0 ? [`its nodes have PreferNoSchedule taints that are not tolerated: ${AVOIDED}`] : []),
      ...(nodes.vramUnknown ? ['the memory of its GPUs is not known, so it was not checked'] : []),
    ],
    gpus: Array.from({ length: request.replicas }, () => []),
    avoided: nodes.avoidedTaints,
    vramUnknown: nodes.vramUnknown,
    newNodes: 0,
  };
}

function gpuShortage(request: PlacementRequest, available: AvailableCapacity | undefined): Obstacle[] {
  const needed = totalRequirements(request).gpu_count;
  if (!available || needed <= available.free.gpu_count) return [];
  const each = request.per_replica.gpu_count;
  const needs = `needs ${pluralize(needed, 'GPU')}${perReplicaText(request, String(each))}`;
  const { free, total } = available;
  const code = 'gpu_insufficient';
  if (total.gpu_count === 0)
    return [{ code, message: `${needs}, it has none`, remedies: [onTarget('gpu_resource_name')] }];
  return [
    {
      code,
      message: `${needs}, ${free.gpu_count} of ${total.gpu_count} ${areOrIs(free.gpu_count)} free`,
      remedies: capacityRemedies(
        { each, replicas: request.replicas, free: free.gpu_count, total: total.gpu_count },
        { object: 'workload', field: 'gpu_count', values: [] },
      ),
    },
  ];
}

function reachabilityObstacles(candidate: Candidate, available: AvailableCapacity | undefined): Obstacle[] {
  const { kind, reachability, duplicate_of } = candidate;
  const obstacles: Obstacle[] = [];
  if (duplicate_of !== undefined) {
    const message = `is the same engine as ${kind} ${duplicate_of}, which was registered first`;
    obstacles.push({ code: 'same_engine', message, remedies: [onRequest('target', [duplicate_of])] });
  }
  if (reachability === 'unknown') {
    obstacles.push({ code: 'not_checked', message: 'has not been checked yet', remedies: [onTarget('check')] });
  }
  if (reachability === 'unreachable') {
    const remedies = [onTarget(kind === 'host' ? 'endpoint' : 'server')];
    obstacles.push({ code: 'unreachable', message: 'is unreachable', remedies });
  }
  if (!available) {
    const message = 'its CPU and memory are not known yet';
    obstacles.push({ code: 'capacity_unknown', message, remedies: [onTarget('check')] });
  }
  return obstacles;
}

function networkObstacles(request: PlacementRequest, { network_types }: Candidate): Obstacle[] {
  const missing = request.required_network_types.filter((type) => !network_types.includes(type));
  if (missing.length === 0) return [];
  const has = network_types.length > 0 ? `has: ${network_types.join(', ')}` : 'has none';
  const message = `has no network type ${missing.join(', ')} (${has})`;
  return [{ code: 'network_type_missing', message, remedies: [onTarget('network_types', missing)] }];
}

function tokenObstacles({ needs_token }: PlacementRequest, candidate: Candidate): Obstacle[] {
  const code = 'token_not_allowed';
  if (!needs_token || (candidate.kind === 'cluster' && candidate.gives_tokens)) return [];
  if (candidate.kind === 'cluster') {
    const message = 'gives pods no token of their account, which the workload requests';
    return [{ code, message, remedies: [onTarget('allow_service_account_tokens')] }];
  }
  const message = 'has no accounts, because it is not a cluster, and the workload requests a token of its account';
  return [{ code, message, remedies: [{ object: 'workload', field: 'service_account_token', values: [] }] }];
}

function remainingText(remaining: AvailableCapacity['free'], { total }: AvailableCapacity): string {
  const gpus = total.gpu_count > 0 ? ` and ${remaining.gpu_count} of ${pluralize(total.gpu_count, 'GPU')}` : '';
  const cpus = `${formatCores(remaining.cpu_millis)} of ${pluralize(formatCores(total.cpu_millis), 'CPU')}`;
  return `fits: leaves ${cpus}, ${formatMemoryOf(remaining.memory_bytes, total.memory_bytes)} of memory${gpus} free`;
}

/**
 * The total and available capacity of a target. `free` is never negative, even if more is allocated
 * than exists.
 */
interface AvailableCapacity {
  readonly total: CountedAmounts;
  readonly free: CountedAmounts;
}

/** By candidate: the same candidates are assessed for many requests. */
const capacities = new WeakMap<Candidate, AvailableCapacity | undefined>();

/** The available capacity of a candidate; undefined while its capacity is not known. */
function availableCapacityOf(candidate: Candidate): AvailableCapacity | undefined {
  if (!capacities.has(candidate)) capacities.set(candidate, computeAvailableCapacity(candidate));
  return capacities.get(candidate);
}

function computeAvailableCapacity(candidate: Candidate): AvailableCapacity | undefined {
  if (candidate.kind === 'cluster') {
    const { allocatable, allocated } = candidate;
    return allocatable ? { total: allocatable, free: subtract(allocatable, allocated) } : undefined;
  }
  const { capacity, allocated, gpus } = candidate;
  if (!capacity) return undefined;
  const used = new Set(allocated.gpus);
  const total = { ...capacity, gpu_count: gpus.length };
  const gpusUsed = gpus.filter(({ id }) => used.has(id)).length;
  return { total, free: subtract(total, { ...allocated, gpu_count: gpusUsed }) };
}

/** The requirements of all replicas together. */
const totalRequirements = ({ replicas, per_replica }: PlacementRequest): CountedAmounts => ({
  cpu_millis: replicas * per_replica.cpu_millis,
  memory_bytes: replicas * per_replica.memory_bytes,
  gpu_count: replicas * per_replica.gpu_count,
});

/** The difference of two amounts, at least 0 for each member. */
const subtract = (from: CountedAmounts, taken: CountedAmounts): CountedAmounts => ({
  cpu_millis: Math.max(0, from.cpu_millis - taken.cpu_millis),
  memory_bytes: Math.max(0, from.memory_bytes - taken.memory_bytes),
  gpu_count: Math.max(0, from.gpu_count - taken.gpu_count),
});

/** The text ` (3 replicas with 2 each)`; '' for one replica. */
const perReplicaText = ({ replicas }: PlacementRequest, each: string): string =>
  replicas > 1 ? ` (${replicas} replicas with ${each} each)` : '';

/** Whether CPU and memory are sufficient. */
const isSufficient = (needed: CountedAmounts, { free }: AvailableCapacity): boolean =>
  needed.cpu_millis <= free.cpu_millis && needed.memory_bytes <= free.memory_bytes;

/** The reasons why CPU or memory are not sufficient. */
function shortages(request: PlacementRequest, available: AvailableCapacity): Obstacle[] {
  const needed = totalRequirements(request);
  if (isSufficient(needed, available)) return [];
  const { total, free } = available;
  const { per_replica: each, replicas } = request;
  const obstacles: Obstacle[] = [];
  if (needed.cpu_millis > free.cpu_millis) {
    const left = formatCores(free.cpu_millis);
    obstacles.push({
      code: 'cpu_insufficient',
      message:
        `needs ${pluralize(formatCores(needed.cpu_millis), 'CPU')}${perReplicaText(request, formatCores(each.cpu_millis))}, ` +
        `${left} of ${formatCores(total.cpu_millis)} ${areOrIs(left)} free`,
      remedies: capacityRemedies(
        { each: each.cpu_millis, replicas, free: free.cpu_millis, total: total.cpu_millis },
        { object: 'workload', field: 'cpu_request', values: [] },
      ),
    });
  }
  if (needed.memory_bytes > free.memory_bytes) {
    obstacles.push({
      code: 'memory_insufficient',
      message:
        `needs ${formatMemory(needed.memory_bytes, 'up')} of memory${perReplicaText(request, formatMemory(each.memory_bytes, 'up'))}, ` +
        `${formatMemoryOf(free.memory_bytes, total.memory_bytes)} is free`,
      remedies: capacityRemedies(
        { each: each.memory_bytes, replicas, free: free.memory_bytes, total: total.memory_bytes },
        { object: 'workload', field: 'memory_request', values: [] },
      ),
    });
  }
  return obstacles;
}

/** The ids of the GPUs that each replica gets on a host, or the reasons why there are too few. */
interface GpuChoice {
  readonly obstacles: readonly Obstacle[];
  readonly perReplica: readonly (readonly string[])[];
}

/**
 * Chooses the smallest free GPUs with enough memory, ordered by memory and id, so that large GPUs
 * stay available.
 */
function chooseGpus(request: PlacementRequest, host: HostCandidate): GpuChoice {
  const { gpu_count: each, vram_bytes: vram } = request.per_replica;
  const needed = totalRequirements(request).gpu_count;
  const used = new Set(host.allocated.gpus);
  const free = host.gpus.filter(({ id }) => !used.has(id));
  const usable = free.filter(({ vram_bytes }) => vram_bytes >= vram).toSorted(smallestFirst);
  if (usable.length < needed) {
    const counts = { free: free.length, usable: usable.length };
    return { obstacles: [gpuShortageOf(request, host, counts)], perReplica: [] };
  }
  const ids = usable.map(({ id }) => id);
  const perReplica = Array.from({ length: request.replicas }, (_, replica) =>
    ids.slice(replica * each, (replica + 1) * each),
  );
  return { obstacles: [], perReplica };
}

const smallestFirst = (one: Gpu, other: Gpu): number =>
  one.vram_bytes - other.vram_bytes || compareStrings(one.id, other.id);

function gpuShortageOf(
  request: PlacementRequest,
  { gpus }: HostCandidate,
  counts: { readonly free: number; readonly usable: number },
): Obstacle {
  const { gpu_count: each, vram_bytes: vram } = request.per_replica;
  const { replicas } = request;
  const size = vram > 0 ? ` with at least ${formatMemory(vram, 'up')} each` : '';
  const needed = totalRequirements(request).gpu_count;
  const needs = `needs ${pluralize(needed, 'GPU')}${size}${perReplicaText(request, String(each))}`;
  const has = `${needs}, ${counts.usable} of ${gpus.length} ${areOrIs(counts.usable)} free`;
  const details = `(${gpus.length - counts.free} in use, ${counts.free - counts.usable} too small)`;
  return {
    code: 'gpu_insufficient',
    message: gpus.length === 0 ? `${needs}, it has none` : vram === 0 ? has : `${has} and large enough ${details}`,
    remedies: capacityRemedies(
      { each, replicas, free: counts.usable, total: gpus.filter(({ vram_bytes }) => vram_bytes >= vram).length },
      onTarget('gpus', [String(needed)]),
    ),
  };
}

/**
 * The cost of a candidate. Scores are compared member by member, in this order, and the lower value
 * wins. This prefers present capacity to new nodes, keeps GPUs and large machines available for
 * workloads that need them, and avoids targets with `PreferNoSchedule` taints if another target
 * fits.
 */
export interface Score {
  /** The number of nodes that an elastic cluster must add; 0: the present capacity suffices. */
  readonly new_nodes: number;
  /** `PreferNoSchedule` taints that are not tolerated. */
  readonly avoided_taints: number;
  /** 1: GPU memory is required, but that of the candidate is not known. */
  readonly vram_unknown: number;
  /** 1: the candidate has GPUs, but none are required. */
  readonly gpus_unneeded: number;
  readonly gpus_left: number;
  readonly memory_bytes_left: number;
  readonly cpu_millis_left: number;
}

/** A candidate with its score. */
export interface Scored {
  readonly candidate: { readonly name: string; readonly id: string };
  readonly score: Score;
}

type Explanation = (better: number, worse: number) => string;

/**
 * The members of a score in the order of comparison, with an explanation of why the lower value
 * wins.
 */
const parts: readonly (readonly [keyof Score, Explanation])[] = [
  [
    'new_nodes',
    (better, worse) =>
      better === 0 ? 'has the capacity now, without a new node' : `needs fewer new nodes (${better} against ${worse})`,
  ],
  [
    'avoided_taints',
    (better, worse) => `has fewer PreferNoSchedule taints that are not tolerated (${better} against ${worse})`,
  ],
  ['vram_unknown', () => 'has GPUs whose memory is known'],
  ['gpus_unneeded', () => 'has no GPUs, which keeps GPUs free for workloads that need them'],
  ['gpus_left', (better, worse) => `leaves fewer GPUs unused (${better} against ${worse})`],
  [
    'memory_bytes_left',
    (better, worse) =>
      `leaves less memory unused (${formatMemory(better, 'down')} against ${formatMemory(worse, 'up')})`,
  ],
  [
    'cpu_millis_left',
    (better, worse) => `leaves fewer CPUs unused (${formatCores(better)} against ${formatCores(worse)})`,
  ],
];

/** Compares candidates: the best one first, equal ones by name and id. */
export function bestFirst(one: Scored, other: Scored): number {
  const part = decidingPart(one, other);
  if (part) return one.score[part[0]] - other.score[part[0]];
  return (
    compareStrings(one.candidate.name, other.candidate.name) || compareStrings(one.candidate.id, other.candidate.id)
  );
}

/** The explanation why the first candidate is preferred, as a sentence without its subject. */
export function whyPreferred(better: Scored, worse: Scored): string {
  const part = decidingPart(better, worse);
  return part ? part[1](better.score[part[0]], worse.score[part[0]]) : 'fits equally well and is first by name';
}

const decidingPart = (one: Scored, other: Scored) => parts.find(([part]) => one.score[part] !== other.score[part]);
