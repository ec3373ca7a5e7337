import { lookup } from 'node:dns';
import dns from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Incoming, Outgoing, Send } from '@svc/contract';
import { Histogram } from 'prom-client';
import { Agent, buildConnector, request as callUrl, type Dispatcher } from 'undici';
import { processMetrics } from '../observe/process-metrics.ts';
import type { SpanOptions } from '../observe/tracer.ts';
import { tracedWithin } from '../observe/tracing.ts';
import { isOwnAddress, reachOf } from './addresses.ts';
import { ConnectionRefused, refusalIn } from './connection-problems.ts';
import { openTunnel, proxyFor } from './proxy.ts';

/**
 * What `OUTBOUND_ALLOW` can allow for targets that are set in the API, in addition to `https` at
 * public addresses.
 */
export const outboundAllowances = ['http', 'loopback', 'private', 'unix'] as const;

export type OutboundAllowance = (typeof outboundAllowances)[number];

/**
 * What is allowed for a target. No setting contains `own-address`: addresses of the interfaces of
 * this machine, for admins only.
 */
export type TargetAllowance = OutboundAllowance | 'own-address';

export interface OutboundOptions {
  /** What is called, for metrics. */
  readonly destination?: 'hub' | 'identity_provider' | 'webhook' | 'git';
  /** Time limit for the request and the response, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum size of the body of a response, in bytes. */
  readonly maxBytes: number;
  /**
   * For targets that are set in the API: only `https` to public addresses is allowed, and what this
   * set contains. Undefined for targets that the operator of the service configured.
   */
  readonly restrictTo?: ReadonlySet<OutboundAllowance>;
}

/**
 * The service does not connect to a target. The message is for operators and contains no address.
 */
export class OutboundRefused extends ConnectionRefused {
  override name = 'OutboundRefused';
  /** What `OUTBOUND_ALLOW` would have to contain; empty if no setting allows the target. */
  readonly needs: readonly OutboundAllowance[];
  constructor(needs: readonly OutboundAllowance[], reason = NEVER) {
    super(needs.length === 0 ? reason : `${needs.map((need) => REASONS[need]).join(' ')} ${remedy(needs)}`);
    this.needs = needs;
  }
}

const OWN_ADDRESS =
  'The address belongs to the machine of this service, and no admin has set it. An admin can set the same address again to allow it.';

const NEVER = 'The address is link-local or a metadata service. Connections to such addresses are not allowed.';

const REASONS: Readonly<Record<OutboundAllowance, string>> = {
  http: 'The target is called without TLS.',
  loopback: 'The target is on the machine of this service.',
  private: 'The address of the target is not public.',
  unix: 'The target is a Unix socket.',
};

const remedy = (needs: readonly OutboundAllowance[]) =>
  `Only https to public addresses is allowed. To allow this target, add ${needs.join(' and ')} to OUTBOUND_ALLOW.`;

const calls = new Histogram({
  name: 'outbound_request_duration_seconds',
  help: 'Time of a request to another service, by its outcome: a response, none, or refused by OUTBOUND_ALLOW',
  labelNames: ['destination', 'outcome'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers: [processMetrics],
});

/** Measures a request. */
async function measured<T>(destination: string, work: () => Promise<T>): Promise<T> {
  const end = calls.startTimer({ destination });
  try {
    const result = await work();
    end({ outcome: 'response' });
    return result;
  } catch (error) {
    end({ outcome: refusalIn(error) instanceof OutboundRefused ? 'refused' : 'failed' });
    throw error;
  }
}

/** A request whose body is not text. */
export interface OutgoingBytes extends Omit<Outgoing, 'body'> {
  readonly body?: Uint8Array;
}

/** A response whose body is not text. */
export interface IncomingBytes extends Omit<Incoming, 'body'> {
  readonly body: Uint8Array;
}

export interface Outbound {
  readonly send: Send;
  /** As `send`, with bodies of bytes. The body of a response is not decompressed. */
  sendBytes(outgoing: OutgoingBytes): Promise<IncomingBytes>;
  /** Maximum size of the body of a response, in bytes. */
  readonly maxBytes: number;
  /**
   * Why a target is not allowed, according to its URL. Names are resolved and checked only when a
   * request is sent.
   */
  refusalOf(target: URL): OutboundRefused | undefined;
  close(): Promise<void>;
}

/**
 * Sends requests to other services, with limits for time and size, and without following redirects.
 * Connections to link-local addresses and metadata services are not allowed; other targets are
 * restricted by `restrictTo`. The address of the connected socket is checked as well, so that a
 * change of a DNS record has no effect. Rejects with OutboundRefused.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const { destination = 'other', timeoutMs, maxBytes } = options;
  // Only admins change the settings that contain these targets.
  const restrictTo = options.restrictTo && new Set([...options.restrictTo, 'own-address' as const]);
  const agent = new Agent({
    connect: refusingConnector(restrictTo),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxBytes,
    keepAliveTimeout: 4000,
    connections: 4,
  });
  const refusalOf = (target: URL) => refusalOfTarget(target, restrictTo);
  const request = async <Body>({ method, url, headers, body }: Outgoing | OutgoingBytes, read: ReadBody<Body>) => {
    const refusal = refusalOf(url);
    if (refusal) throw refusal;
    const response = await callUrl(url, {
      method,
      headers,
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.statusCode, headers: single(response.headers), body: await read(response.body) };
  };
  /** Only a hub continues the trace: other services belong to other operators. */
  const call = <Body>(outgoing: Outgoing | OutgoingBytes, read: ReadBody<Body>) =>
    tracedWithin(
      () => callSpan(outgoing, destination),
      async (span) => {
        const headers = destination === 'hub' && span ? { ...outgoing.headers, ...span.headers } : outgoing.headers;
        const response = await request({ ...outgoing, headers }, read);
        span?.set({ 'http.response.status_code': response.status });
        return response;
      },
    );
  return {
    send: (outgoing) => measured(destination, () => call(outgoing, (body) => body.text())),
    sendBytes: (outgoing) => measured(destination, () => call(outgoing, (body) => body.bytes())),
    maxBytes,
    refusalOf,
    close: () => agent.destroy(),
  };
}

