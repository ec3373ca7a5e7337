import type { Caller, Changer, Principal } from './principal.ts';

/** The actor of an audit entry. */
export interface Actor {
  readonly actor: string;
  readonly user_id: string | null;
}

/** The part of the recording of a request that its authentication and a sign-in set. */
export interface ActorRecording {
  /** Whether the request has an entry whatever its result. */
  isRequired: boolean;
  setActor(actor: Actor): void;
}

/**
 * The actor of a failed sign-in to an account that does not exist. What the caller typed can be a
 * password.
 */
export const UNKNOWN_ACCOUNT: Actor = { actor: 'unknown account', user_id: null };

/** The actor of a principal; undefined for an anonymous one. */
export function actorOf(principal: Principal): Actor | undefined {
  if (principal.kind === 'anonymous') return undefined;
  return { actor: displayName(principal), user_id: principal.kind === 'user' ? principal.id : null };
}

/** The name of a caller in the audit log and in `created_by`. */
function displayName(caller: Caller): string {
  switch (caller.kind) {
    case 'temporary-admin':
      return 'temporary-admin';
    case 'token':
      return `token:${caller.name}`;
    case 'user':
      return caller.email ?? `${caller.name}${caller.name === '' ? '' : ' '}(${caller.id})`;
  }
}

/**
 * The name of the principal that creates or requests something.
 * @throws Error for an anonymous principal, which no policy admits
 */
export function authorOf(principal: Changer): string {
  if (principal.kind === 'anonymous') throw new Error('an anonymous principal cannot be an author');
  if (principal.kind === 'fleet') return principal.kind;
  if (principal.kind === 'source') return `source:${principal.name}`;
  return displayName(principal);
}
