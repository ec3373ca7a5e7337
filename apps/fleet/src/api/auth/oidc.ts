import {
  createSignInCookie,
  hashCredential,
  newCredential,
  refuseForeignPath,
  refuseTooManyUnfinished,
  requireChallenge,
  SIGN_IN_CODE,
  SIGN_IN_MINUTES,
  type UnfinishedSignIns,
} from '@svc/auth';
import { type Provider, type SignedIn, SignInExpired, shownInConsole, translateProviderErrors } from '@svc/auth/oidc';
import type { Input } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { clientNetworks, invalid, Problem, redirectTo, withCookies } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { requireWritableAuditLog } from '../../audit/gate.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { upsertOidcUser } from '../../identity/oidc-users.ts';
import {
  issueSignInCode,
  openSession,
  presentBrowserSession,
  redeemSignInCode,
  signIn,
} from '../../identity/sign-in.ts';
import { counted } from '../../identity/sign-in-metrics.ts';
import { runAudited } from '../request/change.ts';
import { type RequestContext, route } from '../request/context.ts';

const signInCookie = createSignInCookie('fleet');

/**
 * The start of the state of a sign-in of the console, so that it is recognized when the sign-in has
 * expired.
 */
const OF_CONSOLE = 'console.';

const sealedTransaction = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  issuer: z.string(),
  /** How the session is handed over to the browser. */
  session: z.enum(['code', 'cookie']).default('code'),
  /** The challenge of the page that began. */
  challenge: z.string().optional(),
});

/** A started sign-in that is not completed yet. */
export type SignInTransaction = z.output<typeof sealedTransaction> & {
  readonly returnTo: string;
  readonly cookieName: string;
};

/** The random values of an authorization request. */
export interface AuthorizationRequest {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /**
   * The value of the cookie that binds the sign-in to the browser. Each sign-in has its own cookie,
   * so that tabs do not conflict.
   */
  readonly browser: string;
}

const newAuthorizationRequest = (session: 'code' | 'cookie'): AuthorizationRequest => ({
  state: `${session === 'cookie' ? OF_CONSOLE : ''}${newCredential()}`,
  nonce: newCredential(),
  codeVerifier: newCredential(),
  browser: newCredential(),
});

interface SignInRoute {
  /** The provider at which the person signs in. */
  readonly issuer: string;
  /** The redirect URI. The cookie is limited to its path. */
  readonly callbackUrl: URL;
  /** The path to which the browser is redirected after the sign-in. */
  readonly returnTo: string;
  readonly session: 'code' | 'cookie';
  readonly challenge: string | undefined;
}

/**
 * Stores a sign-in for ten minutes, so that any replica can complete it. @returns the cookie for
 * the browser
 */
