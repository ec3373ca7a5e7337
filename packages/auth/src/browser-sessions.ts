import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '@svc/http';
import { parse, serialize } from 'cookie';

/** The parts of a request that show whether a page of the service sent it. */
type BrowserRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/**
 * The cookie with which the console of a service refers to its session. Scripts cannot read it, and
 * it only authenticates requests of pages that the service itself sent. Programs use bearer tokens.
 */
export interface BrowserSessions {
  /** Why browsers cannot have sessions; undefined if they can. */
  readonly refusal: string | undefined;
  /** The reference in a request of the console to the API; undefined for other requests. */
  find(req: BrowserRequest): string | undefined;
  /** As `find`, for the authentication of the request. @throws 403 wrong_origin */
  read(req: BrowserRequest): string | undefined;
  /** @throws 409 browser_session_unavailable */
  requireAvailable(): void;
  /**
   * Requires that the console sends the request.
   * @throws 403 wrong_origin, 409 browser_session_unavailable
   */
  requireConsole(req: BrowserRequest): void;
  /**
   * The hash of the key that the console has in the storage of its origin, as a request states it in
   * `Console-Key`; undefined without one. Pages on other ports can plant cookies, but not this key:
   * a session that was opened with another key is not valid in such a request.
   */
  keyHashOf(req: Pick<IncomingMessage, 'headers'>): string | undefined;
  /** The value of `Set-Cookie` that keeps a reference. */
  cookieOf(reference: string): string;
  /** The value of `Set-Cookie` that deletes it. */
  readonly noCookie: string;
}

/**
 * The lifetime of the cookie, which is at least that of a session. Only the session determines
 * whether the cookie is valid.
 */
const COOKIE_SECONDS = 7 * 24 * 3600;

const API = '/api/v1/';

/**
 * `publicUrl` is the URL at which browsers reach the service. `service` is part of the name of the
 * cookie.
 */
export function createBrowserSessions(service: string, publicUrl: string | undefined): BrowserSessions {
  const refusal = refusalOf(publicUrl);
  const { origin = '', protocol = '' } = publicUrl === undefined ? {} : new URL(publicUrl);
  const secure = protocol === 'https:';
  // Cookies do not distinguish ports and paths, so services on one host need different names.
  const name = `${secure ? '__Host-' : ''}${service}-session-${hash('sha256', publicUrl ?? '', 'hex').slice(0, 8)}`;
  const cookie = (value: string, maxAge: number) =>
    serialize(name, value, { path: '/', httpOnly: true, sameSite: 'strict', secure, maxAge });

  const requireAvailable = () => {
    if (refusal !== undefined) throw new Problem('browser_session_unavailable', refusal);
  };
  const requireOrigin = (req: BrowserRequest) => {
    if (isSafe(req) || req.headers.origin === origin) return;
    throw new Problem('wrong_origin', `The console can make changes only at ${origin}. Open it there.`);
  };
  const find = ({ url, headers }: BrowserRequest) => {
    if (
      headers.cookie === undefined ||
      refusal !== undefined ||
      !url?.startsWith(API) ||
      !isSentByOwnPage({ headers })
    ) {
      return undefined;
    }
    return parse(headers.cookie)[name];
  };
  return {
    refusal,
    requireAvailable,
    requireConsole: (req) => {
      requireAvailable();
      if (!isSentByOwnPage(req)) {
        throw new Problem('wrong_origin', 'Only the console can have this session. Programs use bearer tokens.');
      }
      requireOrigin(req);
    },
    find,
    keyHashOf: ({ headers }) => {
      const key = headers['console-key'];
      return typeof key === 'string' && key !== '' ? hash('sha256', key, 'hex') : undefined;
    },
    read: (req) => {
      const reference = find(req);
      if (reference !== undefined) requireOrigin(req);
      return reference;
    },
    cookieOf: (reference) => cookie(reference, COOKIE_SECONDS),
    noCookie: cookie('', 0),
  };
}

/**
 * A browser states whose page sends a request, and no page can change it. Other clients do not have
 * to be stopped.
 */
const isSentByOwnPage = ({ headers }: Pick<BrowserRequest, 'headers'>) => headers['sec-fetch-site'] === 'same-origin';

const isSafe = ({ method }: BrowserRequest) => method === 'GET' || method === 'HEAD';

/**
 * Browsers send `Sec-Fetch-Site`, and keep secure cookies, only where they regard the connection as
 * trustworthy.
 */
function refusalOf(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return 'The console cannot sign in, because PUBLIC_URL is not set.';
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:' || isLocalhost(hostname)) return undefined;
  return `The console cannot sign in at ${publicUrl}, because it needs https. Set PUBLIC_URL to an https URL, or use localhost.`;
}

const isLocalhost = (hostname: string) =>
  hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname) || /^(?:[^.]+\.)*localhost$/.test(hostname);
