import type { Candidate, CountedAmounts, Gpu, HostCandidate } from './candidates.ts';
import { areOrIs, byText, cores, counted, memory, memoryOf } from './format.ts';
import type { Wish } from './requirements.ts';

/** What a place has, and what of it nobody uses: never less than nothing, also where more is allocated than there is. */
export interface Room {
  readonly total: CountedAmounts;
  readonly free: CountedAmounts;
}

/** The room of a place; undefined while its size is not known. */
export function roomOf(candidate: Candidate): Room | undefined {
  if (candidate.kind === 'cluster') {
    const { allocatable, allocated } = candidate;
    return allocatable ? { total: allocatable, free: less(allocatable, allocated) } : undefined;
  }
  const { capacity, allocated, gpus } = candidate;
  if (!capacity) return undefined;
  const used = new Set(allocated.gpus);
  const total = { ...capacity, gpu_count: gpus.length };
  const gpusUsed = gpus.filter(({ id }) => used.has(id)).length;
  return { total, free: less(total, { ...allocated, gpu_count: gpusUsed }) };
}

/** What all replicas together ask for. */
export const wholeDemand = ({ replicas, per_replica }: Wish): CountedAmounts => ({
  cpu_millis: replicas * per_replica.cpu_millis,
  memory_bytes: replicas * per_replica.memory_bytes,
  gpu_count: replicas * per_replica.gpu_count,
});

/** What is left of some amounts after others are taken. */
export const less = (from: CountedAmounts, taken: CountedAmounts): CountedAmounts => ({
  cpu_millis: Math.max(0, from.cpu_millis - taken.cpu_millis),
  memory_bytes: Math.max(0, from.memory_bytes - taken.memory_bytes),
  gpu_count: Math.max(0, from.gpu_count - taken.gpu_count),
});

/** ` (3 replicas with 2 each)`, where there are several. */
export const eachOf = ({ replicas }: Wish, each: string): string =>
  replicas > 1 ? ` (${replicas} replicas with ${each} each)` : '';

/** Why CPU or memory do not suffice. */
export function shortages(wish: Wish, { total, free }: Room): string[] {
  const needed = wholeDemand(wish);
  const each = wish.per_replica;
  const reasons: string[] = [];
  if (needed.cpu_millis > free.cpu_millis) {
    const available = cores(free.cpu_millis);
    reasons.push(
      `needs ${counted(cores(needed.cpu_millis), 'CPU')}${eachOf(wish, cores(each.cpu_millis))}, ` +
        `${available} of ${cores(total.cpu_millis)} ${areOrIs(available)} free`,
    );
  }
  if (needed.memory_bytes > free.memory_bytes) {
    reasons.push(
      `needs ${memory(needed.memory_bytes, 'up')} of memory${eachOf(wish, memory(each.memory_bytes, 'up'))}, ` +
        `${memoryOf(free.memory_bytes, total.memory_bytes)} is free`,
    );
  }
  return reasons;
}

/** The GPUs of a host that the replicas get, or why there are too few. */
export interface GpuChoice {
  readonly reasons: readonly string[];
  readonly perReplica: readonly (readonly string[])[];
}

/** Takes the smallest GPUs that are free and large enough, among equals by id: the large ones stay for those who need them. */
export function chooseGpus(wish: Wish, host: HostCandidate): GpuChoice {
  const { gpu_count: each, vram_bytes: vram } = wish.per_replica;
  const needed = wholeDemand(wish).gpu_count;
  const used = new Set(host.allocated.gpus);
  const free = host.gpus.filter(({ id }) => !used.has(id));
  const usable = free.filter(({ vram_bytes }) => vram_bytes >= vram).toSorted(smallestFirst);
  if (usable.length < needed) {
    const counts = { free: free.length, usable: usable.length };
    return { reasons: [tooFew(wish, host, counts)], perReplica: [] };
  }
  const ids = usable.map(({ id }) => id);
  const perReplica = Array.from({ length: wish.replicas }, (_, replica) =>
    ids.slice(replica * each, (replica + 1) * each),
  );
  return { reasons: [], perReplica };
}

const smallestFirst = (one: Gpu, other: Gpu): number => one.vram_bytes - other.vram_bytes || byText(one.id, other.id);

function tooFew(
  wish: Wish,
  { gpus }: HostCandidate,
  counts: { readonly free: number; readonly usable: number },
): string {
  const { gpu_count: each, vram_bytes: vram } = wish.per_replica;
  const size = vram > 0 ? ` with at least ${memory(vram, 'up')} each` : '';
  const needs = `needs ${counted(wholeDemand(wish).gpu_count, 'GPU')}${size}${eachOf(wish, String(each))}`;
  if (gpus.length === 0) return `${needs}, it has none`;
  const has = `${needs}, ${counts.usable} of ${gpus.length} ${areOrIs(counts.usable)} free`;
  if (vram === 0) return has;
  return `${has} and large enough (${gpus.length - counts.free} in use, ${counts.free - counts.usable} too small)`;
}
