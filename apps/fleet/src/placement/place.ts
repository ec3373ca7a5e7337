import type { Candidate, TargetKind, TargetRef } from './candidates.ts';
import { type Fit, judge, type Misfit, type NameOf } from './feasibility.ts';
import { byText } from './format.ts';
import type { Wish } from './requirements.ts';
import { bestFirst, type Score, whyPreferred } from './score.ts';

/** What speaks for or against one place, in sentences that a person can act on. */
export interface Judged {
  readonly kind: TargetKind;
  readonly id: string;
  readonly name: string;
  readonly fits: boolean;
  readonly reasons: readonly string[];
  /** What choosing it costs; only where it fits. */
  readonly score?: Score;
}

/** The place that won; `gpus` are the ids that each replica gets on a host, none on a cluster, which assigns its own. */
export interface Chosen extends TargetRef {
  readonly gpus: readonly (readonly string[])[];
}

/** Where a wish goes, if anywhere, and why: the chosen one, what else fits from best to worst, what doesn't by name. */
export interface Placement {
  readonly chosen: Chosen | undefined;
  readonly judged: readonly Judged[];
}

/**
 * Finds the place for all replicas of a deployment; the order of the candidates does not matter. A wish with a target is
 * held against that one only. What is allocated is counted as it is given: to ask whether a deployment still fits where it
 * runs, leave its own share (and its own attachment of a volume) out.
 */
export function place(wish: Wish, candidates: readonly Candidate[]): Placement {
  const { target } = wish;
  const asked = target ? candidates.filter((candidate) => same(candidate, target)) : candidates;
  if (target && asked.length === 0) return { chosen: undefined, judged: [missing(target)] };
  const nameOf = namesOf(candidates);
  const verdicts = asked.map((candidate) => judge(wish, candidate, nameOf));
  const fits = verdicts.filter((verdict) => verdict.fits).toSorted(bestFirst);
  const misfits = verdicts.filter((verdict) => !verdict.fits).toSorted(byName);
  return { chosen: chosenOf(fits), judged: [...explained(fits, target !== undefined), ...misfits.map(shown)] };
}

const same = (one: TargetRef, other: TargetRef): boolean => one.kind === other.kind && one.id === other.id;

const missing = ({ kind, id }: TargetRef): Judged => ({
  kind,
  id,
  name: id,
  fits: false,
  reasons: [`there is no ${kind} with this id`],
});

function namesOf(candidates: readonly Candidate[]): NameOf {
  const names = new Map(candidates.map(({ kind, id, name }) => [`${kind} ${id}`, name]));
  return ({ kind, id }) => names.get(`${kind} ${id}`) ?? id;
}

const byName = ({ candidate: one }: Misfit, { candidate: other }: Misfit): number =>
  byText(one.name, other.name) || byText(one.id, other.id);

function chosenOf([best]: readonly Fit[]): Chosen | undefined {
  if (!best) return undefined;
  const { kind, id } = best.candidate;
  return { kind, id, gpus: best.gpus };
}

function explained([best, ...others]: readonly Fit[], wasAskedFor: boolean): Judged[] {
  if (!best) return [];
  const [next] = others;
  const before = next ? `chosen before ${next.candidate.name}: it ${whyPreferred(best, next)}` : undefined;
  const why = before ?? (wasAskedFor ? 'chosen: it was asked for' : 'chosen: nothing else fits');
  return [
    withReason(best, why),
    ...others.map((other) => withReason(other, `${best.candidate.name} is chosen: it ${whyPreferred(best, other)}`)),
  ];
}

const withReason = (fit: Fit, reason: string): Judged => ({
  ...shown({ ...fit, reasons: [...fit.reasons, reason] }),
  score: fit.score,
});

const shown = ({ candidate: { kind, id, name }, fits, reasons }: Fit | Misfit): Judged => ({
  kind,
  id,
  name,
  fits,
  reasons,
});
