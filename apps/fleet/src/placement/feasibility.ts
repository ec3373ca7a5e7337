import type { Candidate, ClusterCandidate, HostCandidate, TargetRef } from './candidates.ts';
import {
  type AvailableCapacity,
  availableCapacityOf,
  chooseGpus,
  perReplicaText,
  shortages,
  subtract,
  totalRequirements,
} from './capacity.ts';
import { areOrIs, formatCores, formatMemoryOf, pluralize } from './format.ts';
import { admissionReasons, assessNodes, avoidedTaints, taintText } from './nodes.ts';
import type { PlacementRequest, RequestedVolume } from './requirements.ts';
import type { Score } from './score.ts';

/** The name of a target; its id if the name is not known. */
export type NameOf = (target: TargetRef) => string;

/** The reasons why volumes exclude a target: a volume is bound to another one, or attached to another deployment. */
const volumeReasons = (request: PlacementRequest, candidate: Candidate, nameOf: NameOf): string[] =>
  request.volumes.flatMap((volume) => [...boundElsewhere(volume, candidate, nameOf), ...attachedElsewhere(volume)]);

/** Notes about volumes for a target on which the deployment fits. */
const volumeNotes = (request: PlacementRequest, { kind }: Candidate): string[] =>
  request.volumes
    .filter(({ access_mode }) => kind === 'cluster' && request.replicas > 1 && access_mode === 'ReadWriteOnce')
    .map(({ name }) => `volume ${name} is ReadWriteOnce: its ${request.replicas} replicas must share one node`);

function boundElsewhere({ name, boundTo }: RequestedVolume, candidate: Candidate, nameOf: NameOf): string[] {
  if (!boundTo || (boundTo.kind === candidate.kind && boundTo.id === candidate.id)) return [];
  return [`volume ${name} is bound to ${boundTo.kind} ${nameOf(boundTo)}`];
}

function attachedElsewhere({ name, access_mode, attached_to }: RequestedVolume): string[] {
  if (attached_to === undefined || access_mode !== 'ReadWriteOnce') return [];
  return [`volume ${name} is ReadWriteOnce and attached to deployment ${attached_to}`];
}

const AVOIDED = 'avoided if another target fits';

/** A candidate on which the deployment fits, with notes, its score, and the GPU ids of each replica. */
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
  readonly reasons: readonly string[];
}

interface Findings {
  readonly against: readonly string[];
  readonly notes: readonly string[];
  readonly gpus: readonly (readonly string[])[];
  readonly avoided: number;
  readonly vramUnknown: boolean;
}

/** Assesses whether a deployment fits on a candidate. */
export function assessFeasibility(
  request: PlacementRequest,
  candidate: Candidate,
  nameOf: NameOf,
): Feasible | Infeasible {
  const available = availableCapacityOf(candidate);
  const findings =
    candidate.kind === 'host' ? assessHost(request, candidate) : assessCluster(request, candidate, available);
  const reasons = [
    ...reachabilityReasons(candidate, available),
    ...networkReasons(request, candidate),
    ...(available ? shortages(request, available) : []),
    ...findings.against,
    ...volumeReasons(request, candidate, nameOf),
  ];
  if (!available || reasons.length > 0) return { fits: false, candidate, reasons };
  const remaining = subtract(available.free, totalRequirements(request));
  return {
    fits: true,
    candidate,
    reasons: [remainingText(remaining, available), ...findings.notes, ...volumeNotes(request, candidate)],
    gpus: findings.gpus,
    score: {
      avoided_taints: findings.avoided,
      vram_unknown: Number(findings.vramUnknown),
      gpus_unneeded: request.per_replica.gpu_count === 0 ? Number(available.total.gpu_count > 0) : 0,
      gpus_left: remaining.gpu_count,
      memory_bytes_left: remaining.memory_bytes,
      cpu_millis_left: remaining.cpu_millis,
    },
  };
}

function assessHost(request: PlacementRequest, host: HostCandidate): Findings {
  const choice = chooseGpus(request, host);
  const avoided = avoidedTaints(host, request);
  return {
    against: [...choice.reasons, ...admissionReasons(host, request)],
    notes: avoided.map((taint) => `taint ${taintText(taint)} is not tolerated: ${AVOIDED}`),
    gpus: choice.perReplica,
    avoided: avoided.length,
    vramUnknown: false,
  };
}

function assessCluster(
  request: PlacementRequest,
  cluster: ClusterCandidate,
  available: AvailableCapacity | undefined,
): Findings {
  const nodes = assessNodes(request, cluster);
  return {
    against: [...gpuShortage(request, available), ...nodes.reasons],
    notes: [
      ...(nodes.avoidedTaints > 0 ? [`its nodes have PreferNoSchedule taints that are not tolerated: ${AVOIDED}`] : []),
      ...(nodes.vramUnknown ? ['the memory of its GPUs is not known, so it was not checked'] : []),
    ],
    gpus: Array.from({ length: request.replicas }, () => []),
    avoided: nodes.avoidedTaints,
    vramUnknown: nodes.vramUnknown,
  };
}

function gpuShortage(request: PlacementRequest, available: AvailableCapacity | undefined): string[] {
  const needed = totalRequirements(request).gpu_count;
  if (!available || needed <= available.free.gpu_count) return [];
  const needs = `needs ${pluralize(needed, 'GPU')}${perReplicaText(request, String(request.per_replica.gpu_count))}`;
  const { free, total } = available;
  if (total.gpu_count === 0) return [`${needs}, it has none`];
  return [`${needs}, ${free.gpu_count} of ${total.gpu_count} ${areOrIs(free.gpu_count)} free`];
}

function reachabilityReasons({ reachability }: Candidate, available: AvailableCapacity | undefined): string[] {
  return [
    ...(reachability === 'unknown' ? ['has not been reached yet'] : []),
    ...(reachability === 'unreachable' ? ['is unreachable'] : []),
    ...(available ? [] : ['its CPU and memory are not known yet']),
  ];
}

function networkReasons(request: PlacementRequest, { network_types }: Candidate): string[] {
  const missing = request.required_network_types.filter((type) => !network_types.includes(type));
  if (missing.length === 0) return [];
  const has = network_types.length > 0 ? `has: ${network_types.join(', ')}` : 'has none';
  return [`has no network type ${missing.join(', ')} (${has})`];
}

function remainingText(remaining: AvailableCapacity['free'], { total }: AvailableCapacity): string {
  const gpus = total.gpu_count > 0 ? ` and ${remaining.gpu_count} of ${pluralize(total.gpu_count, 'GPU')}` : '';
  const cpus = `${formatCores(remaining.cpu_millis)} of ${pluralize(formatCores(total.cpu_millis), 'CPU')}`;
  return `fits: leaves ${cpus}, ${formatMemoryOf(remaining.memory_bytes, total.memory_bytes)} of memory${gpus} free`;
}
