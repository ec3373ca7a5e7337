import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, Problem, Redirect, unavailable } from '@svc/http';
import { serialize as serializeCookie } from 'cookie';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { refuseUnrecordable } from '../../audit/gate.ts';
import { keepOidcUser } from '../../auth/oidc-users.ts';
import { hashCredential, newCredential } from '../../auth/session-tokens.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { GrantRefused, type Provider, ProviderUnavailable, type SignedIn } from '../../oidc/provider.ts';
import { recorded } from '../change.ts';
import { type RequestContext, route } from '../context.ts';
import { openSession, signIn } from './sign-in.ts';

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

const CODE_SECONDS = 60;
const CALLBACK = fleetEndpoints.endOidcLogin.path;

export const startOidcLogin = route(fleetEndpoints.startOidcLogin, async (context, { query }) => {
  refuseForeignPath(query.return_to);
  const provider = await providerOf(context);
  const backTo = new URL(`${publicUrlOf(context)}${CALLBACK}`);
  const beginning = newBeginning();
  const address = await reach(() => provider.authorizationUrl({ redirectUri: backTo.href, ...beginning }));
  return recorded(context, fleetEndpoints.startOidcLogin, async (transaction) => {
    const journey = { issuer: provider.issuer, backTo, returnTo: query.return_to };
    const cookie = await keepBeginning(context, transaction, { ...beginning, ...journey });
    return new Redirect(address.href, { 'Set-Cookie': cookie });
  });
});

export const endOidcLogin = route(fleetEndpoints.endOidcLogin, async (context, { query }) => {
  const provider = await providerOf(context);
  await refuseUnrecordable(context.database); // before the sign-in is used up
  const begun = await endTransaction(context, query.state);
  if (!begun || begun.issuer !== provider.issuer) throw over();
  const currentUrl = new URL(`${publicUrlOf(context)}${CALLBACK}`);
  for (const [name, value] of Object.entries(query)) currentUrl.searchParams.set(name, String(value));
  const { state, nonce, codeVerifier } = begun;
  const signedIn = await reach(() => provider.redeemCallback({ currentUrl, state, nonce, codeVerifier }));
  return recorded(context, fleetEndpoints.endOidcLogin, async (transaction) => {
    const { sessionId } = await openSession(context, transaction, await ownerOf(transaction, signedIn));
    const code = newCredential();
    await transaction.$executeRaw`
      INSERT INTO sign_in_codes (code_hash, session_id, expires_at)
      VALUES (${hashCredential(code)}, ${sessionId}::uuid, now() + make_interval(secs => ${CODE_SECONDS}))`;
    const target = new URL(begun.returnTo, new URL(publicUrlOf(context)).origin);
    target.searchParams.set('code', code);
    return new Redirect(target.href, { 'Set-Cookie': forgetBrowser(begun.cookieName, currentUrl) });
  });
});

export const exchangeOidcCode = route(fleetEndpoints.exchangeOidcCode, async (context, { body }) => {
  const provider = await providerOf(context);
  const { code, code_verifier: codeVerifier, redirect_uri: redirectUri, nonce, iss } = body;
  refuseForeignRedirect(context, redirectUri);
  await refuseUnrecordable(context.database); // before the provider's code is used up
  const more = { ...(nonce === undefined ? {} : { nonce }), ...(iss === undefined ? {} : { iss }) };
  const signedIn = await reach(() => provider.redeemCode({ code, codeVerifier, redirectUri, ...more }));
  return recorded(context, fleetEndpoints.exchangeOidcCode, async (transaction) =>
    signIn(context, transaction, await ownerOf(transaction, signedIn)),
  );
});

async function ownerOf(transaction: Prisma.TransactionClient, { claims, refreshToken }: SignedIn) {
  const { id } = await keepOidcUser(transaction, uuidv7(), claims);
  return { kind: 'oidc', userId: id, providerToken: refreshToken } as const;
}

async function providerOf({ settings, providers }: RequestContext): Promise<Provider & { readonly issuer: string }> {
  const oidc = await settings.oidc();
  const provider = providers.of(oidc);
  if (provider && oidc.issuer !== null) return { ...provider, issuer: oidc.issuer };
  throw new Problem('oidc_not_configured', 'No identity provider is configured: an issuer and a client_id are needed.');
}

function publicUrlOf({ publicUrl }: RequestContext): string {
  if (publicUrl !== undefined) return publicUrl;
  throw new Problem('oidc_not_configured', 'The fleet does not know its own address: set PUBLIC_URL.');
}

/** A frontend's address comes from the configuration: a code is never redeemed for a stranger's. */
function refuseForeignRedirect({ publicUrl, corsOrigins }: RequestContext, redirectUri: string): void {
  const known = [...(publicUrl === undefined ? [] : [new URL(publicUrl).origin]), ...corsOrigins];
  if (URL.canParse(redirectUri) && known.includes(new URL(redirectUri).origin)) return;
  throw invalid([{ path: 'redirect_uri', message: 'must be of PUBLIC_URL or of one of CORS_ORIGINS' }]);
}

const over = () =>
  new Problem('invalid_grant', 'This sign-in is over, or was begun in another browser: start it again.');

/** What the provider refuses is refused; while it does not answer nobody can come in by it. */
async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof GrantRefused) {
      throw new Problem('invalid_grant', 'The identity provider did not confirm this sign-in: start it again.', {
        cause,
      });
    }
    if (cause instanceof ProviderUnavailable)
      throw unavailable('The identity provider can’t be asked now: start the sign-in again in a moment.', cause);
    throw cause;
  }
}
