import type { Obstacle, Remedy } from '@svc/contract/fleet';
import type { Candidate, PlacementRequest, TargetKind, TargetRef } from './candidates.ts';
import {
  assessFeasibility,
  bestCaseOf,
  bestFirst,
  type Feasible,
  type Infeasible,
  type NameOf,
  type Score,
  whyPreferred,
} from './feasibility.ts';
import { compareStrings } from './format.ts';

/** The reasons for or against a candidate, as text for users. */
export interface CandidateAssessment {
  readonly kind: TargetKind;
  readonly id: string;
  readonly name: string;
  readonly fits: boolean;
  readonly reasons: readonly string[];
  /** The reasons with their remedies; empty if the deployment fits. */
  readonly obstacles: readonly Obstacle[];
  /** Present only if the deployment fits. */
  readonly score?: Score;
  /**
   * Present only if the first check of the candidate has not finished, and nothing else is known
   * against it.
   */
  readonly isUnchecked?: true;
}

/**
 * The chosen target. `gpus` are the GPU ids of each replica on a host; they are empty for a
 * cluster, which assigns GPUs itself.
 */
export interface ChosenTarget extends TargetRef {
  readonly gpus: readonly (readonly string[])[];
}

/**
 * The chosen target, and the assessments: the feasible candidates from best to worst, then the
 * others by name. The assessments are made when they are read, because most callers only need the
 * target.
 */
export interface Placement {
  readonly chosen: ChosenTarget | undefined;
  readonly assessments: readonly CandidateAssessment[];
}

/**
 * Chooses a target for all replicas of a deployment. The result does not depend on the order of the
 * candidates. A request with a target considers only that target. Allocations count as given: to
 * determine whether a deployment still fits on its own target, the caller omits its own allocation
 * and its own attachments of volumes.
 */
export function place(request: PlacementRequest, candidates: readonly Candidate[]): Placement {
  const { target } = request;
  const considered = target ? candidates.filter((candidate) => isSameTarget(candidate, target)) : candidates;
  if (target && considered.length === 0) return { chosen: undefined, assessments: [unknownTarget(target)] };
  let assessments: readonly CandidateAssessment[] | undefined;
  return {
    chosen: chosenOf(bestOf(request, considered)),
    get assessments() {
      assessments ??= assess(request, considered, namesOf(candidates));
      return assessments;
    },
  };
}

/**
 * The best candidate on which the deployment fits. A candidate that cannot be better than the best
 * one so far is not assessed.
 */
function bestOf(request: PlacementRequest, candidates: readonly Candidate[]): Feasible | undefined {
  let best: Feasible | undefined;
  for (const candidate of candidates) {
    const atBest = bestCaseOf(request, candidate);
    if (!atBest || (best && bestFirst(atBest, best) > 0)) continue;
    const result = assessFeasibility(request, candidate, ({ id }) => id);
    if (result.fits && (!best || bestFirst(result, best) < 0)) best = result;
  }
  return best;
}

function assess(request: PlacementRequest, candidates: readonly Candidate[], nameOf: NameOf): CandidateAssessment[] {
  const results = candidates.map((candidate) => assessFeasibility(request, candidate, nameOf));
  const feasible = results.filter((result) => result.fits).toSorted(bestFirst);
  const infeasible = results.filter((result) => !result.fits).toSorted(byName);
  return [...explainFeasible(feasible, request.target !== undefined), ...infeasible.map(presentInfeasible)];
}

const isSameTarget = (one: TargetRef, other: TargetRef): boolean => one.kind === other.kind && one.id === other.id;

function unknownTarget({ kind, id }: TargetRef): CandidateAssessment {
  const message = `there is no ${kind} with this id`;
  const remedies = [{ object: 'request', field: 'target', values: [] }] satisfies Remedy[];
  return {
    kind,
    id,
    name: id,
    fits: false,
    reasons: [message],
    obstacles: [{ code: 'unknown_target', message, remedies }],
  };
}

function namesOf(candidates: readonly Candidate[]): NameOf {
  const names = new Map(candidates.map(({ kind, id, name }) => [`${kind} ${id}`, name]));
  return ({ kind, id }) => names.get(`${kind} ${id}`) ?? id;
}

const byName = ({ candidate: one }: Infeasible, { candidate: other }: Infeasible): number =>
  compareStrings(one.name, other.name) || compareStrings(one.id, other.id);

function chosenOf(best: Feasible | undefined): ChosenTarget | undefined {
  if (!best) return undefined;
  const { kind, id } = best.candidate;
  return { kind, id, gpus: best.gpus };
}

function explainFeasible([best, ...others]: readonly Feasible[], wasRequested: boolean): CandidateAssessment[] {
  if (!best) return [];
  const [next] = others;
  const before = next ? `chosen before ${next.candidate.name}: it ${whyPreferred(best, next)}` : undefined;
  const why = before ?? (wasRequested ? 'chosen: it was requested' : 'chosen: nothing else fits');
  return [
    withReason(best, why),
    ...others.map((other) => withReason(other, `${best.candidate.name} is chosen: it ${whyPreferred(best, other)}`)),
  ];
}

const withReason = ({ candidate, reasons, score }: Feasible, reason: string): CandidateAssessment => ({
  ...identityOf(candidate),
  fits: true,
  reasons: [...reasons, reason],
  obstacles: [],
  score,
});

const presentInfeasible = ({ candidate, obstacles, isUnchecked }: Infeasible): CandidateAssessment => ({
  ...identityOf(candidate),
  fits: false,
  reasons: obstacles.map(({ message }) => message),
  obstacles,
  ...(isUnchecked && { isUnchecked }),
});

const identityOf = ({ kind, id, name }: Candidate) => ({ kind, id, name });
