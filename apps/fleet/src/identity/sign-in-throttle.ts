import { createHash } from 'node:crypto';
import { clientNetworks, Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type CallerClass, createPasswordQueue } from './passwords/queue.ts';

/** An attempt to sign in: the account and the address of the caller. */
export interface Attempt {
  readonly account: string;
  readonly address: string;
}

/**
 * The failures that are allowed before waits begin. Limits other than `pair` apply only to unknown
 * callers. A `network` is an IPv4 address or an IPv6 /64, and a `wider` network an IPv6 /48.
 */
const ALLOWED = { pair: 5, account: 30, network: 50, wider: 200, overall: 10_000 };

/**
 * From this number of failures of unknown callers on, each of their networks has a tenth of its
 * allowance.
 */
const PRESSURE = 1000;
const REDUCTION = 10;

/**
 * A limit forgives its allowed number of failures in this time, and all failures after this time
 * without one. The overall limit forgives `PRESSURE` failures.
 */
const WINDOW_SECONDS = 15 * 60;

/** Each failure above the allowed number doubles the wait, from two seconds up to this maximum. */
const MAX_WAIT_SECONDS = 60;
const STEPS_TO_MAX_WAIT = 6;

/** The days for which a network is known after a sign-in, and the known networks of an account. */
const KNOWN_DAYS = 30;
const MAX_KNOWN_NETWORKS = 20;

/**
 * Attempts of a process that use the database at the same time. They leave connections to other
 * requests and do not wait for one so long that the pool rejects them. Whether a caller is known is
 * not known yet, so all wait in one queue.
 */
const admissions = createPasswordQueue({ concurrent: 4, waiting: { known: 0, unknown: 1000 } });

interface Limit {
  readonly subject: string;
  readonly allowed: number;
  /** The allowed number under pressure, if it differs. */
  readonly reduced?: number;
  /** The failures that are forgiven in each window, if this is not the allowed number. */
  readonly forgiven?: number;
}

/** An attempt that may be evaluated. It counts as a failure until it is settled. */
interface AdmittedAttempt {
  readonly caller: CallerClass;
  /**
   * The response to a wrong password if a limit blocks unknown callers. The same response for known
   * and unknown callers does not show which accounts were used in the network of the caller.
   */
  readonly refusal: Problem | undefined;
  /** No longer counts the attempt, because the password was not compared. */
  withdraw(): Promise<void>;
  /** No longer counts the attempt and the failures before it, because the password is correct. */
  succeed(): Promise<void>;
}

/**
 * Counts an attempt as a failure before the password is compared, so that concurrent attempts
 * cannot evade the limits. All replicas share the counts. A caller is known if someone signed in to
 * the account from the same network recently. Known callers are limited only by their own failures,
 * so failures of others do not slow them down.
 * @throws 429 while a limit blocks the caller, 503 if too many attempts are waiting
 */
export const admitAttempt = (database: Database, attempt: Attempt): Promise<AdmittedAttempt> =>
  admissions('unknown', () => admit(database, attempt));

async function admit({ client }: Database, attempt: Attempt): Promise<AdmittedAttempt> {
  const { pair, shared, overall } = limitsOf(attempt);
  const [state] = await client.$queryRaw<
    { known: boolean; own_wait: number; shared_wait: number; is_under_pressure: boolean }[]
  >`
    SELECT
      EXISTS (SELECT FROM sign_in_networks WHERE subject = ${pair.subject}
        AND last_at > now() - make_interval(days => ${KNOWN_DAYS}::int)) AS known,
      ${waitOf([pair])} AS own_wait,
      ${waitOf([...shared, overall])} AS shared_wait,
      EXISTS (SELECT FROM sign_in_failures AS f WHERE subject = ${overall.subject}
        AND ${failuresOf(overall)} >= ${PRESSURE}::int) AS is_under_pressure`;
  if (!state) throw new Error('a SELECT without FROM returns one row');
  const { known, own_wait, shared_wait, is_under_pressure } = state;
  if (own_wait > 0 || (shared_wait > 0 && !known)) throw tooManyFailures(Math.max(own_wait, shared_wait));
  const limits = known ? [pair] : [pair, ...shared, overall];
  await client.$transaction(async (transaction) => {
    for (const limit of limits) {
      const isCounted = await countFailure(transaction, limit, is_under_pressure);
      // Blocked by a concurrent attempt; rolls back the other counts.
      if (!isCounted) throw tooManyFailures(1);
    }
  });
  return {
    caller: known ? 'known' : 'unknown',
    refusal: shared_wait > 0 ? tooManyFailures(shared_wait) : undefined,
    withdraw: () => client.$transaction((transaction) => uncount(transaction, limits)),
    succeed: () =>
      client.$transaction(async (transaction) => {
        await transaction.$executeRaw`DELETE FROM sign_in_failures WHERE subject = ${pair.subject}`;
        await uncount(transaction, limits.slice(1));
      }),
  };
}

