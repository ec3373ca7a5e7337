import { inRounds, type Log, type Rounds } from '@svc/http';
import type { Database } from '../database/client.ts';
import { type Claims, GrantRefused, type Provider } from '../oidc/provider.ts';
import type { Sealer } from '../sealing.ts';
import type { Providers } from '../settings/connections.ts';
import type { Settings } from '../settings/settings.ts';
import { keepOidcUser } from './oidc-users.ts';
import { PROVIDER_MINUTES, placeOfProviderToken } from './sessions.ts';

const ROUND_MS = 30_000;
const RETRY_MINUTES = 2;
const LIFE_HOURS = 24;

interface Due {
  readonly id: string;
  readonly provider_token: string;
  readonly user_id: string;
  readonly claims: Claims;
}

export interface ProviderChecks {
  /** Checks every session whose time has come, until it is to end. @returns how many */
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
 * Asks the identity provider again after everybody who signed in by it: its refresh token is tried every 15 minutes. A
 * refusal ends the session, no answer lets it live up to a day. Replicas share the work.
 */
export function createProviderChecks(options: ProviderChecksOptions): ProviderChecks {
  const { database, settings, providers } = options;
  return {
    runDue: async (ending) => {
      let checked = 0;
      for (let due = await takeDue(database); due; due = ending?.aborted ? undefined : await takeDue(database)) {
        const oidc = await settings.oidc();
        const provider = due.claims.iss === oidc.issuer ? providers.of(oidc) : undefined;
        if (provider) await check(options, provider, due);
        else await end(database, due.id); // its token is another provider's, and goes to no other
        checked += 1;
      }
      return checked;
    },
  };
}

/** Checks what is due, again and again, until stopped. */
export function keepChecking(options: ProviderChecksOptions): Rounds {
  const { runDue } = createProviderChecks(options);
  return inRounds(ROUND_MS, async (ending) => {
    await runDue(ending).catch((error: unknown) =>
      options.log.warn({ err: error }, 'sessions could not be checked with the identity provider'),
    );
    return ROUND_MS;
  });
}

/** One session whose time has come, until it is tried again by somebody else should this process die. */
async function takeDue({ client }: Database): Promise<Due | undefined> {
  const [due] = await client.$queryRaw<Due[]>`
    UPDATE sessions s SET provider_at = now() + make_interval(mins => ${RETRY_MINUTES})
    FROM users u
    WHERE u.id = s.user_id AND s.id = (
      SELECT id FROM sessions
      WHERE provider_at <= now() AND provider_token IS NOT NULL AND ended_at IS NULL AND expires_at > now()
      ORDER BY provider_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING s.id, s.provider_token, s.user_id, u.claims`;
  return due;
}

async function check({ database, sealer, log }: ProviderChecksOptions, provider: Provider, due: Due): Promise<void> {
  const place = placeOfProviderToken(due.id);
  try {
    const token = await sealer.open(place, due.provider_token);
    const { claims, refreshToken = token } = await provider.refresh(token, due.claims);
    const sealed = await sealer.seal(place, refreshToken);
    await database.client.$transaction(async (transaction) => {
      const kept = await transaction.$executeRaw`
        UPDATE sessions SET provider_token = ${sealed}, sealed_with = ${sealer.kid},
          provider_at = now() + make_interval(mins => ${PROVIDER_MINUTES}),
          expires_at = now() + make_interval(hours => ${LIFE_HOURS})
        WHERE id = ${due.id}::uuid AND ended_at IS NULL`;
      if (kept === 1) await keepOidcUser(transaction, due.user_id, claims); // somebody who was removed meanwhile stays so
    });
  } catch (error) {
    if (error instanceof GrantRefused) return end(database, due.id);
    log.warn({ err: error, session: due.id }, 'the identity provider could not be asked; tried again');
  }
}

async function end({ client }: Database, id: string): Promise<void> {
  await client.$executeRaw`UPDATE sessions SET ended_at = now(), provider_token = NULL, sealed_with = NULL WHERE id = ${id}::uuid`;
}
