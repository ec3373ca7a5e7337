import { type Claims, GrantRefused, type Provider } from '@svc/auth/oidc';
import type { Sealer } from '@svc/database';
import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import type { Database } from '../../database/client.ts';
import type { Providers } from '../../settings/connections.ts';
import type { Settings } from '../../settings/settings.ts';
import { upsertOidcUser } from '../oidc-users.ts';
import { PROVIDER_MINUTES, providerTokenLocation } from './opening.ts';

const ROUND_MS = 30_000;
const RETRY_MINUTES = 2;
const LIFE_HOURS = 24;

interface DueSession {
  readonly id: string;
  readonly provider_token: string;
  readonly user_id: string;
  readonly claims: Claims;
}

export interface ProviderChecks {
  /**
   * Checks all sessions that are due, until `ending` is aborted. @returns the number of checked
   * sessions
   */
  runDue(ending?: AbortSignal): Promise<number>;
}

export interface ProviderChecksOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly settings: Settings;
  readonly providers: Providers;
  readonly log: Log;
}

/**
 * Checks the sessions of users of an identity provider: each refresh token of the provider is used
 * every 15 minutes. A refusal ends the session. If the provider does not respond, the session
 * remains valid for up to a day. Replicas share the work.
 */
export function createProviderChecks(options: ProviderChecksOptions): ProviderChecks {
  const { database, settings, providers } = options;
  return {
    runDue: async (ending) => {
      let checked = 0;
      for (
        let due = await claimDueSession(database);
        due;
        due = ending?.aborted ? undefined : await claimDueSession(database)
      ) {
        const oidc = await settings.oidc();
        const provider = due.claims.iss === oidc.issuer ? providers.of(oidc) : undefined;
        // The token of another provider must not be sent to this one.
        if (provider) await checkSession(options, provider, due);
        else await endSession(database, due.id);
        checked += 1;
      }
      return checked;
    },
  };
}

/** Checks due sessions periodically, until stopped. */
export function startProviderChecks(options: ProviderChecksOptions): PeriodicTask {
  const { runDue } = createProviderChecks(options);
  return runPeriodically(ROUND_MS, async (ending) => {
    await runDue(ending).catch((error: unknown) =>
      options.log.warn({ err: error }, 'checking sessions with the identity provider failed; will retry'),
    );
    return ROUND_MS;
  });
}

/**
 * Claims a session that is due. If this process ends before it has checked the session, another
 * replica retries later.
 */
async function claimDueSession({ client }: Database): Promise<DueSession | undefined> {
  const [due] = await client.$queryRaw<DueSession[]>`
    UPDATE sessions s SET provider_at = now() + make_interval(mins => ${RETRY_MINUTES})
    FROM users u
    WHERE u.id = s.user_id AND s.id = (
      SELECT id FROM sessions
      WHERE provider_at <= now() AND provider_token IS NOT NULL AND ended_at IS NULL AND expires_at > now()
      ORDER BY provider_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING s.id, s.provider_token, s.user_id, u.claims`;
  return due;
}

async function checkSession(
  { database, sealer, log }: ProviderChecksOptions,
  provider: Provider,
  due: DueSession,
): Promise<void> {
  const location = providerTokenLocation(due.id);
  try {
    const token = await sealer.open(location, due.provider_token);
    const { claims, refreshToken = token } = await provider.refresh(token, due.claims);
    const sealed = await sealer.seal(location, refreshToken);
    await database.client.$transaction(async (transaction) => {
      const updated = await transaction.$executeRaw`
        UPDATE sessions SET provider_token = ${sealed}, key_id = ${sealer.kid},
          provider_at = now() + make_interval(mins => ${PROVIDER_MINUTES}),
          expires_at = now() + make_interval(hours => ${LIFE_HOURS})
        WHERE id = ${due.id}::uuid AND ended_at IS NULL`;
      // A user who was removed concurrently stays removed.
      if (updated === 1) await upsertOidcUser(transaction, due.user_id, claims);
    });
  } catch (error) {
    if (error instanceof GrantRefused) return endSession(database, due.id);
    log.warn({ err: error, session: due.id }, 'checking a session with the identity provider failed; will retry');
  }
}

async function endSession({ client }: Database, id: string): Promise<void> {
  await client.$executeRaw`UPDATE sessions SET ended_at = now(), provider_token = NULL, key_id = NULL WHERE id = ${id}::uuid`;
}
