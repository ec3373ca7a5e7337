import { byText } from './by-text.ts';
import type { Gpu, HostCandidate } from './candidates.ts';
import type { Wish } from './demand.ts';
import { eachOf, wholeDemand } from './room.ts';
import { areOrIs, counted, memory } from './words.ts';

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
