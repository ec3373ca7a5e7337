import type { FieldError } from '@svc/contract';
import { invalid, isLocalTarget, Problem } from '@svc/http';
import type { RequestContext } from './context.ts';

/**
 * The field errors of a target that the fleet must not connect to. Only admins can register local sockets and loopback addresses,
 * because access to the socket of an engine is equivalent to root on the machine of the fleet. @throws 403
 */
export function targetErrors(
  { principal, refusalOf }: Pick<RequestContext, 'principal' | 'refusalOf'>,
  path: string,
  target: URL,
): FieldError[] {
  if (!isAdmin({ principal }) && isLocalTarget(target)) {
    throw new Problem('insufficient_scope', 'Only an admin can register a local socket or a loopback address.');
  }
  const refusal = refusalOf(target);
  return refusal ? [{ path, message: refusal.message }] : [];
}

export const isAdmin = ({ principal }: Pick<RequestContext, 'principal'>): boolean =>
  'role' in principal && principal.role === 'admin';

/** A stored secret is never sent to another address than the one it was given for. */
export const secretRequiredAgain = (path: string, address: string, alternative = '') =>
  invalid([
    {
      path,
      message: `must be given again${alternative} when ${address} changes, because the stored value is for the previous one`,
    },
  ]);
