import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Incoming, Send } from '@svc/contract';
import { OutboundRefused } from '@svc/http';
import { z } from 'zod';

/** Indexes first: their digest names the image of all architectures. */
const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

const INDEX = /image\.index|manifest\.list/;
const MAX_WAIT_SECONDS = 60;
const MAX_ATTEMPTS = 3;

/** A repository in a registry. */
export interface Repository {
  /** The base URL of the registry. */
  readonly url: URL;
  readonly name: string;
  /** `user:password` for this registry; undefined for anonymous requests. */
  readonly credentials: string | undefined;
}

interface Resolved {
  readonly digest: string;
  /** Whether it is an index of several architectures. */
  readonly isIndex: boolean;
}

/** A tag that could not be resolved. The message says why. */
export class Unresolved extends Error {
  override name = 'Unresolved';
}

const tokenReply = z.object({ token: z.string().optional(), access_token: z.string().optional() });

/**
 * The digest of a tag. Redirects are not followed. A challenge for a token is answered only at an address that `send` admits, with the
 * credentials of this registry only. A registry that is busy is asked again after the time that it states.
 * @throws Unresolved
 */
export async function resolveTag(send: Send, repository: Repository, tag: string): Promise<Resolved> {
  const url = new URL(`/v2/${repository.name}/manifests/${tag}`, repository.url);
  let authorization = basicOf(repository);
  const ask = (method: string) =>
    request(send, { method, url, headers: { accept: ACCEPT, ...(authorization && { authorization }) } });
  let reply = await ask('HEAD');
  const challenge = reply.status === 401 ? bearerOf(reply.headers['www-authenticate']) : undefined;
  if (challenge) {
    authorization = `Bearer ${await tokenOf(send, repository, challenge)}`;
    reply = await ask('HEAD');
  }
  if (reply.status === 404) throw new Unresolved('the registry has no image with this tag');
  if (reply.status === 401 || reply.status === 403)
    throw new Unresolved(`the registry refuses access (${reply.status})`);
  if (reply.status !== 200) throw new Unresolved(`the registry answered with ${reply.status}`);
  const isIndex = INDEX.test(reply.headers['content-type'] ?? '');
  const stated = reply.headers['docker-content-digest'] ?? '';
  if (/^sha256:[0-9a-f]{64}$/.test(stated)) return { digest: stated, isIndex };
  const { status, body } = await ask('GET');
  if (status !== 200) throw new Unresolved(`the registry answered with ${status}`);
  return { digest: `sha256:${createHash('sha256').update(body, 'utf8').digest('hex')}`, isIndex };
}

const basicOf = ({ credentials }: Repository): string | undefined =>
  credentials === undefined ? undefined : `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`;

/** Sends a request, and again after the time that a busy registry states. @throws Unresolved */
async function request(send: Send, outgoing: Parameters<Send>[0]): Promise<Incoming> {
  for (let attempt = 1; ; attempt += 1) {
    const reply = await send(outgoing).catch((error: unknown) => {
      throw new Unresolved(reasonOf(error));
    });
    if (reply.status !== 429 || attempt === MAX_ATTEMPTS) return reply;
    const seconds = Number(reply.headers['retry-after'] ?? 1);
    await pause(1000 * Math.min(MAX_WAIT_SECONDS, seconds >= 0 ? seconds : 1));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof OutboundRefused && error.needs.length > 0) {
    return `the registry, or where it gives tokens, is not a public https address: --allow ${error.needs.join(',')}`;
  }
  return `the registry cannot be reached: ${error instanceof Error ? error.message : error}`;
}

/** The parameters of a challenge for a bearer token. */
function bearerOf(header = ''): Readonly<Record<string, string>> | undefined {
  if (!/^Bearer /i.test(header)) return undefined;
  return Object.fromEntries(
    [...header.matchAll(/\b([a-z]+)="([^"]*)"/gi)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** A token to pull from the repository. @throws Unresolved */
async function tokenOf(
  send: Send,
  repository: Repository,
  { realm = '', service }: Readonly<Record<string, string>>,
): Promise<string> {
  if (!URL.canParse(realm)) throw new Unresolved('the registry states no address for tokens');
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${repository.name}:pull`);
  const authorization = basicOf(repository);
  const reply = await request(send, { method: 'GET', url, headers: authorization ? { authorization } : {} });
  const parsed = reply.status === 200 ? tokenReply.safeParse(parseJson(reply.body)) : undefined;
  const token = parsed?.data?.token ?? parsed?.data?.access_token;
  if (token === undefined) throw new Unresolved(`the registry gave no token (${reply.status})`);
  return token;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
