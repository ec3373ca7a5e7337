import createClient, { type Client } from 'openapi-fetch';
import { type Credential, readContexts, type Service, updateContext } from './contexts.ts';
import { Failure } from './errors.ts';
import type { paths as FleetPaths } from './generated/fleet.ts';
import type { paths as HubPaths } from './generated/hub.ts';
import { serviceIn, type Target, type TargetOptions, targetOf } from './target.ts';
import { visible } from './text.ts';
import { version } from './version.ts';

export type Fleet = Client<FleetPaths>;
export type Hub = Client<HubPaths>;

/** The time limit of a request, in milliseconds. A diagnosis takes up to 30 seconds. */
const LIMIT_MS = 60_000;

/** A token that is valid for less than this time is exchanged before the request, in milliseconds. */
const REFRESH_MS = 30_000;

/** The fleet that a command calls. */
export const fleetOf = (options: TargetOptions): Fleet => clientOf<FleetPaths>(targetOf(options, 'fleet'));

/** The hub that a command calls. */
export const hubOf = (options: TargetOptions): Hub => clientOf<HubPaths>(targetOf(options, 'hub'));

/** The service of a command that both have, with its client. */
export type Either = (
  | { readonly service: 'fleet'; readonly client: Fleet }
  | { readonly service: 'hub'; readonly client: Hub }
) & {
  readonly url: string;
};

/** The service that a command calls. If only its URL is known, it is asked which one it is. */
export async function eitherOf(options: TargetOptions): Promise<Either> {
  const target = targetOf(options);
  const service = target.service ?? (await identify(target.url));
  const { url } = target;
  return service === 'fleet'
    ? { service, url, client: clientOf<FleetPaths>(target) }
    : { service, url, client: clientOf<HubPaths>(target) };
}

/** What a service states about sign-ins. Both have the operation. */
export const readAuthConfig = (url: string) => reply(anonymous<FleetPaths>(url).GET('/api/v1/auth/config'));

const identify = async (url: string): Promise<Service> => serviceIn(await readAuthConfig(url), url);

export const anonymous = <P extends object>(url: string): Client<P> =>
  clientOf<P>({ name: undefined, url, service: undefined, credential: undefined });

export function clientOf<P extends object>(target: Target): Client<P> {
  const client = createClient<P>({
    baseUrl: target.url,
    headers: { 'User-Agent': `svc/${version}` },
    redirect: 'error', // a credential is sent to one address only
    fetch: (request) => send(target, request),
  });
  return client;
}

async function send(target: Target, request: Request): Promise<Response> {
  const token = await tokenOf(target);
  if (token !== undefined) request.headers.set('Authorization', `Bearer ${token}`);
  return sendTo(target.url, request);
}

/** Sends a request to a service. @throws Failure if there is no response */
export async function sendTo(url: string, request: Request): Promise<Response> {
  const isStreamed = request.headers.get('Accept') === STREAM;
  try {
    return await fetch(request, isStreamed ? {} : { signal: AbortSignal.timeout(LIMIT_MS) });
  } catch (error) {
    throw new Failure(`${url} ${reasonOf(error)}`, { cause: error });
  }
}

/** The header `Accept` of requests whose responses do not end by themselves. */
export const STREAM = 'text/plain';

/** Errors of TLS whose cause is a certificate that this machine does not trust. */
const UNTRUSTED = /^(?:UNABLE_TO|SELF_SIGNED|DEPTH_ZERO_SELF_SIGNED|CERT_UNTRUSTED)/;

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `does not respond within ${LIMIT_MS / 1000} s.`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (UNTRUSTED.test(code)) {
    return `has a certificate that this machine does not trust (${code}). Name its certificate authority in NODE_EXTRA_CA_CERTS.`;
  }
  if (cause instanceof Error && cause.message.includes('redirect')) {
    return 'answers with a redirect. Use the address to which it leads.';
  }
  return `cannot be reached: ${code === '' && cause instanceof Error ? cause.message : code}.`;
}

/** The token of a target, which is exchanged for a new one before it expires. */
async function tokenOf({ name, url, credential }: Target): Promise<string | undefined> {
  if (credential?.kind !== 'session' || name === undefined) return credential?.token;
  // Another process, or an earlier request of this one, may have exchanged the token.
  const stored = readContexts().contexts[name]?.credential ?? credential;
  if (stored.kind !== 'session' || stored.refresh === null || stored.until - Date.now() > REFRESH_MS) {
    return stored.token;
  }
  const next = await refreshed(url, stored.refresh);
  updateContext(name, (context) => ({ ...context, credential: next }));
  return next.token;
}

async function refreshed(url: string, refresh_token: string): Promise<Credential> {
  const session = await reply(anonymous<FleetPaths>(url).POST('/api/v1/auth/refresh', { body: { refresh_token } }));
  return credentialOf(session);
}

interface OpenedSession {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in: number;
}

/** The credential of a session that a service has opened. */
export const credentialOf = ({ access_token, refresh_token, expires_in }: OpenedSession): Credential => ({
  kind: 'session',
  token: access_token,
  refresh: refresh_token ?? null,
  until: Date.now() + expires_in * 1000,
});

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of a successful response. @throws Failure with what the service states otherwise */
export async function reply<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (!response.ok) throw new Failure(refusalOf(error, response));
  return data as T; // a successful response has the body that the document states
}

/** A problem document as text: the detail, and a line for each invalid member. */
function refusalOf(error: unknown, { status, statusText, url }: Response): string {
  const { detail, code, errors, request_id } = Object(error);
  if (typeof detail !== 'string') return `${url}: ${status} ${statusText}`;
  const lines = Array.isArray(errors) ? errors.map((each) => `  ${Object(each).path}: ${Object(each).message}`) : [];
  const hint = status === 401 ? ['Sign in again with svc login, or set SVC_TOKEN.'] : [];
  return visible([detail, ...lines, `(${code}, request ${request_id})`, ...hint].join('\n'));
}