/** Makes the caller known after a sign-in. The networks that were used last remain known. */
export async function rememberNetwork(transaction: Prisma.TransactionClient, attempt: Attempt): Promise<void> {
  const { pair, account } = limitsOf(attempt);
  await transaction.$executeRaw`
    INSERT INTO sign_in_networks (subject, account, last_at) VALUES (${pair.subject}, ${account.subject}, now())
    ON CONFLICT (subject) DO UPDATE SET last_at = excluded.last_at`;
  await transaction.$executeRaw`
    DELETE FROM sign_in_networks WHERE subject = ANY (ARRAY(
      SELECT subject FROM sign_in_networks WHERE account = ${account.subject}
      ORDER BY last_at DESC OFFSET ${MAX_KNOWN_NETWORKS} FOR UPDATE SKIP LOCKED))`;
}

/** The limits of an attempt, in the order in which transactions lock their rows. */
function limitsOf({ account: given, address }: Attempt) {
  const name = given.trim().toLowerCase().normalize('NFKC');
  const { network, wider } = clientNetworks(address);
  const account: Limit = { subject: `account:${hashOf(name)}`, allowed: ALLOWED.account };
  return {
    // Without a prefix, as in earlier versions, which can count in the same rows.
    pair: { subject: hashOf(JSON.stringify([name, network])), allowed: ALLOWED.pair } satisfies Limit,
    account,
    shared: [
      account,
      networkLimit(network, ALLOWED.network),
      ...(wider === undefined ? [] : [networkLimit(wider, ALLOWED.wider)]),
    ],
    overall: { subject: 'overall', allowed: ALLOWED.overall, forgiven: PRESSURE } satisfies Limit,
  };
}

const networkLimit = (network: string, allowed: number): Limit => ({
  subject: `network:${hashOf(network)}`,
  allowed,
  reduced: allowed / REDUCTION,
});

/** Subjects are hashed, because a user may enter a password as the account. */
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/**
 * The failures of the row `f` that were forgiven since `forgiven_at`.
 *
 * Delete after 0.2: `coalesce` here and in `countFailure`, with a migration that makes the column
 * NOT NULL. Version 0.1.0 does not set it.
 */
const forgivenOf = ({ allowed, forgiven = allowed }: Limit) => Prisma.sql`
  floor(greatest(0, extract(epoch FROM now() - coalesce(f.forgiven_at, f.last_at))) * ${forgiven}::int / ${WINDOW_SECONDS}::int)`;

/** The failures of the row `f` that are not forgiven. */
const failuresOf = (limit: Limit) => Prisma.sql`
  (CASE WHEN f.last_at > now() - make_interval(secs => ${WINDOW_SECONDS}::int)
    THEN greatest(0, f.failures - ${forgivenOf(limit)}) ELSE 0 END)`;

/** The longest wait in seconds. */
const waitOf = (limits: readonly Limit[]) => Prisma.sql`
  (SELECT coalesce(ceil(extract(epoch FROM max(blocked_until) - now())), 0)::int FROM sign_in_failures
    WHERE subject = ANY (${limits.map(({ subject }) => subject)}::text[]) AND blocked_until > now())`;

/**
 * Counts a failure. `forgiven_at` advances by whole failures. @returns false while the limit blocks
 * attempts
 */
async function countFailure(
  transaction: Prisma.TransactionClient,
  limit: Limit,
  isUnderPressure: boolean,
): Promise<boolean> {
  const { subject, allowed, reduced = allowed, forgiven = allowed } = limit;
  const excess = Prisma.sql`(${failuresOf(limit)} + 1 - ${isUnderPressure ? reduced : allowed}::int)`;
  const counted = await transaction.$executeRaw`
    INSERT INTO sign_in_failures AS f (subject, failures, last_at) VALUES (${subject}, 1, now())
    ON CONFLICT (subject) DO UPDATE SET
      failures = least(${failuresOf(limit)} + 1, ${allowed + STEPS_TO_MAX_WAIT}::int),
      last_at = now(),
      forgiven_at = CASE WHEN ${failuresOf(limit)} = 0 THEN now()
        ELSE coalesce(f.forgiven_at, f.last_at)
          + make_interval(secs => (${forgivenOf(limit)} * ${WINDOW_SECONDS}::int / ${forgiven}::int)::float8) END,
      blocked_until = CASE WHEN ${excess} > 0
        THEN now() + make_interval(secs => least(${MAX_WAIT_SECONDS}::int, power(2, least(${excess}, ${STEPS_TO_MAX_WAIT}::int)))::float8) END
    WHERE f.blocked_until IS NULL OR f.blocked_until <= now()`;
  return counted > 0;
}

/**
 * Counts one failure less, and deletes empty rows, so that attempts that are not evaluated leave
 * none.
 */
async function uncount(transaction: Prisma.TransactionClient, limits: readonly Limit[]): Promise<void> {
  for (const { subject } of limits) {
    await transaction.$executeRaw`
      UPDATE sign_in_failures SET failures = failures - 1, blocked_until = NULL WHERE subject = ${subject}`;
  }
  const subjects = limits.map(({ subject }) => subject);
  await transaction.$executeRaw`DELETE FROM sign_in_failures WHERE subject = ANY (${subjects}::text[]) AND failures <= 0`;
}

function tooManyFailures(seconds: number): Problem {
  return new Problem('rate_limited', `Too many failed sign-ins. Try again in ${seconds} s.`, {
    headers: { 'Retry-After': `${seconds}` },
  });
}
