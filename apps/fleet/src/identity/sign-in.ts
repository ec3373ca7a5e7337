import { challengeOf, hashCredential, newCredential, SignInNotBegunHere } from '@svc/auth';
import type { Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { clientAddress, Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { type ActorRecording, actorOf } from './actor.ts';
import { accessOf } from './policy.ts';
import type { Caller, Principal } from './principal.ts';
import type { IdentityServices } from './services.ts';
import type { Owner } from './sessions/opening.ts';
import { type Person, refuseWithoutRole } from './sessions/people.ts';
import { ACCESS_TOKEN_SECONDS } from './sessions/session-tokens.ts';
import type { TokenPair } from './sessions/sessions.ts';
import { reasonWithoutRole, userBlocked } from './users.ts';

/**
 * A caller as `/auth/me` and sign-ins present it. @throws if the caller has no role, which the
 * policy does not admit
 */
export function presentCaller(caller: Caller) {
  const { name, role } = caller;
  if (role === undefined) throw new Error('the policy must not admit callers without a role here');
  switch (caller.kind) {
    case 'temporary-admin':
      return { kind: caller.kind, id: null, name, email: null, role, temporary: true };
    case 'token':
      return { kind: caller.kind, id: caller.id, name, email: null, role, temporary: false };
    case 'user':
      return { kind: caller.source, id: caller.id, name, email: caller.email, role, temporary: false };
  }
}

type Transaction = Prisma.TransactionClient;

interface SignInContext extends Pick<IdentityServices, 'sessions' | 'settings'> {
  readonly recording: ActorRecording;
  /** The address and the start of the `User-Agent` of the request. */
  readonly address: string;
  readonly userAgent: string | null;
}

/**
 * Opens a session for an authenticated person, and records the person as the actor. @throws 403 if
 * the person has no role
 */
export async function openSession(
  { sessions, settings, recording, userAgent, address }: SignInContext,
  transaction: Transaction,
  owner: Owner,
): Promise<Person & { readonly sessionId: string }> {
  const sessionId = await sessions.open(transaction, owner, { userAgent, source: clientAddress(address) ?? null });
  const person = await sessions.findPerson(transaction, sessionId);
  if (!person) throw await refusalOf(transaction, owner);
  const actor = actorOf(person);
  if (actor) recording.setActor(actor);
  recording.isRequired = true; // also if the person has no role
  if (person.kind === 'user' && person.role === undefined) {
    const { claims } = await transaction.user.findUniqueOrThrow({ where: { id: person.id } });
    throw new Problem('insufficient_scope', reasonWithoutRole(claims, await settings.oidc(transaction)));
  }
  if (person.kind === 'user') {
    await transaction.$executeRaw`UPDATE users SET last_sign_in_at = now() WHERE id = ${person.id}::uuid`;
  }
  return { ...person, sessionId };
}

/** Why a person who has proven an identity has no session: removed concurrently, or blocked. */
async function refusalOf(transaction: Transaction, owner: Owner): Promise<Problem> {
  const user =
    owner.kind === 'temporary-admin' ? null : await transaction.user.findUnique({ where: { id: owner.userId } });
  return user?.blocked_at ? userBlocked() : new Problem('invalid_grant', 'The account no longer exists.');
}

/** Opens a session, and returns its first tokens. */
export async function signIn(
  context: SignInContext,
  transaction: Transaction,
  owner: Owner,
): Promise<Reply<typeof fleetEndpoints.login>> {
  const person = await openSession(context, transaction, owner);
  return presentSession(await context.sessions.issueTokens(transaction, person.sessionId), person);
}

export const presentSession = (pair: TokenPair, person: Person) => ({
  ...pair,
  token_type: 'Bearer' as const,
  expires_in: ACCESS_TOKEN_SECONDS,
  user: presentCaller(person),
});

/** The session of the console, as the console reads it. */
export const presentBrowserSession = ({ policy }: Pick<IdentityServices, 'policy'>, principal: Principal) => ({
  user: principal.kind === 'anonymous' || principal.role === undefined ? null : presentCaller(principal),
  may: accessOf(policy, principal),
});

const CODE_SECONDS = 60;

/**
 * Creates the code for which a session is handed over, once and within a minute. With a challenge,
 * only to the holder of its verifier.
 */
export async function issueSignInCode(
  transaction: Transaction,
  sessionId: string,
  challenge: string | undefined,
): Promise<string> {
  const code = newCredential();
  await transaction.$executeRaw`
    INSERT INTO sign_in_codes (code_hash, session_id, challenge, expires_at)
    VALUES (${hashCredential(code)}, ${sessionId}::uuid, ${challenge ?? null},
      now() + make_interval(secs => ${CODE_SECONDS}))`;
  return code;
}

/**
 * Redeems the code at the end of a sign-in at the identity provider, or of a program. A sign-in that began with a
 * challenge needs its verifier. @returns the person and the session @throws 401, 403
 */
export async function redeemSignInCode(
  { sessions }: Pick<SignInContext, 'sessions'>,
  transaction: Transaction,
  { code, verifier }: { readonly code: string; readonly verifier?: string | undefined },
): Promise<Person & { readonly sessionId: string }> {
  const challenge = verifier === undefined ? null : challengeOf(verifier);
  const [row] = await transaction.$queryRaw<{ session_id: string }[]>`
    DELETE FROM sign_in_codes
    WHERE code_hash = ${hashCredential(code)} AND challenge IS NOT DISTINCT FROM ${challenge} AND expires_at > now()
    RETURNING session_id`;
  const person = row && (await sessions.findPerson(transaction, row.session_id));
  if (!row || !person) throw new SignInNotBegunHere();
  refuseWithoutRole(person); // the role mapping may have changed since the callback
  return { ...person, sessionId: row.session_id };
}
