import { invalid } from '@svc/http';
import { serialize as serializeCookie } from 'cookie';
import { z } from 'zod';
import type { RequestContext } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { hashCredential, newCredential } from './credentials.ts';

const MINUTES = 10;

const kept = z.object({ state: z.string(), nonce: z.string(), codeVerifier: z.string(), issuer: z.string() });

/** A sign-in that a browser went away with. */
export type Begun = z.output<typeof kept> & { readonly returnTo: string; readonly cookieName: string };

/** What a browser that goes to the provider must bring back. */
export interface Beginning {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Ties the sign-in to this browser: a cookie of its own for each, so that two tabs don't disturb one another. */
  readonly browser: string;
}

export const newBeginning = (): Beginning => ({
  state: newCredential(),
  nonce: newCredential(),
  codeVerifier: newCredential(),
  browser: newCredential(),
});

interface Journey {
  /** Where the browser goes. */
  readonly issuer: string;
  /** Where the provider sends it back to: there alone the cookie goes. */
  readonly backTo: URL;
  /** Where it ends. */
  readonly returnTo: string;
}

/** Keeps a sign-in for ten minutes and for any replica. @returns the cookie for the browser */
export async function keepBeginning(
  { settings }: RequestContext,
  transaction: Prisma.TransactionClient,
  { returnTo, issuer, backTo, ...beginning }: Beginning & Journey,
): Promise<string> {
  const { state, nonce, codeVerifier, browser } = beginning;
  const state_hash = hashCredential(state);
  const { sealer } = settings;
  const sealed = await sealer.seal(placeOf(state_hash), JSON.stringify({ state, nonce, codeVerifier, issuer }));
  await transaction.$executeRaw`
    INSERT INTO sign_in_transactions (state_hash, browser_hash, sealed, sealed_with, return_to, expires_at)
    VALUES (${state_hash}, ${hashCredential(browser)}, ${sealed}, ${sealer.kid}, ${returnTo},
      now() + make_interval(mins => ${MINUTES}))`;
  return cookieOf(cookieNameOf(state_hash), browser, { seconds: MINUTES * 60, backTo });
}

/** What a sign-in was begun with, once; undefined when it is over, unknown, or another browser's. */
export async function endTransaction(
  { database, settings, cookie }: RequestContext,
  state: string | undefined,
): Promise<Begun | undefined> {
  const state_hash = hashCredential(state ?? '');
  const cookieName = cookieNameOf(state_hash);
  const [row] = await database.client.$queryRaw<{ sealed: string; return_to: string }[]>`
      DELETE FROM sign_in_transactions
      WHERE state_hash = ${state_hash} AND expires_at > now()
        AND browser_hash = ${hashCredential(cookie(cookieName) ?? '')}
      RETURNING sealed, return_to`;
  if (!row) return undefined;
  const opened = kept.parse(JSON.parse(await settings.sealer.open(placeOf(state_hash), row.sealed)));
  return { ...opened, returnTo: row.return_to, cookieName };
}

/** The cookie has done its work. */
export const forgetBrowser = (name: string, backTo: URL): string => cookieOf(name, '', { seconds: 0, backTo });

const placeOf = (row: string) => ({ table: 'sign_in_transactions', column: 'sealed', row });

const cookieNameOf = (stateHash: string) => `fleet-sign-in-${stateHash.slice(0, 12)}`;

const cookieOf = (
  name: string,
  value: string,
  { seconds, backTo }: { readonly seconds: number; readonly backTo: URL },
) =>
  serializeCookie(name, value, {
    path: backTo.pathname,
    maxAge: seconds,
    httpOnly: true,
    sameSite: 'lax',
    secure: backTo.protocol === 'https:',
  });

/** Only a path of this very address: browsers read two slashes, and a backslash, as another host. @throws 400 */
export function refuseForeignPath(returnTo: string): void {
  const base = 'https://fleet.invalid';
  const isOwn =
    /^\/(?![/\\])[^\\]*$/.test(returnTo) && URL.canParse(returnTo, base) && new URL(returnTo, base).origin === base;
  if (!isOwn) throw invalid([{ path: 'return_to', message: 'must be a path of this address, such as /' }]);
}
