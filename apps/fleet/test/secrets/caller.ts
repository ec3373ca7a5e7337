/** A request, valid or not. */
interface CallOptions {
  /** A bearer token. */
  readonly as?: string;
  /** The complete Authorization header. */
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Sent instead of a JSON body. */
  readonly text?: string;
  readonly type?: string;
}

/** Sends any request to a fleet at an address, and signs in at the provider as a browser does. */
export function createCaller(url: string) {
  const call = async (method: string, path: string, asked: CallOptions = {}) => {
    const authorization = asked.as === undefined ? asked.authorization : `Bearer ${asked.as}`;
    const text = asked.body === undefined ? asked.text : JSON.stringify(asked.body);
    const answer = await fetch(`${url}${path}`, {
      method: method.toUpperCase(),
      redirect: 'manual',
      headers: {
        ...asked.headers,
        ...(authorization === undefined ? {} : { Authorization: authorization }),
        ...(text === undefined ? {} : { 'Content-Type': asked.type ?? 'application/json' }),
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const shown = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: a test asserts the members of a body
    const body: any = answer.headers.get('content-type')?.includes('json') && shown !== '' ? tryJson(shown) : shown;
    return { status: answer.status, headers: answer.headers, body };
  };
  /** Starts a sign-in. @returns the cookie of the browser */
  const goToProvider = async () => {
    const { headers } = await call('GET', '/api/v1/auth/oidc/login');
    const { searchParams } = new URL(headers.get('location') ?? '');
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    return { state: searchParams.get('state') ?? '', nonce: searchParams.get('nonce') ?? '', cookie };
  };
  /** Follows the callback. @returns the code that can be exchanged for tokens */
  const openCallback = async ({ state, nonce, cookie }: Awaited<ReturnType<typeof goToProvider>>): Promise<string> => {
    const query = new URLSearchParams({ code: nonce, state });
    const { headers } = await call('GET', `/api/v1/auth/oidc/callback?${query}`, { headers: { Cookie: cookie } });
    return new URL(headers.get('location') ?? '', url).searchParams.get('code') ?? '';
  };
  return { call, goToProvider, openCallback };
}

export type Call = ReturnType<typeof createCaller>['call'];

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // the output as lines
  }
}
