import { invalid, isLocalTarget, Problem } from '@svc/http';
import type { Complaint } from '../resources/field-errors.ts';
import type { RequestContext } from './context.ts';

/**
 * What stands against having the fleet call this target. What is on the fleet's own machine is an admin's to register: an
 * engine's socket is root there. @throws 403
 */
export function complaintsOfTarget(
  { principal, refusalOf }: Pick<RequestContext, 'principal' | 'refusalOf'>,
  path: string,
  target: URL,
): Complaint[] {
  if (!isAdmin({ principal }) && isLocalTarget(target)) {
    throw new Problem('insufficient_scope', 'Only an admin registers a local socket or a loopback address.');
  }
  const refusal = refusalOf(target);
  return refusal ? [{ path, message: refusal.message }] : [];
}

export const isAdmin = ({ principal }: Pick<RequestContext, 'principal'>): boolean =>
  'role' in principal && principal.role === 'admin';

/** A secret that is kept for one address is not sent to another. */
export const againWithAddress = (path: string, address: string) =>
  invalid([{ path, message: `must be given again with another ${address}: what is kept is for the former one` }]);
