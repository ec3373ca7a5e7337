import { createHash, randomBytes } from 'node:crypto';
import { CookieJar } from './cookie-jar.ts';

export type SignIn = {
  issuer: string;
  email: string;
  password: string;
  /** The resource indicator for the access token (RFC 8707). Without it, the token is opaque. */
  resource?: string;
  clientId?: string;
  /** The redirect is read and not followed, so no server needs to listen there. */
  redirectUri?: string;
};

export type Tokens = { accessToken: string; refreshToken?: string; idToken?: string; expiresIn: number };

/** The sign-in failed. The message states the step. */
export class SignInError extends Error {}

type Endpoints = { authorization_endpoint: string; token_endpoint: string };
type Browser = (url: string | URL, form?: URLSearchParams) => Promise<{ url: URL; response: Response }>;

/**
 * Signs in at the development identity provider like a browser: with the authorization code flow with PKCE, the sign-in
 * page and redirects. Throws SignInError.
 */
export async function signIn(options: SignIn): Promise<Tokens> {
  const { issuer, clientId = 'dashboard', redirectUri = 'http://127.0.0.1/callback', resource } = options;
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
  if (!discovery.ok) throw new SignInError(`discovery of ${issuer}: ${discovery.status}`);
  // The specification of discovery defines these members, and the provider is trusted.
  const endpoints = (await discovery.json()) as Endpoints;
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const forResource = resource === undefined ? {} : { resource };
  const request = new URL(endpoints.authorization_endpoint);
  request.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email profile offline_access',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...forResource,
  }).toString();
  const code = codeFrom(await authorize(request, options, redirectUri), state);
  const exchange = { grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUri, code };
  return redeem(endpoints.token_endpoint, { ...exchange, code_verifier: verifier, ...forResource });
}

/** Sends the authorization request, and submits the sign-in page. @returns the redirect to the client */
async function authorize(request: URL, { email, password }: SignIn, redirectUri: string) {
  const browse = browser(redirectUri);
  const page = await browse(request);
  if (page.url.href.startsWith(redirectUri)) return page.url;
  const action = /<form[^<>]*\saction="([^"]*)"/.exec(await page.response.text())?.[1];
  if (action === undefined) throw new SignInError(`no sign-in form at ${page.url} (${page.response.status})`);
  const result = await browse(new URL(action || page.url, page.url), new URLSearchParams({ email, password }));
  if (result.response.status === 401) throw new SignInError(`wrong e-mail or password for ${email}`);
  if (!result.url.href.startsWith(redirectUri)) throw new SignInError(`unexpected redirect to ${result.url}`);
  return result.url;
}

/** Follows redirects with cookies, except the redirect to the client. */
function browser(redirectUri: string): Browser {
  const jar = new CookieJar();
  return async (start, form) => {
    let url = new URL(start);
    let init: RequestInit = form === undefined ? {} : { method: 'POST', body: form };
    for (let hops = 0; hops < 10; hops += 1) {
      const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie: jar.headerFor(url) } });
      jar.store(response);
      const location = response.headers.get('location');
      if (location === null) return { url, response };
      url = new URL(location, url);
      if (url.href.startsWith(redirectUri)) return { url, response };
      init = {};
    }
    throw new SignInError(`too many redirects, the last to ${url}`);
  };
}

function codeFrom(redirect: URL, state: string) {
  const parameters = redirect.searchParams;
  const error = parameters.get('error');
  if (error !== null) throw new SignInError(`${error}: ${parameters.get('error_description') ?? ''}`);
  const code = parameters.get('code');
  if (code === null || parameters.get('state') !== state)
    throw new SignInError('the redirect contains no code, or another state');
  return code;
}

async function redeem(endpoint: string, form: Record<string, string>): Promise<Tokens> {
  const response = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(form) });
  if (!response.ok) throw new SignInError(`token endpoint: ${response.status} ${await response.text()}`);
  // The specification defines these members of a token response, and the provider is trusted.
  const tokens = (await response.json()) as Record<
    'access_token' | 'refresh_token' | 'id_token',
    string | undefined
  > & {
    expires_in: number;
  };
  if (tokens.access_token === undefined) throw new SignInError('token endpoint: a response without access_token');
  return {
    accessToken: tokens.access_token,
    ...(tokens.refresh_token && { refreshToken: tokens.refresh_token }),
    ...(tokens.id_token && { idToken: tokens.id_token }),
    expiresIn: tokens.expires_in,
  };
}
