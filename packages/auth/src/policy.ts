import { Problem } from '@svc/http';
import type { Challenges } from './challenges.ts';

/** What each access of an endpoint admits: one table for each service, the only place that knows. */
export type Policy<Access extends string, P> = Readonly<Record<Access, (principal: P) => Verdict>>;

/** `true`, or the reason why not, which the caller reads; a Problem where there is a code for it. */
export type Verdict = true | string | Problem;

/** 401 when nobody is calling, 403 when somebody is calling who may not. The only place that chooses. */
export function admit<Access extends string, P extends { readonly kind: string }>(
  { policy, challenges }: { readonly policy: Policy<Access, P>; readonly challenges: Challenges },
  { access, principal }: { readonly access: Access; readonly principal: P },
): void {
  const verdict = policy[access](principal);
  if (verdict === true) return;
  if (principal.kind === 'anonymous') throw challenges.unauthenticated();
  throw verdict instanceof Problem ? verdict : challenges.insufficientScope(verdict);
}
