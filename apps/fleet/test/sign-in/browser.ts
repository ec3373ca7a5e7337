import type { Answered, Api } from '@svc/testing';

export const LOGIN = '/api/v1/auth/oidc/login';
export const CALLBACK = '/api/v1/auth/oidc/callback';
export const EXCHANGE = '/api/v1/auth/exchange';

/** Where callers of a fleet find it. */
export interface Replica {
  api(authorization?: string): Api;
}

/** What a sign-in ends with. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A browser at the fleet: it keeps the fleet's cookies, and each of its requests meets the next replica. */
export function aBrowser(replicas: readonly Replica[]) {
  const cookies = new Map<string, { readonly value: string; readonly path: string }>();
  let requests = 0;

  const keep = (line: string) => {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const attribute = (wanted: string) => attributes.find((one) => one.startsWith(`${wanted}=`))?.split('=')[1];
    if (attribute('Max-Age') === '0') cookies.delete(name);
    else cookies.set(name, { value, path: attribute('Path') ?? '/' });
  };
  const send = async (method: string, path: string, body?: unknown): Promise<Answered> => {
    const [pathname = ''] = path.split('?');
    const sent = [...cookies].filter(([, cookie]) => pathname.startsWith(cookie.path));
    const headers: Record<string, string> =
      sent.length > 0 ? { Cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; ') } : {};
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
    /** Begins a sign-in. @returns where the fleet sends the browser */
    begin: async (returnTo = '/'): Promise<URL> => {
      const begun = await get(`${LOGIN}?${new URLSearchParams({ return_to: returnTo })}`);
      if (begun.status !== 302) throw new Error(`the sign-in began with ${begun.status}: ${begun.text}`);
      return new URL(begun.headers.location ?? '');
    },
    /** Comes back from the provider with these members in the address. */
    comeBack: (query: Readonly<Record<string, string>>) => get(`${CALLBACK}?${new URLSearchParams(query)}`),
    /** Exchanges the code that a sign-in ended with. */
    exchange: (back: Answered) => send('POST', EXCHANGE, { code: codeIn(back) }),
  };
}

export type Browser = ReturnType<typeof aBrowser>;

/** The code with which the fleet sent a browser to its `return_to`. */
export function codeIn({ status, headers, text }: Answered): string {
  const code = status === 302 ? new URL(headers.location ?? '').searchParams.get('code') : null;
  if (code === null) throw new Error(`the sign-in ended with ${status}: ${text}`);
  return code;
}

/** Who calls with this credential, as each replica says. */
export const meAt = (replicas: readonly Replica[], credential: string): Promise<Answered[]> =>
  Promise.all(replicas.map((replica) => replica.api(`Bearer ${credential}`).get('/api/v1/auth/me')));
