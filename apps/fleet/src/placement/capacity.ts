import type { Candidate, CountedAmounts, Gpu, HostCandidate } from './candidates.ts';
import { areOrIs, compareStrings, formatCores, formatMemory, formatMemoryOf, pluralize } from './format.ts';
import type { PlacementRequest } from './requirements.ts';

/** The total and available capacity of a target. `free` is never negative, even if more is allocated than exists. */
export interface AvailableCapacity {
  readonly total: CountedAmounts;
  readonly free: CountedAmounts;
}

/** The available capacity of a candidate; undefined while its capacity is not known. */
export function availableCapacityOf(candidate: Candidate): AvailableCapacity | undefined {
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
export const totalRequirements = ({ replicas, per_replica }: PlacementRequest): CountedAmounts => ({
  cpu_millis: replicas * per_replica.cpu_millis,
  memory_bytes: replicas * per_replica.memory_bytes,
  gpu_count: replicas * per_replica.gpu_count,
});

/** The difference of two amounts, at least 0 for each member. */
export const subtract = (from: CountedAmounts, taken: CountedAmounts): CountedAmounts => ({
  cpu_millis: Math.max(0, from.cpu_millis - taken.cpu_millis),
  memory_bytes: Math.max(0, from.memory_bytes - taken.memory_bytes),
  gpu_count: Math.max(0, from.gpu_count - taken.gpu_count),
});

/** The text ` (3 replicas with 2 each)`; '' for one replica. */
export const perReplicaText = ({ replicas }: PlacementRequest, each: string): string =>
  replicas > 1 ? ` (${replicas} replicas with ${each} each)` : '';

/** The reasons why CPU or memory are not sufficient. */
export function shortages(request: PlacementRequest, { total, free }: AvailableCapacity): string[] {
  const needed = totalRequirements(request);
  const each = request.per_replica;
  const reasons: string[] = [];
  if (needed.cpu_millis > free.cpu_millis) {
    const available = formatCores(free.cpu_millis);
    reasons.push(
      `needs ${pluralize(formatCores(needed.cpu_millis), 'CPU')}${perReplicaText(request, formatCores(each.cpu_millis))}, ` +
        `${available} of ${formatCores(total.cpu_millis)} ${areOrIs(available)} free`,
    );
  }
  if (needed.memory_bytes > free.memory_bytes) {
    reasons.push(
      `needs ${formatMemory(needed.memory_bytes, 'up')} of memory${perReplicaText(request, formatMemory(each.memory_bytes, 'up'))}, ` +
        `${formatMemoryOf(free.memory_bytes, total.memory_bytes)} is free`,
    );
  }
  return reasons;
}

/** The ids of the GPUs that each replica gets on a host, or the reasons why there are too few. */
export interface GpuChoice {
  readonly reasons: readonly string[];
  readonly perReplica: readonly (readonly string[])[];
}

/** Chooses the smallest free GPUs with enough memory, ordered by memory and id, so that large GPUs stay available. */
export function chooseGpus(request: PlacementRequest, host: HostCandidate): GpuChoice {
  const { gpu_count: each, vram_bytes: vram } = request.per_replica;
  const needed = totalRequirements(request).gpu_count;
  const used = new Set(host.allocated.gpus);
  const free = host.gpus.filter(({ id }) => !used.has(id));
  const usable = free.filter(({ vram_bytes }) => vram_bytes >= vram).toSorted(smallestFirst);
  if (usable.length < needed) {
    const counts = { free: free.length, usable: usable.length };
    return { reasons: [gpuShortageOf(request, host, counts)], perReplica: [] };
  }
  const ids = usable.map(({ id }) => id);
  const perReplica = Array.from({ length: request.replicas }, (_, replica) =>
    ids.slice(replica * each, (replica + 1) * each),
  );
  return { reasons: [], perReplica };
}

const smallestFirst = (one: Gpu, other: Gpu): number =>
  one.vram_bytes - other.vram_bytes || compareStrings(one.id, other.id);

function gpuShortageOf(
  request: PlacementRequest,
  { gpus }: HostCandidate,
  counts: { readonly free: number; readonly usable: number },
): string {
  const { gpu_count: each, vram_bytes: vram } = request.per_replica;
  const size = vram > 0 ? ` with at least ${formatMemory(vram, 'up')} each` : '';
  const needs = `needs ${pluralize(totalRequirements(request).gpu_count, 'GPU')}${size}${perReplicaText(request, String(each))}`;
  if (gpus.length === 0) return `${needs}, it has none`;
  const has = `${needs}, ${counts.usable} of ${gpus.length} ${areOrIs(counts.usable)} free`;
  if (vram === 0) return has;
  return `${has} and large enough (${gpus.length - counts.free} in use, ${counts.free - counts.usable} too small)`;
}