async function storeTransaction(
  { settings, address }: RequestContext,
  transaction: Prisma.TransactionClient,
  { returnTo, issuer, callbackUrl, session, challenge, ...authorization }: AuthorizationRequest & SignInRoute,
): Promise<string> {
  const { state, nonce, codeVerifier, browser } = authorization;
  const state_hash = hashCredential(state);
  const { sealer } = settings;
  const stored = JSON.stringify({ state, nonce, codeVerifier, issuer, session, challenge });
  const sealed = await sealer.seal(locationOf(state_hash), stored);
  const { network } = clientNetworks(address);
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('unfinished sign-ins'))`;
  await requireFewUnfinished(transaction, network);
  await transaction.$executeRaw`
    INSERT INTO sign_in_transactions (state_hash, browser_hash, network, sealed, key_id, return_to, expires_at)
    VALUES (${state_hash}, ${hashCredential(browser)}, ${network}, ${sealed}, ${sealer.kid}, ${returnTo},
      now() + make_interval(mins => ${SIGN_IN_MINUTES}))`;
  return signInCookie.set(signInCookie.nameOf(state_hash, callbackUrl), browser, callbackUrl);
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

/**
 * Deletes a stored sign-in and returns it. Resolves to undefined if it has expired, is unknown, or
 * belongs to another browser.
 */
async function consumeTransaction(
  context: RequestContext,
  state: string | undefined,
): Promise<SignInTransaction | undefined> {
  const { database, settings, cookie } = context;
  const state_hash = hashCredential(state ?? '');
  const cookieName = signInCookie.nameOf(state_hash, callbackUrlOf(context));
  const [row] = await database.client.$queryRaw<{ sealed: string; return_to: string }[]>`
      DELETE FROM sign_in_transactions
      WHERE state_hash = ${state_hash} AND expires_at > now()
        AND browser_hash = ${hashCredential(cookie(cookieName) ?? '')}
      RETURNING sealed, return_to`;
  if (!row) return undefined;
  const opened = sealedTransaction.parse(JSON.parse(await settings.sealer.open(locationOf(state_hash), row.sealed)));
  return { ...opened, returnTo: row.return_to, cookieName };
}

const locationOf = (row: string) => ({ table: 'sign_in_transactions', column: 'sealed', row });

const CALLBACK = fleetEndpoints.endOidcLogin.path;

export const startOidcLogin = route(fleetEndpoints.startOidcLogin, (context, { query }) => {
  const { return_to: returnTo, session } = query;
  refuseForeignPath(returnTo);
  return session === 'cookie' ? shownInConsole(() => start(context, query), returnTo) : start(context, query);
});

type StartQuery = Input<typeof fleetEndpoints.startOidcLogin>['query'];

async function start(context: RequestContext, { return_to: returnTo, session, challenge }: StartQuery) {
  if (session === 'cookie') {
    context.browserSessions.requireAvailable();
    requireChallenge(challenge);
  }
  const { network } = clientNetworks(context.address);
  await requireFewUnfinished(context.database.client, network);
  const provider = await providerOf(context);
  const callbackUrl = callbackUrlOf(context);
  const authorization = newAuthorizationRequest(session);
  const address = await translateProviderErrors(() =>
    provider.authorizationUrl({ redirectUri: callbackUrl.href, ...authorization }),
  );
  return runAudited(context, fleetEndpoints.startOidcLogin, async (transaction) => {
    const signInRoute = { issuer: provider.issuer, callbackUrl, returnTo, session, challenge };
    const cookie = await storeTransaction(context, transaction, { ...authorization, ...signInRoute });
    return redirectTo(address.href, [cookie]);
  });
}

type CallbackQuery = Input<typeof fleetEndpoints.endOidcLogin>['query'];

export const endOidcLogin = route(fleetEndpoints.endOidcLogin, (context, { query }) => {
  const attempt = () => counted('oidc', () => redeemCallback(context, query));
  return query.state?.startsWith(OF_CONSOLE) ? shownInConsole(attempt) : attempt();
});

async function redeemCallback(context: RequestContext, query: CallbackQuery) {
  const provider = await providerOf(context);
  await requireWritableAuditLog(context.database); // before the stored sign-in is consumed
  const signInTransaction = await consumeTransaction(context, query.state);
  if (!signInTransaction || signInTransaction.issuer !== provider.issuer) throw new SignInExpired();
  const { session, challenge } = signInTransaction;
  if (session === 'cookie' && challenge === undefined) throw new SignInExpired(); // 0.2.0 began it
  const currentUrl = callbackUrlOf(context);
  for (const [name, value] of Object.entries(query)) currentUrl.searchParams.set(name, String(value));
  const complete = () => completeSignIn(context, provider, { ...signInTransaction, currentUrl });
  return session === 'cookie' ? shownInConsole(complete, signInTransaction.returnTo) : complete();
}

async function completeSignIn(
  context: RequestContext,
  provider: Provider,
  { state, nonce, codeVerifier, currentUrl, ...signInTransaction }: SignInTransaction & { readonly currentUrl: URL },
) {
  const signedIn = await translateProviderErrors(() =>
    provider.redeemCallback({ currentUrl, state, nonce, codeVerifier }),
  );
  return runAudited(context, fleetEndpoints.endOidcLogin, async (transaction) => {
    const { sessionId } = await openSession(context, transaction, await ownerOf(transaction, signedIn));
    const target = new URL(signInTransaction.returnTo, new URL(publicUrlOf(context)).origin);
    const cleared = signInCookie.clear(signInTransaction.cookieName, currentUrl);
    const code = await issueSignInCode(transaction, sessionId, signInTransaction.challenge);
    if (signInTransaction.session === 'cookie') target.hash = `${SIGN_IN_CODE}=${code}`;
    else target.searchParams.set('code', code);
    return redirectTo(target.href, [cleared]);
  });
}

/** The page that began the sign-in completes it. A reference that was planted before is worthless. */
export const finishOidcLogin = route(fleetEndpoints.finishOidcLogin, async (context, { body }) => {
  context.requireConsole();
  const reference = newCredential();
  const reply = await runAudited(context, fleetEndpoints.finishOidcLogin, async (transaction) => {
    const person = await redeemSignInCode(context, transaction, body);
    await context.sessions.bindToBrowser(transaction, person.sessionId, { reference, keyHash: context.keyHash });
    return presentBrowserSession(context, person);
  });
  return withCookies(reply, [context.browserSessions.cookieOf(reference)]);
});

export const exchangeOidcCode = route(fleetEndpoints.exchangeOidcCode, (context, input) =>
  counted('oidc', () => redeemCode(context, input)),
);

async function redeemCode(context: RequestContext, { body }: Input<typeof fleetEndpoints.exchangeOidcCode>) {
  const provider = await providerOf(context);
  const { code, code_verifier: codeVerifier, redirect_uri: redirectUri, nonce, iss } = body;
  refuseForeignRedirect(context, redirectUri);
  await requireWritableAuditLog(context.database); // before the code of the provider is consumed
  const more = { ...(nonce === undefined ? {} : { nonce }), ...(iss === undefined ? {} : { iss }) };
  const signedIn = await translateProviderErrors(() =>
    provider.redeemCode({ code, codeVerifier, redirectUri, ...more }),
  );
  return runAudited(context, fleetEndpoints.exchangeOidcCode, async (transaction) =>
    signIn(context, transaction, await ownerOf(transaction, signedIn)),
  );
}

async function ownerOf(transaction: Prisma.TransactionClient, { claims, refreshToken }: SignedIn) {
  const { id } = await upsertOidcUser(transaction, uuidv7(), claims);
  return { kind: 'oidc', userId: id, providerToken: refreshToken } as const;
}

async function providerOf({ settings, providers }: RequestContext): Promise<Provider & { readonly issuer: string }> {
  const oidc = await settings.oidc();
  const provider = providers.of(oidc);
  if (provider && oidc.issuer !== null) return { ...provider, issuer: oidc.issuer };
  throw new Problem(
    'oidc_not_configured',
    'No identity provider is configured. An issuer and a client_id are required.',
  );
}

function publicUrlOf({ publicUrl }: RequestContext): string {
  if (publicUrl !== undefined) return publicUrl;
  throw new Problem('oidc_not_configured', 'The public URL of the fleet is not configured. Set PUBLIC_URL.');
}

const callbackUrlOf = (context: RequestContext) => new URL(`${publicUrlOf(context)}${CALLBACK}`);

/**
 * Accepts only redirect URIs of configured origins, so that codes of other sites cannot be
 * redeemed. @throws 400
 */
function refuseForeignRedirect({ publicUrl, corsOrigins }: RequestContext, redirectUri: string): void {
  const allowedOrigins = [...(publicUrl === undefined ? [] : [new URL(publicUrl).origin]), ...corsOrigins];
  if (URL.canParse(redirectUri) && allowedOrigins.includes(new URL(redirectUri).origin)) return;
  throw invalid([{ path: 'redirect_uri', message: 'must have the origin of PUBLIC_URL or one of CORS_ORIGINS' }]);
}
