import { Problem } from '@svc/http';
import type { Challenges } from './challenges.ts';

/** Which principals each kind of access admits. Each service has one such table. */
export type Policy<Access extends string, P> = Readonly<Record<Access, (principal: P) => PolicyDecision>>;

/**
 * `true`, or the reason for the caller why access is denied: a string, or a Problem with a specific
 * code.
 */
export type PolicyDecision = true | string | Problem;

/**
 * Enforces the policy.
 * @throws 401 for an anonymous caller, 403 for other callers without permission
 */
export function admit<Access extends string, P extends { readonly kind: string }>(
  { policy, challenges }: { readonly policy: Policy<Access, P>; readonly challenges: Challenges },
  { access, principal }: { readonly access: Access; readonly principal: P },
): void {
  const verdict = policy[access](principal);
  if (verdict === true) return;
  if (principal.kind === 'anonymous') throw challenges.unauthenticated();
  throw verdict instanceof Problem ? verdict : challenges.insufficientScope(verdict);
}
