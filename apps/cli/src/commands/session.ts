import { anonymous, clientOf, credentialOf, readAuthConfig, reply } from '../api.ts';
import { type Context, type Credential, readContexts, type Service, writeContexts } from '../contexts.ts';
import { Failure, UsageError } from '../errors.ts';
import type { paths as FleetPaths } from '../generated/fleet.ts';
import type { paths as HubPaths } from '../generated/hub.ts';
import type { Action, Common } from '../invocation.ts';
import { print, tell } from '../output.ts';
import { readStdin } from '../stdin.ts';
import { serviceIn, serviceUrl, type Target, targetOf } from '../target.ts';

interface LoginOptions extends Common {
  readonly token?: string;
  readonly name?: string;
  /** False: only print the address. */
  readonly browser: boolean;
}

/** Signs in to a service, and makes it the current context. */
export const login: Action<LoginOptions> = async ([address = ''], options) => {
  if (options.token !== undefined && options.token !== '-') {
    throw new UsageError('A token is never an argument. Use --token -, and send it to stdin.');
  }
  const url = serviceUrl(address);
  const config = await readAuthConfig(url);
  const service = serviceIn(config, url);
  const credential =
    options.token === '-'
      ? await checkedToken(service, url)
      : await signInByBrowser(service, url, { ...options, config });
  const name = addContext({ url, service, credential }, options.name);
  if (!url.startsWith('https:') && !isLoopback(url)) tell('The connection is not encrypted. Use an https address.');
  await print(
    { context: name, url, service },
    { format: options.output, as: () => `Signed in to ${url} as the context ${name}.` },
  );
  return undefined;
};

const isLoopback = (url: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname);

/** Reads a token from stdin. @throws Failure if the service does not accept it */
async function checkedToken(service: Service, url: string): Promise<Credential> {
  const token = await readStdin();
  if (!/^[\w.~+/=-]+$/.test(token)) throw new UsageError('stdin does not contain a token.');
  const credential = { kind: 'token', token } as const;
  const target = { name: undefined, url, service, credential };
  if (service === 'fleet') await reply(clientOf<FleetPaths>(target).GET('/api/v1/auth/me'));
  // The catalog is public, but an invalid credential is refused.
  else await reply(clientOf<HubPaths>(target).GET('/api/v1/auth/session'));
  return credential;
}

interface BrowserOptions {
  readonly browser: boolean;
  readonly config: { readonly browser_session_refusal: string | null };
}

async function signInByBrowser(
  service: Service,
  url: string,
  { browser, config }: BrowserOptions,
): Promise<Credential> {
  if (config.browser_session_refusal !== null) {
    throw new Failure(`${config.browser_session_refusal} Use --token - instead.`);
  }
  const { waitForCode } = await import('../sign-in.ts');
  const { code, verifier } = await waitForCode(url, browser);
  const body = { code, verifier };
  return credentialOf(
    service === 'fleet'
      ? await reply(anonymous<FleetPaths>(url).POST('/api/v1/auth/exchange', { body }))
      : await reply(anonymous<HubPaths>(url).POST('/api/v1/auth/exchange', { body })),
  );
}

/** Stores a context, under its former name if the same service has one. @returns the name */
function addContext(context: Context, wanted: string | undefined): string {
  const { contexts } = readContexts();
  const known = Object.entries(contexts).find(([, { url }]) => url === context.url)?.[0];
  const free = [context.service, new URL(context.url).hostname].find((name) => !Object.hasOwn(contexts, name));
  const name = wanted ?? known ?? free ?? new URL(context.url).host;
  writeContexts({ current: name, contexts: { ...contexts, [name]: context } });
  return name;
}

/** Ends the session of a context, and forgets the context. */
export const logout: Action = async (_, options) => {
  const { name, credential, url, service } = targetOf({ at: options.at ?? currentName() });
  if (name === undefined || service === undefined)
    throw new UsageError('The environment has no context. Unset SVC_TOKEN.');
  if (credential?.kind === 'session') await endSession(service, { name, url, service, credential });
  const { current, contexts } = readContexts();
  const { [name]: _forgotten, ...others } = contexts;
  const [next = null] = Object.keys(others);
  writeContexts({ current: current === name ? next : current, contexts: others });
  tell(`Signed out of ${url}.`);
  return undefined;
};

const currentName = (): string | undefined => readContexts().current ?? undefined;

/** A session that has ended already is no failure. */
async function endSession(service: Service, target: Target): Promise<void> {
  const { response } =
    service === 'fleet'
      ? await clientOf<FleetPaths>(target).POST('/api/v1/auth/logout')
      : await clientOf<HubPaths>(target).DELETE('/api/v1/auth/session');
  if (!response.ok && response.status !== 401) throw new Failure(`The session was not ended: ${response.status}.`);
}

export const listContexts: Action = async (_, { output }) => {
  const { current, contexts } = readContexts();
  const rows = Object.entries(contexts).map(([name, { url, service, credential }]) => ({
    name,
    current: name === current,
    service,
    url,
    credential: credential.kind,
  }));
  await print(rows, {
    format: output,
    as: () => ({
      columns: ['', 'NAME', 'SERVICE', 'URL', 'CREDENTIAL'],
      rows: rows.map((row) => [row.current ? '*' : '', row.name, row.service, row.url, row.credential]),
    }),
  });
  return undefined;
};

export const useContext: Action = async ([name = '']) => {
  const { contexts } = readContexts();
  if (!Object.hasOwn(contexts, name)) {
    throw new UsageError(`There is no context ${name}. There are: ${Object.keys(contexts).join(', ')}.`);
  }
  writeContexts({ current: name, contexts });
  return undefined;
};
