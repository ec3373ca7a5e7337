import { byText, cores, memory } from './format.ts';

/**
 * What choosing a place costs. Compared member by member, in this order; the lower one wins. So GPUs and large machines
 * stay free for those who need them, and nobody is sent where an operator asked to stay away while there is another place.
 */
export interface Score {
  /** `PreferNoSchedule` taints that are not tolerated. */
  readonly avoided_taints: number;
  /** 1: GPU memory is asked for, and nobody knows how much there is. */
  readonly vram_unknown: number;
  /** 1: has GPUs, for a wish that needs none. */
  readonly gpus_unneeded: number;
  readonly gpus_left: number;
  readonly memory_bytes_left: number;
  readonly cpu_millis_left: number;
}

/** A scored place, by its name. */
export interface Scored {
  readonly candidate: { readonly name: string; readonly id: string };
  readonly score: Score;
}

type Words = (better: number, worse: number) => string;

/** Each part in the order of their weight, with why the lower one wins. */
const parts: readonly (readonly [keyof Score, Words])[] = [
  ['avoided_taints', (better, worse) => `has fewer taints that ask to stay away (${better} against ${worse})`],
  ['vram_unknown', () => 'has GPUs whose memory is known'],
  ['gpus_unneeded', () => 'has no GPUs, so that those with GPUs stay free for what needs them'],
  ['gpus_left', (better, worse) => `leaves fewer GPUs unused (${better} against ${worse})`],
  [
    'memory_bytes_left',
    (better, worse) => `leaves less memory unused (${memory(better, 'down')} against ${memory(worse, 'up')})`,
  ],
  ['cpu_millis_left', (better, worse) => `leaves fewer CPUs unused (${cores(better)} against ${cores(worse)})`],
];

/** The best first; among equals by name, then by id. */
export function bestFirst(one: Scored, other: Scored): number {
  const part = deciding(one, other);
  if (part) return one.score[part[0]] - other.score[part[0]];
  return byText(one.candidate.name, other.candidate.name) || byText(one.candidate.id, other.candidate.id);
}

/** Why the first of the two is preferred, as a sentence without its subject. */
export function whyPreferred(better: Scored, worse: Scored): string {
  const part = deciding(better, worse);
  return part ? part[1](better.score[part[0]], worse.score[part[0]]) : 'fits as well and comes first by name';
}

const deciding = (one: Scored, other: Scored) => parts.find(([part]) => one.score[part] !== other.score[part]);
