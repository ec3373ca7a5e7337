/** A request as it is wished, sane or not. */
interface Asked {
  /** A bearer token. */
  readonly as?: string;
  /** The whole header. */
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** In place of a body of JSON. */
  readonly text?: string;
  readonly type?: string;
}

/** Asks a fleet at an address, in any way, and goes to the provider as a browser does. */
export function createCaller(url: string) {
  const call = async (method: string, path: string, asked: Asked = {}) => {
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
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body, and fails where it is otherwise
    const body: any = answer.headers.get('content-type')?.includes('json') && shown !== '' ? tryJson(shown) : shown;
    return { status: answer.status, headers: answer.headers, body };
  };
  /** Goes to the provider. @returns what the browser carries */
  const goToProvider = async () => {
    const { headers } = await call('GET', '/api/v1/auth/oidc/login');
    const { searchParams } = new URL(headers.get('location') ?? '');
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    return { state: searchParams.get('state') ?? '', nonce: searchParams.get('nonce') ?? '', cookie };
  };
  /** Comes back. @returns the code that is to be exchanged for tokens */
  const comeBack = async ({ state, nonce, cookie }: Awaited<ReturnType<typeof goToProvider>>): Promise<string> => {
    const query = new URLSearchParams({ code: nonce, state });
    const { headers } = await call('GET', `/api/v1/auth/oidc/callback?${query}`, { headers: { Cookie: cookie } });
    return new URL(headers.get('location') ?? '', url).searchParams.get('code') ?? '';
  };
  return { call, goToProvider, comeBack };
}

export type Call = ReturnType<typeof createCaller>['call'];

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // lines of it
  }
}
