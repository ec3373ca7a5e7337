import { type EngineFailure, Permanent } from '../errors.ts';
import type { Observation } from '../observation.ts';
import { sentenceOf } from '../words.ts';
import type { Standing } from './standings.ts';

/** How a deployment stands, in short. */
export type Verdict = Pick<Observation, 'phase' | 'reason' | 'message' | 'next'>;

/** Nothing is wrong with it. */
export const calm = (phase: Verdict['phase'], message: string, next: Verdict['next'] = 'settled'): Verdict => ({
  phase,
  reason: null,
  message,
  next,
});

interface Around {
  /** Something of it runs. */
  readonly anyRuns: boolean;
  readonly clean: (text: string) => string;
}

/** Something went wrong with the pass itself. */
export function troubled(trouble: EngineFailure, { anyRuns, clean }: Around): Verdict {
  const isForGood = trouble instanceof Permanent;
  return {
    phase: anyRuns ? 'degraded' : isForGood ? 'failed' : 'retrying',
    reason: trouble.reason,
    message: sentenceOf(trouble, clean),
    next: isForGood ? 'settled' : 'retry',
  };
}

/** One of its pods does not come up. */
export function fallen(
  { name, state }: Standing,
  { anyRuns, count }: { readonly anyRuns: boolean; readonly count: string },
): Verdict {
  const isForGood = state.isForGood === true;
  return {
    phase: anyRuns ? 'degraded' : isForGood ? 'failed' : 'retrying',
    reason: state.reason,
    message: `${name} ${state.message}. ${count}`,
    next: isForGood ? 'settled' : 'retry',
  };
}
