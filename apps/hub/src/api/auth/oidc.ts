import { hash } from 'node:crypto';
import {
  challengeOf,
  createSignInCookie,
  hashCredential,
  newCredential,
  refuseForeignPath,
  refuseTooManyUnfinished,
  requireChallenge,
  SIGN_IN_CODE,
  SIGN_IN_MINUTES,
  SignInNotBegunHere,
  type UnfinishedSignIns,
  userClaims,
} from '@svc/auth';
import { SignInExpired, shownInConsole, translateProviderErrors } from '@svc/auth/oidc';
import type { Input } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { clientNetworks, Problem, type Redirect, redirectTo, withCookies } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import { isOpen, verifyReference } from '../../identity/sessions.ts';
import { userOf } from '../../identity/users.ts';
import { type RequestContext, route } from '../request/context.ts';
import { openSession, SESSION_HOURS } from './opening.ts';
import { presentBrowserSession } from './session.ts';

const CALLBACK = hubEndpoints.endOidcLogin.path;

const signInCookie = createSignInCookie('hub');

/**
 * The secrets of a sign-in, derived from the value of its cookie, so that the database contains
 * none of them: the nonce, and the code verifier of PKCE.
 */
const secretsOf = (browser: string) => {
  const derive = (purpose: string) => hash('sha256', `${purpose} ${browser}`, 'base64url');
  return { nonce: derive('nonce'), codeVerifier: derive('code verifier') };
};

export const startOidcLogin = route(hubEndpoints.startOidcLogin, async (context, { query }) => {
  refuseForeignPath(query.return_to);
  return shownInConsole(() => start(context, query), query.return_to);
});

type StartQuery = Input<typeof hubEndpoints.startOidcLogin>['query'];

async function start(context: RequestContext, { return_to: returnTo, ...query }: StartQuery): Promise<Redirect> {
  const { provider, callbackUrl } = signInOf(context);
  const challenge = requireChallenge(query.challenge);
  const { client } = context.database;
  const { network } = clientNetworks(context.address);
  await requireFewUnfinished(client, network);
  const state = newCredential();
  const browser = newCredential();
  const state_hash = hashCredential(state);
  const address = await translateProviderErrors(() =>
    provider.authorizationUrl({ redirectUri: callbackUrl.href, state, ...secretsOf(browser) }),
  );
  await client.$transaction(async (transaction) => {
    await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('unfinished sign-ins'))`;
    await requireFewUnfinished(transaction, network);
    await transaction.$executeRaw`
      INSERT INTO sign_in_transactions (state_hash, browser_hash, network, challenge, return_to, expires_at)
      VALUES (${state_hash}, ${hashCredential(browser)}, ${network}, ${challenge}, ${returnTo},
        now() + make_interval(mins => ${SIGN_IN_MINUTES}::int))`;
  });
  return redirectTo(address.href, [
    signInCookie.set(signInCookie.nameOf(state_hash, callbackUrl), browser, callbackUrl),
  ]);
}

/**
 * Requires that the network can begin a further sign-in. Only a transaction with the lock of this
 * count may store one. @throws 429
 */
async function requireFewUnfinished(client: Pick<Prisma.TransactionClient, '$queryRaw'>, network: string) {
  const [unfinished] = await client.$queryRaw<UnfinishedSignIns[]>`
    SELECT count(*)::int AS total, (count(*) FILTER (WHERE network = ${network}))::int AS "ofNetwork"
    FROM sign_in_transactions WHERE expires_at > now()`;
  if (unfinished) refuseTooManyUnfinished(unfinished);
}

export const endOidcLogin = route(hubEndpoints.endOidcLogin, (context, { query }) =>
  shownInConsole(async () => {
    const { callbackUrl } = signInOf(context);
    const { state = '' } = query;
    const cookieName = signInCookie.nameOf(hashCredential(state), callbackUrl);
    const browser = context.cookie(cookieName) ?? '';
    const { returnTo, challenge } = await consumeTransaction(context, { state, browser });
    const currentUrl = new URL(callbackUrl);
    for (const [name, value] of Object.entries(query)) currentUrl.searchParams.set(name, String(value));
    const callback = { currentUrl, state, browser, challenge };
    const code = await shownInConsole(() => redeem(context, callback), returnTo);
    const target = new URL(returnTo, callbackUrl.origin);
    target.hash = `${SIGN_IN_CODE}=${code}`;
    return redirectTo(target.href, [signInCookie.clear(cookieName, callbackUrl)]);
  }),
);

interface Callback {
  readonly currentUrl: URL;
  readonly state: string;
  readonly browser: string;
  readonly challenge: string;
}

/**
 * Redeems the code of the provider, and opens a session of the person whom the provider confirmed.
 * @returns the code for which the page gets it
 */
async function redeem(context: RequestContext, { currentUrl, state, browser, challenge }: Callback): Promise<string> {
  const { provider } = signInOf(context);
  const { claims } = await translateProviderErrors(() =>
    provider.redeemCallback({ currentUrl, state, ...secretsOf(browser) }),
  );
  const user = await userOf(context.database, context.provider, userClaims.parse(claims));
  return openSession(context, { user, challenge, hasToken: false, status: hubEndpoints.endOidcLogin.status });
}

/**
 * Deletes a started sign-in. @throws 401 if it expired, or is of another browser */
async function consumeTransaction(
  { database }: RequestContext,
  { state, browser }: { readonly state: string; readonly browser: string },
): Promise<{ readonly returnTo: string; readonly challenge: string }> {
  const [row] = await database.client.$queryRaw<{ return_to: string; challenge: string | null }[]>`
    DELETE FROM sign_in_transactions
    WHERE state_hash = ${hashCredential(state)} AND browser_hash = ${hashCredential(browser)} AND expires_at > now()
    RETURNING return_to, challenge`;
  if (!row?.challenge) throw new SignInExpired(); // 0.2.0 stores no challenge
  return { returnTo: row.return_to, challenge: row.challenge };
}

/** The page that began the sign-in completes it. A reference that was planted before is worthless. */
export const finishOidcLogin = route(hubEndpoints.finishOidcLogin, async (context, { body }) => {
  context.requireConsole();
  const { database, provider, browserSessions, keyHash } = context;
  const reference = newCredential();
  const completed = await database.client.$executeRaw`
    UPDATE sessions SET browser_hash = ${hashCredential(reference)}, challenge = NULL, key_hash = ${keyHash ?? ''},
      expires_at = now() + make_interval(hours => ${SESSION_HOURS}::int)
    WHERE browser_hash = ${hashCredential(body.code)} AND challenge = ${challengeOf(body.verifier)} AND NOT has_token
      AND ${isOpen}`;
  const principal = completed > 0 ? await verifyReference(database, provider, { reference, keyHash }) : undefined;
  if (!principal) throw new SignInNotBegunHere();
  return withCookies(await presentBrowserSession(database, principal), [browserSessions.cookieOf(reference)]);
});

/** @throws 409 if the console cannot sign in */
function signInOf({ provider: { signIn }, publicUrl, browserSessions }: RequestContext) {
  browserSessions.requireAvailable();
  if (signIn !== undefined && publicUrl !== undefined) {
    return { provider: signIn, callbackUrl: new URL(`${publicUrl}${CALLBACK}`) };
  }
  throw new Problem(
    'oidc_not_configured',
    'The hub is no client of the identity provider. Set OIDC_CLIENT_ID, and OIDC_CLIENT_SECRET for a confidential client.',
  );
}
