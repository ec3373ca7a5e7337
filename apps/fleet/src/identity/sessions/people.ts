import { Problem } from '@svc/http';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Settings } from '../../settings/settings.ts';
import { NO_ROLE, type TemporaryAdministrator, type User } from '../principal.ts';
import { userOf } from '../users.ts';
import type { TemporaryAdmin } from './temporary-admin.ts';

/** A principal with a session. */
export type Person = User | TemporaryAdministrator;

type Reader = Pick<Prisma.TransactionClient, 'session' | 'setting' | '$queryRaw'>;

/**
 * A session in a browser ends when it was not used for this time. Tokens have no such limit,
 * because programs can pause.
 */
const IDLE_HOURS = 24;

/** Whether a row of `sessions` is open. */
export const isOpen = Prisma.sql`ended_at IS NULL AND expires_at > now() AND
  (browser_hash IS NULL OR coalesce(last_used_at, created_at) > now() - make_interval(hours => ${IDLE_HOURS}::int))`;

/** Finds the principals of sessions that have not ended and whose users can still sign in. */
export interface People {
  /** The current principals, by the ids of the sessions. */
  findPeople(client: Reader, sessionIds: readonly string[]): Promise<ReadonlyMap<string, Person>>;
  /** The current principal of a session; undefined if it has none. */
  findPerson(client: Reader, sessionId: string): Promise<Person | undefined>;
}

interface PeopleOptions {
  readonly settings: Settings;
  readonly temporaryAdmin: TemporaryAdmin | undefined;
}

export function createPeople({ settings, temporaryAdmin }: PeopleOptions): People {
  const findPeople = async (reader: Reader, sessionIds: readonly string[]): Promise<ReadonlyMap<string, Person>> => {
    const open = await reader.$queryRaw<{ id: string }[]>`
      SELECT id FROM sessions WHERE id = ANY (${sessionIds}::uuid[]) AND ${isOpen}`;
    if (open.length === 0) return new Map();
    const where = { id: { in: open.map(({ id }) => id) } };
    const rows = await reader.session.findMany({ where, include: { user: true } });
    const oidc = rows.some(({ user }) => user) ? await settings.oidc(reader) : undefined;
    const people = new Map<string, Person>();
    for (const { id: sessionId, user, fingerprint } of rows) {
      if (user && oidc) {
        const isOfOtherProvider = user.source === 'oidc' && user.iss !== oidc.issuer;
        if (!user.removed_at && !user.blocked_at && !isOfOtherProvider)
          people.set(sessionId, userOf(user, oidc, sessionId));
      } else if (temporaryAdmin && fingerprint === temporaryAdmin.fingerprint) {
        people.set(sessionId, { kind: 'temporary-admin', name: temporaryAdmin.username, role: 'admin', sessionId });
      }
    }
    return people;
  };
  return {
    findPeople,
    findPerson: async (reader, sessionId) => (await findPeople(reader, [sessionId])).get(sessionId),
  };
}

/** @throws 403 for a user whose claims map to no role */
export function refuseWithoutRole({ role }: Person): void {
  if (role !== undefined) return;
  throw new Problem('insufficient_scope', NO_ROLE);
}
