import { challengeOf } from '@svc/auth';
import type { Answered, Api } from '@svc/testing';
import { OF_CONSOLE } from '../auth/console.ts';

export const LOGIN = '/api/v1/auth/oidc/login';
export const CALLBACK = '/api/v1/auth/oidc/callback';
export const EXCHANGE = '/api/v1/auth/exchange';
export const FINISH = '/api/v1/auth/oidc/session';

/** The verifier of a page of the console. */
export const VERIFIER = 'v'.repeat(43);
/** The path at which a page of the console begins a sign-in. */
export const consoleLogin = (returnTo = '/', verifier = VERIFIER): string =>
  `${LOGIN}?${new URLSearchParams({ session: 'cookie', return_to: returnTo, challenge: challengeOf(verifier) })}`;

/** The address at which callers reach a fleet. */
export interface Replica {
  api(authorization?: string): Api;
}

/** The tokens and the user at the end of a sign-in. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/**
 * A browser at the fleet: it keeps the cookies of the fleet, sends each request to the next
 * replica, and adds its own headers.
 */
export function aBrowser(replicas: readonly Replica[], own: Readonly<Record<string, string>> = {}) {
  const cookies = new Map<string, { readonly value: string; readonly path: string }>();
  let requests = 0;

  const keep = (line: string) => {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const attribute = (wanted: string) => attributes.find((one) => one.startsWith(`${wanted}=`))?.split('=')[1];
    if (attribute('Max-Age') === '0') cookies.delete(name);
    else cookies.set(name, { value, path: attribute('Path') ?? '/' });
  };
  const send = async (method: string, path: string, body?: unknown, more = {}): Promise<Answered> => {
    const [pathname = ''] = path.split('?');
    const sent = [...cookies].filter(([, cookie]) => pathname.startsWith(cookie.path));
    const headers: Record<string, string> = { ...own, ...more };
    if (sent.length > 0) headers.Cookie = sent.map(([name, { value }]) => `${name}=${value}`).join('; ');
    const replica = replicas[requests++ % replicas.length];
    if (!replica) throw new RangeError('there is no fleet');
    const answer = await replica.api().send({ method, path, headers, body });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) keep(line);
    return answer;
  };
  const get = (path: string) => send('GET', path);
  return {
    cookies,
    get,
    /** Starts a sign-in. @returns the URL to which the fleet redirects the browser */
    begin: async (returnTo = '/'): Promise<URL> => {
      const begun = await get(`${LOGIN}?${new URLSearchParams({ return_to: returnTo })}`);
      if (begun.status !== 302) throw new Error(`the start of the sign-in answered ${begun.status}: ${begun.text}`);
      return new URL(begun.headers.location ?? '');
    },
    /** Follows the callback from the provider with these parameters. */
    openCallback: (query: Readonly<Record<string, string>>) => get(`${CALLBACK}?${new URLSearchParams(query)}`),
    /** Exchanges the code at the end of a sign-in. */
    exchange: (back: Answered, more = {}) => send('POST', EXCHANGE, { code: codeIn(back), ...more }),
    /** Completes a sign-in of the console as its page does. */
    finish: (back: Answered, verifier = VERIFIER) => {
      const { origin } = new URL(back.headers.location ?? '');
      return send('POST', FINISH, { code: consoleCodeIn(back), verifier }, { ...OF_CONSOLE, Origin: origin });
    },
  };
}

export type Browser = ReturnType<typeof aBrowser>;

/** The code that the fleet added to `return_to`. */
export function codeIn({ status, headers, text }: Answered): string {
  const code = status === 302 ? new URL(headers.location ?? '').searchParams.get('code') : null;
  if (code === null) throw new Error(`the end of the sign-in answered ${status}: ${text}`);
  return code;
}

/** The code that the fleet added to the page of the console. */
export function consoleCodeIn({ status, headers, text }: Answered): string {
  const { hash } = new URL(headers.location ?? '', 'http://fleet.test');
  const code = new URLSearchParams(hash.slice(1)).get('sign_in_code');
  if (code === null) throw new Error(`the end of the sign-in answered ${status}: ${text}`);
  return code;
}

/** The user of this credential, as each replica reports it. */
export const meAt = (replicas: readonly Replica[], credential: string): Promise<Answered[]> =>
  Promise.all(replicas.map((replica) => replica.api(`Bearer ${credential}`).get('/api/v1/auth/me')));
