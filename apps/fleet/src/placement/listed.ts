import { MAX_CANDIDATES_LISTED } from '@svc/contract/fleet';
import type { CandidateAssessment } from './place.ts';

/** The assessments that a response lists, and how many of each kind it omits. */
export interface ListedAssessments {
  readonly listed: readonly CandidateAssessment[];
  readonly omitted: { readonly suitable: number; readonly rejected: number };
}

/**
 * Bounds the assessments of a large fleet: the best suitable candidates, and the rejected ones with
 * the fewest reasons.
 */
export function listAssessments(assessments: readonly CandidateAssessment[]): ListedAssessments {
  const suitable = assessments.filter(({ fits }) => fits);
  const rejected = assessments.filter(({ fits }) => !fits);
  const closest = rejected.toSorted((one, other) => one.reasons.length - other.reasons.length);
  const shown = new Set([...suitable.slice(0, MAX_CANDIDATES_LISTED), ...closest.slice(0, MAX_CANDIDATES_LISTED)]);
  const countOmitted = (all: readonly CandidateAssessment[]) => all.filter((each) => !shown.has(each)).length;
  return {
    listed: assessments.filter((each) => shown.has(each)),
    omitted: { suitable: countOmitted(suitable), rejected: countOmitted(rejected) },
  };
}
