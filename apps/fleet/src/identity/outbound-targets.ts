import type { FieldError } from '@svc/contract';
import { invalid, isLocalTarget, Problem, resolvesToThisMachine } from '@svc/http';
import type { Principal } from './principal.ts';

interface TargetContext {
  readonly principal: Principal;
  /**
   * The reason why the fleet must not connect to a target, as far as its URL shows; undefined if it
   * is allowed.
   */
  readonly refusalOf: (target: URL) => Error | undefined;
}

/**
 * The field errors of a target that the fleet must not connect to. Only admins can register targets
 * on the machine of the fleet, because access to the socket of an engine is equivalent to root on
 * that machine. @throws 403
 */
export function targetErrors(context: TargetContext, path: string, target: URL): FieldError[] {
  if (!isAdmin(context) && isLocalTarget(target)) throw forAdmins();
  const refusal = context.refusalOf(target);
  return refusal ? [{ path, message: refusal.message }] : [];
}

/**
 * The same, with the addresses of a name. It can take a second, so it must not be called in a
 * transaction. @throws 403
 */
export async function resolvedTargetErrors(context: TargetContext, path: string, target: URL): Promise<FieldError[]> {
  if (!isAdmin(context) && (await resolvesToThisMachine(target))) throw forAdmins();
  return targetErrors(context, path, target);
}

const forAdmins = () =>
  new Problem(
    'insufficient_scope',
    'Only an admin can register a local socket, a loopback address or another address of the machine of this fleet.',
  );

export const isAdmin = ({ principal }: Pick<TargetContext, 'principal'>): boolean =>
  'role' in principal && principal.role === 'admin';

/** A stored secret is never sent to another address than the one it was given for. */
export const secretRequiredAgain = (path: string, address: string, alternative = '') =>
  invalid([
    {
      path,
      message: `must be given again${alternative} when ${address} changes, because the stored value is for the previous one`,
    },
  ]);
