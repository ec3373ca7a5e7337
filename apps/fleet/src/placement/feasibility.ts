import type { Candidate, ClusterCandidate, HostCandidate, TargetRef } from './candidates.ts';
import { chooseGpus, eachOf, less, type Room, roomOf, shortages, wholeDemand } from './capacity.ts';
import { areOrIs, cores, counted, memoryOf } from './format.ts';
import { admissionReasons, avoidedTaints, judgeNodes, taintText } from './nodes.ts';
import type { Wish, WishedVolume } from './requirements.ts';
import type { Score } from './score.ts';

/** What a target is called; its id where nobody knows it. */
export type NameOf = (target: TargetRef) => string;

/** Why the volumes keep a deployment from a place: one lives elsewhere, or another deployment has it for itself. */
const volumeReasons = (wish: Wish, candidate: Candidate, nameOf: NameOf): string[] =>
  wish.volumes.flatMap((volume) => [...livesElsewhere(volume, candidate, nameOf), ...isTaken(volume)]);

/** What to know about volumes where the deployment does fit. */
const volumeNotes = (wish: Wish, { kind }: Candidate): string[] =>
  wish.volumes
    .filter(({ access_mode }) => kind === 'cluster' && wish.replicas > 1 && access_mode === 'ReadWriteOnce')
    .map(({ name }) => `volume ${name} is ReadWriteOnce: its ${wish.replicas} replicas must share one node`);

function livesElsewhere({ name, boundTo }: WishedVolume, candidate: Candidate, nameOf: NameOf): string[] {
  if (!boundTo || (boundTo.kind === candidate.kind && boundTo.id === candidate.id)) return [];
  return [`volume ${name} lives on ${boundTo.kind} ${nameOf(boundTo)}`];
}

function isTaken({ name, access_mode, attached_to }: WishedVolume): string[] {
  if (attached_to === undefined || access_mode !== 'ReadWriteOnce') return [];
  return [`volume ${name} is ReadWriteOnce and attached to deployment ${attached_to}`];
}

const AVOIDED = 'avoided where there is another place';

/** A place where the wish fits: what that costs, what to know, and the GPUs that each replica gets. */
export interface Fit {
  readonly fits: true;
  readonly candidate: Candidate;
  readonly reasons: readonly string[];
  readonly score: Score;
  readonly gpus: readonly (readonly string[])[];
}

/** A place where the wish does not fit, with everything that speaks against it. */
export interface Misfit {
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

/** Holds one place against a wish. */
export function judge(wish: Wish, candidate: Candidate, nameOf: NameOf): Fit | Misfit {
  const room = roomOf(candidate);
  const findings = candidate.kind === 'host' ? judgeHost(wish, candidate) : judgeCluster(wish, candidate, room);
  const reasons = [
    ...reachabilityReasons(candidate, room),
    ...networkReasons(wish, candidate),
    ...(room ? shortages(wish, room) : []),
    ...findings.against,
    ...volumeReasons(wish, candidate, nameOf),
  ];
  if (!room || reasons.length > 0) return { fits: false, candidate, reasons };
  const left = less(room.free, wholeDemand(wish));
  return {
    fits: true,
    candidate,
    reasons: [leaves(left, room), ...findings.notes, ...volumeNotes(wish, candidate)],
    gpus: findings.gpus,
    score: {
      avoided_taints: findings.avoided,
      vram_unknown: Number(findings.vramUnknown),
      gpus_unneeded: wish.per_replica.gpu_count === 0 ? Number(room.total.gpu_count > 0) : 0,
      gpus_left: left.gpu_count,
      memory_bytes_left: left.memory_bytes,
      cpu_millis_left: left.cpu_millis,
    },
  };
}

function judgeHost(wish: Wish, host: HostCandidate): Findings {
  const choice = chooseGpus(wish, host);
  const avoided = avoidedTaints(host, wish);
  return {
    against: [...choice.reasons, ...admissionReasons(host, wish)],
    notes: avoided.map((taint) => `taint ${taintText(taint)} is not tolerated: ${AVOIDED}`),
    gpus: choice.perReplica,
    avoided: avoided.length,
    vramUnknown: false,
  };
}

function judgeCluster(wish: Wish, cluster: ClusterCandidate, room: Room | undefined): Findings {
  const nodes = judgeNodes(wish, cluster);
  return {
    against: [...gpuShortage(wish, room), ...nodes.reasons],
    notes: [
      ...(nodes.avoidedTaints > 0 ? [`its nodes have PreferNoSchedule taints that are not tolerated: ${AVOIDED}`] : []),
      ...(nodes.vramUnknown ? ['the memory of its GPUs is not known, so it was not checked'] : []),
    ],
    gpus: Array.from({ length: wish.replicas }, () => []),
    avoided: nodes.avoidedTaints,
    vramUnknown: nodes.vramUnknown,
  };
}

function gpuShortage(wish: Wish, room: Room | undefined): string[] {
  const needed = wholeDemand(wish).gpu_count;
  if (!room || needed <= room.free.gpu_count) return [];
  const needs = `needs ${counted(needed, 'GPU')}${eachOf(wish, String(wish.per_replica.gpu_count))}`;
  const { free, total } = room;
  if (total.gpu_count === 0) return [`${needs}, it has none`];
  return [`${needs}, ${free.gpu_count} of ${total.gpu_count} ${areOrIs(free.gpu_count)} free`];
}

function reachabilityReasons({ reachability }: Candidate, room: Room | undefined): string[] {
  return [
    ...(reachability === 'unknown' ? ['was never reached yet'] : []),
    ...(reachability === 'unreachable' ? ['is unreachable'] : []),
    ...(room ? [] : ['its CPU and memory are not known before it is reached']),
  ];
}

function networkReasons(wish: Wish, { network_types }: Candidate): string[] {
  const missing = wish.required_network_types.filter((type) => !network_types.includes(type));
  if (missing.length === 0) return [];
  const has = network_types.length > 0 ? `has: ${network_types.join(', ')}` : 'has none';
  return [`has no network type ${missing.join(', ')} (${has})`];
}

function leaves(left: Room['free'], { total }: Room): string {
  const gpus = total.gpu_count > 0 ? ` and ${left.gpu_count} of ${counted(total.gpu_count, 'GPU')}` : '';
  const cpus = `${cores(left.cpu_millis)} of ${counted(cores(total.cpu_millis), 'CPU')}`;
  return `fits: leaves ${cpus}, ${memoryOf(left.memory_bytes, total.memory_bytes)} of memory${gpus} free`;
}