/** Reads the body of a response to its end. */
type ReadBody<Body> = (body: Dispatcher.ResponseData['body']) => Promise<Body>;

/**
 * The span of a call. It has the template of the path if the contract declares it, and never the
 * URL.
 */
const callSpan = ({ method, route }: Pick<Outgoing, 'method' | 'route'>, destination: string): SpanOptions => ({
  name: `${method} ${route ?? destination}`,
  kind: 'client',
  attributes: { 'http.request.method': method, 'peer.service': destination, ...(route && { 'url.template': route }) },
});

const single = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );

/**
 * Whether a target is on this machine, according to its URL: a Unix socket, or an address of this
 * machine.
 */
export const isLocalTarget = ({ protocol, hostname }: URL): boolean =>
  protocol === 'unix:' || /(?:^|\.)localhost\.?$/.test(hostname) || isLocalAddress(bareHost(hostname));

const isLocalAddress = (address: string) => reachOf(address) === 'loopback' || isOwnAddress(address);

const RESOLUTION_MS = 1000;

/**
 * Whether a target is on this machine, according to its URL and the addresses of its name. A name
 * that cannot be resolved in time is not: connections check the addresses again.
 */
export async function resolvesToThisMachine(target: URL): Promise<boolean> {
  if (isLocalTarget(target)) return true;
  const found = await Promise.race([
    dns.lookup(bareHost(target.hostname), { all: true }).catch(() => []),
    pause(RESOLUTION_MS, [], { ref: false }),
  ]);
  return found.some(({ address }) => isLocalAddress(address));
}

const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

interface Rules {
  readonly protocol?: string;
  readonly restrictTo: ReadonlySet<TargetAllowance> | undefined;
}

/** Why a target is not allowed, according to its URL. */
export const refusalOfTarget = ({ hostname, protocol }: URL, restrictTo: Rules['restrictTo']) =>
  refusalOfHost(bareHost(hostname), { protocol, restrictTo });

/** Why a host is not allowed, according to its name or address. */
function refusalOfHost(host: string, { protocol, restrictTo }: Rules): OutboundRefused | undefined {
  const reach = reachOf(host) ?? 'public'; // a name is checked after it is resolved
  if (reach === 'never') return new OutboundRefused([]);
  if (!restrictTo) return undefined;
  const needs: OutboundAllowance[] = [];
  if (protocol === 'http:') needs.push('http');
  if (protocol === 'unix:') needs.push('unix');
  if (reach !== 'public') needs.push(reach);
  const missing = needs.filter((need) => !restrictTo.has(need));
  if (missing.length > 0) return new OutboundRefused(missing);
  return restrictTo.has('own-address') || !isOwnAddress(host) ? undefined : new OutboundRefused([], OWN_ADDRESS);
}

/** The time limit of each step of a new connection. */
const CONNECT_MS = 5000;

/**
 * Connects only to allowed addresses. Checks the resolved addresses, and the remote address of the
 * connected socket. A proxy receives the name of a target that is not restricted, and otherwise the
 * checked address, so that it does not resolve the name to another one.
 */
export function refusingConnector(
  restrictTo: Rules['restrictTo'],
  options: buildConnector.BuildOptions = {},
): buildConnector.connector {
  const resolve = refusingLookup(restrictTo);
  const connect = buildConnector({ timeout: CONNECT_MS, lookup: resolve, ...options });
  return (target, done) => {
    const proxy = proxyFor(target);
    if (proxy !== undefined) {
      const host = restrictTo ? checkedAddress(target.hostname, resolve) : Promise.resolve(target.hostname);
      host
        .then((host) => openTunnel(proxy, { host, port: Number(target.port) || 443, timeoutMs: CONNECT_MS }))
        .then(
          (httpSocket) => connect({ ...target, httpSocket }, done),
          (error) => done(error, null),
        );
      return;
    }
    connect(target, (...result) => {
      const [error, socket] = result;
      const refusal = error ? undefined : refusalOfHost(socket.remoteAddress ?? '', { restrictTo });
      if (error || !refusal) return done(...result);
      socket.destroy();
      done(refusal, null);
    });
  };
}

/** An address of a host, all of whose addresses are allowed. */
const checkedAddress = (hostname: string, resolve: LookupFunction): Promise<string> =>
  new Promise((fulfil, reject) => {
    resolve(hostname, {}, (error, address) => (error ? reject(error) : fulfil(String(address))));
  });

/** Resolves names. Fails without a connection if any of the addresses is not allowed. */
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
