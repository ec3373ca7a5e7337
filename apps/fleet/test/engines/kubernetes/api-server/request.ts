import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type KindOf, kindAt } from './kinds.ts';

/** A request as it came in, without what proves who sent it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Who sent it; undefined for a stranger. */
  readonly user: string | undefined;
}

/** What a path is about. */
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

/** What a request is about; undefined where there is no such thing. */
export function targetOf({ path }: Received): Target | undefined {
  const [, core, group, namespace, resource = '', name = '', part = ''] = PATH.exec(path) ?? [];
  const kind = kindAt(core ?? group ?? '', resource);
  return kind && { kind, namespace, name, part };
}

/** As roles name what is done. */
export function verbOf({ method, query }: Received, { name }: Target): string {
  if (method === 'GET') return query.watch === 'true' ? 'watch' : name === '' ? 'list' : 'get';
  return { POST: 'create', PATCH: 'patch', DELETE: 'delete' }[method] ?? 'update';
}
