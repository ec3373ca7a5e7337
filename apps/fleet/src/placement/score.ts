import { compareStrings, formatCores, formatMemory } from './format.ts';

/**
 * The cost of a candidate. Scores are compared member by member, in this order, and the lower value wins. This keeps
 * GPUs and large machines available for workloads that need them, and avoids targets with `PreferNoSchedule` taints if
 * another target fits.
 */
export interface Score {
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

/** The members of a score in the order of comparison, with an explanation of why the lower value wins. */
const parts: readonly (readonly [keyof Score, Explanation])[] = [
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
