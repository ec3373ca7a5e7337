import { createHash } from 'node:crypto';
import { Problem } from '@svc/http';
import type { Database } from '../database/client.ts';

/** A sign-in that is tried: which account, from where. */
export interface Attempt {
  readonly account: string;
  readonly address: string;
}

const FREE_FAILURES = 5;
const MAX_WAIT_SECONDS = 60;
const FORGET_AFTER = '15 minutes';

/**
 * Counts an attempt as a failure before it is judged, so that many at the same moment are no way around the limit; a
 * success forgets it. After five failures each further one doubles the wait, up to a minute: guessing gets slow, nobody
 * is locked out for good. Shared by all replicas. @throws 429 while the account is blocked for the address
 */
export async function countAttempt({ client }: Database, attempt: Attempt): Promise<void> {
  const counted = await client.$executeRaw`
      INSERT INTO sign_in_failures AS f (subject, failures, last_at) VALUES (${subjectOf(attempt)}, 1, now())
      ON CONFLICT (subject) DO UPDATE SET
        failures = CASE WHEN f.last_at < now() - ${FORGET_AFTER}::interval THEN 1 ELSE f.failures + 1 END,
        last_at = now(),
        blocked_until = CASE
          WHEN f.failures + 1 > ${FREE_FAILURES} AND f.last_at >= now() - ${FORGET_AFTER}::interval
          THEN now() + make_interval(secs => least(${MAX_WAIT_SECONDS}, power(2, least(f.failures + 1 - ${FREE_FAILURES}, 10))))
        END
      WHERE f.blocked_until IS NULL OR f.blocked_until <= now()`;
  if (counted === 0) throw await blocked(client, attempt);
}

async function blocked(client: Database['client'], attempt: Attempt): Promise<Problem> {
  const [row] = await client.$queryRaw<{ seconds: number }[]>`
      SELECT ceil(extract(epoch FROM blocked_until - now()))::int AS seconds
      FROM sign_in_failures WHERE subject = ${subjectOf(attempt)} AND blocked_until > now()`;
  const seconds = row?.seconds ?? 1; // it may have ended in between
  return new Problem('rate_limited', `Too many failed sign-ins: try again in ${seconds} s.`, {
    headers: { 'Retry-After': `${seconds}` },
  });
}

/** Forgets the failures of an attempt that succeeded. */
export async function forgetFailures({ client }: Database, attempt: Attempt): Promise<void> {
  await client.$executeRaw`DELETE FROM sign_in_failures WHERE subject = ${subjectOf(attempt)}`;
}

/** However an account is written, it is one. Hashed: what was typed as an account may be a password. */
const subjectOf = ({ account, address }: Attempt) =>
  createHash('sha256')
    .update(JSON.stringify([account.trim().toLowerCase().normalize('NFKC'), address]))
    .digest('hex');
