import { expect } from '@jest/globals';
import type { Answered } from '@svc/testing';

/** What the API shows at the end of a situation. */
export interface Outcome {
  /** The phase of a deployment, the reachability of a cluster, `deleted`, or `refused` for a request. */
  readonly phase: string;
  readonly reason: string | null;
  readonly message: string;
  readonly conditions: readonly string[];
  /** Everything that the API has returned, as JSON. */
  readonly texts: string;
  /** What followed the remedy; undefined if none was tried. */
  readonly after?: string;
}

/** What the API must show. */
export interface Expected {
  readonly phase: string;
  readonly reason?: string;
  /** In the message or in a condition. */
  readonly says?: RegExp;
  /** The same, for what a user can do. Required unless the deployment runs, has completed or is deleted. */
  readonly remedy?: RegExp;
}

/** The outcome of a request that the fleet refuses. */
export function refusalOf({ status, body, text }: Pick<Answered, 'status' | 'body' | 'text'>): Outcome {
  const errors: readonly { readonly message: string }[] = body.errors ?? [];
  return {
    phase: 'refused',
    reason: `${status} ${body.code}`,
    message: [body.detail, ...errors.map(({ message }) => message)].join(' '),
    conditions: [],
    texts: text,
  };
}

export const deleted = (after?: string): Outcome => ({
  phase: 'deleted',
  reason: null,
  message: '',
  conditions: [],
  texts: '',
  ...(after === undefined ? {} : { after }),
});

const isAsDesired = ({ phase, reason }: Outcome): boolean =>
  (reason === null && ['running', 'deleted', 'online'].includes(phase)) ||
  (phase === 'stopped' && reason === 'Completed');

/** Throws unless an outcome is as expected, has a way out, and names no internal error. */
export function assertOutcome(outcome: Outcome, { phase, reason, says, remedy }: Expected): void {
  const stated = [outcome.message, ...outcome.conditions].join('\n');
  expect({ phase: outcome.phase, reason: outcome.reason, stated }).toEqual({
    phase,
    reason: reason ?? null,
    stated,
  });
  if (says) expect(stated).toMatch(says);
  expect(`${stated}\n${outcome.texts}`).not.toMatch(/internal error/i);
  if (remedy) expect(stated).toMatch(remedy);
  else expect({ stated, isAsDesired: isAsDesired(outcome) }).toEqual({ stated, isAsDesired: true });
}
