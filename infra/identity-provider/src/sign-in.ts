import { createHash, randomBytes } from 'node:crypto';
import { CookieJar } from './cookie-jar.ts';

export type SignIn = {
  issuer: string;
  email: string;
  password: string;
  /** Resource indicator that the access token is for; without one the token is opaque. */
  resource?: string;
  clientId?: string;
  /** Nothing needs to listen there: the redirect is read, not followed. */
  redirectUri?: string;
};

export type Tokens = { accessToken: string; refreshToken?: string; idToken?: string; expiresIn: number };

/** The provider refused, or did not behave as a provider does; the message says at which step. */
export class SignInError extends Error {}

type Endpoints = { authorization_endpoint: string; token_endpoint: string };
type Browser = (url: string | URL, form?: URLSearchParams) => Promise<{ url: URL; response: Response }>;

/**
 * Signs in at the development identity provider as a browser does: authorization code with PKCE, its sign-in page, the
 * redirect back. Throws SignInError.
 */
export async function signIn(options: SignIn): Promise<Tokens> {
  const { issuer, clientId = 'dashboard', redirectUri = 'http://127.0.0.1/callback', resource } = options;
  const discovery = await fetch(`${issuer}/.well-known/openid-configuration`);
  if (!discovery.ok) throw new SignInError(`${issuer} answered discovery with ${discovery.status}`);
  // Discovery's members are fixed by its specification, and this provider is our own.
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

/** Walks from the authorization request over the sign-in page to the redirect back, which it returns. */
async function authorize(request: URL, { email, password }: SignIn, redirectUri: string) {
  const browse = browser(redirectUri);
  const page = await browse(request);
  if (page.url.href.startsWith(redirectUri)) return page.url;
  const action = /<form[^>]*\saction="([^"]*)"/.exec(await page.response.text())?.[1];
  if (action === undefined) throw new SignInError(`no sign-in form at ${page.url}: ${page.response.status}`);
  const answer = await browse(new URL(action || page.url, page.url), new URLSearchParams({ email, password }));
  if (answer.response.status === 401) throw new SignInError(`wrong e-mail or password for ${email}`);
  if (!answer.url.href.startsWith(redirectUri)) throw new SignInError(`sign-in ended at ${answer.url}`);
  return answer.url;
}

/** Follows redirects with cookies, up to the one that leads back to the client. */
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
  const answer = redirect.searchParams;
  const error = answer.get('error');
  if (error !== null) throw new SignInError(`${error}: ${answer.get('error_description') ?? ''}`);
  const code = answer.get('code');
  if (code === null || answer.get('state') !== state)
    throw new SignInError('the redirect carries no code of this request');
  return code;
}

async function redeem(endpoint: string, form: Record<string, string>): Promise<Tokens> {
  const response = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(form) });
  if (!response.ok) throw new SignInError(`token endpoint: ${response.status} ${await response.text()}`);
  // A token answer's members are fixed by its specification, and this provider is our own.
  const answer = (await response.json()) as Record<
    'access_token' | 'refresh_token' | 'id_token',
    string | undefined
  > & {
    expires_in: number;
  };
  if (answer.access_token === undefined) throw new SignInError('token endpoint: an answer without access_token');
  return {
    accessToken: answer.access_token,
    ...(answer.refresh_token && { refreshToken: answer.refresh_token }),
    ...(answer.id_token && { idToken: answer.id_token }),
    expiresIn: answer.expires_in,
  };
}
