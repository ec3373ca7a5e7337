import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type KindOf, kindAt } from './kinds.ts';

/** A received request, without its credentials. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The authenticated user, or undefined. */
  readonly user: string | undefined;
}

/** The object or collection of a path. */
export interface Target {
  readonly kind: KindOf;
  readonly namespace: string | undefined;
  readonly name: string;
  /** `log`, … */
  readonly part: string;
}

export async function received(incoming: IncomingMessage, users: ReadonlyMap<string, string>): Promise<Received> {
  const url = new URL(incoming.url ?? '', 'https://localhost');
  let body = '';
  for await (const chunk of incoming) body += chunk;
  const { authorization = '', ...headers } = incoming.headers as Record<string, string>;
  const certificate = (incoming.socket as TLSSocket).getPeerCertificate?.();
  const user = users.get(authorization.replace(/^Bearer /, '')) ?? certificate?.subject?.CN?.toString();
  return {
    method: incoming.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers,
    body,
    user,
  };
}

const PATH =
  /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))(?:\/namespaces\/([^/]+)(?=\/[^/]))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** The object or collection of a request, or undefined if its path is unknown. */
export function targetOf({ path }: Received): Target | undefined {
  const [, core, group, namespace, resource = '', name = '', part = ''] = PATH.exec(path) ?? [];
  const kind = kindAt(core ?? group ?? '', resource);
  return kind && { kind, namespace, name, part };
}

/** The verb of a request, as in RBAC roles. */
export function verbOf({ method, query }: Received, { name }: Target): string {
  if (method === 'GET') return query.watch === 'true' ? 'watch' : name === '' ? 'list' : 'get';
  return { POST: 'create', PATCH: 'patch', DELETE: 'delete' }[method] ?? 'update';
}
