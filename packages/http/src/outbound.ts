import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Incoming, Outgoing, Send } from '@svc/contract';
import { Agent, buildConnector, request } from 'undici';
import { reachOf } from './outbound-addresses.ts';

/** What targets that were set through an API may be beside `https` and public, as `OUTBOUND_ALLOW` says it. */
export const outboundAllowances = ['http', 'loopback', 'private', 'unix'] as const;

export type OutboundAllowance = (typeof outboundAllowances)[number];

export interface OutboundOptions {
  /** Milliseconds for the whole exchange. */
  readonly timeoutMs: number;
  /** Bytes that an answer's body may have. */
  readonly maxBytes: number;
  /**
   * For targets that were set through an API: only `https` to public addresses is possible, and what this names. Left out
   * for targets that are the operator's word.
   */
  readonly restrictTo?: ReadonlySet<OutboundAllowance>;
}

/** A target that is not called. The message is for an operator to read; it names no address. */
export class OutboundRefused extends Error {
  override name = 'OutboundRefused';
  /** What `OUTBOUND_ALLOW` would have to say; empty where nothing helps. */
  readonly needs: readonly OutboundAllowance[];
  constructor(needs: readonly OutboundAllowance[]) {
    super(needs.length === 0 ? NEVER : `${needs.map((need) => REASONS[need]).join(' ')} ${remedy(needs)}`);
    this.needs = needs;
  }
}

const NEVER = 'The address is link-local or a metadata service: such targets are never called.';

const REASONS: Readonly<Record<OutboundAllowance, string>> = {
  http: 'The target is called without TLS.',
  loopback: 'The target is on the machine of this service.',
  private: 'The target is at an address that is not public.',
  unix: 'The target is a local socket.',
};

const remedy = (needs: readonly OutboundAllowance[]) =>
  `Only https to public addresses is allowed here; for this one OUTBOUND_ALLOW would have to name ${needs.join(' and ')}.`;

export interface Outbound {
  readonly send: Send;
  /** Why a target is never called, as far as its address says; what a name leads to is judged when it is called. */
  refusalOf(target: URL): OutboundRefused | undefined;
  close(): Promise<void>;
}

/**
 * Sends requests to other services: no redirects are followed, time and size are bounded. Link-local and metadata
 * addresses are never called; other targets as `restrictTo` says. Addresses are judged as they are connected to, whatever a
 * name led to before. Rejects with OutboundRefused where a target is not called.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const { timeoutMs, maxBytes, restrictTo } = options;
  const agent = new Agent({
    connect: refusingConnector(restrictTo),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxBytes,
    keepAliveTimeout: 4000,
    connections: 4,
  });
  const refusalOf = (target: URL) => refusalOfTarget(target, restrictTo);
  const send = async ({ method, url, headers, body }: Outgoing): Promise<Incoming> => {
    const refusal = refusalOf(url);
    if (refusal) throw refusal;
    const answer = await request(url, {
      method,
      headers,
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.statusCode, headers: single(answer.headers), body: await answer.body.text() };
  };
  return { send, refusalOf, close: () => agent.destroy() };
}

const single = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );

/** Whether a target is on this very machine, as far as its address says: a local socket, or a loopback address. */
export const isLocalTarget = ({ protocol, hostname }: URL): boolean =>
  protocol === 'unix:' || /(?:^|\.)localhost\.?$/.test(hostname) || reachOf(bareHost(hostname)) === 'loopback';

const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

interface Rules {
  readonly protocol?: string;
  readonly restrictTo: ReadonlySet<OutboundAllowance> | undefined;
}

/** Why a target is not called, as far as its address says. */
export const refusalOfTarget = ({ hostname, protocol }: URL, restrictTo: Rules['restrictTo']) =>
  refusalOfHost(bareHost(hostname), { protocol, restrictTo });

/** Why a host is not called, as far as its name or address says. */
function refusalOfHost(host: string, { protocol, restrictTo }: Rules): OutboundRefused | undefined {
  const reach = reachOf(host) ?? 'public'; // a name: what it leads to is judged when it is known
  if (reach === 'never') return new OutboundRefused([]);
  if (!restrictTo) return undefined;
  const needs: OutboundAllowance[] = [];
  if (protocol === 'http:') needs.push('http');
  if (protocol === 'unix:') needs.push('unix');
  if (reach !== 'public') needs.push(reach);
  const missing = needs.filter((need) => !restrictTo.has(need));
  return missing.length > 0 ? new OutboundRefused(missing) : undefined;
}

/** Connects to what it may connect to: decided by what a name leads to now, and once more by where the socket ended. */
export function refusingConnector(
  restrictTo: Rules['restrictTo'],
  options: buildConnector.BuildOptions = {},
): buildConnector.connector {
  const connect = buildConnector({ timeout: 5000, lookup: refusingLookup(restrictTo), ...options });
  return (options, done) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      const refusal = error ? undefined : refusalOfHost(socket.remoteAddress ?? '', { restrictTo });
      if (error || !refusal) return done(...result);
      socket.destroy();
      done(refusal, null);
    });
}

/** Resolves names; one that leads to any address that is not called is refused, and nothing is connected to. */
const refusingLookup =
  (restrictTo: Rules['restrictTo']): LookupFunction =>
  (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '');
      const refusal = addresses.map(({ address }) => refusalOfHost(address, { restrictTo })).find((found) => found);
      if (refusal) return done(refusal, '');
      const [first = { address: '', family: 0 }] = addresses;
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
