import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { Client } from 'undici';
import { reachOf } from './addresses.ts';
import { ConnectionRefused, failedConnection } from './connection-problems.ts';

/** The proxy does not connect to a target, or cannot be reached. */
class ProxyRefused extends ConnectionRefused {
  override name = 'ProxyRefused';
}

interface Target {
  readonly protocol: string;
  /** A name, or an address without brackets. */
  readonly hostname: string;
}

/**
 * The proxy for connections to a target, according to `HTTPS_PROXY` and `NO_PROXY`. Undefined: they
 * are opened directly, as all connections without TLS and to this machine are. The settings of the
 * service validate the variables.
 */
export function proxyFor(
  { protocol, hostname }: Target,
  { HTTPS_PROXY, NO_PROXY = '' }: NodeJS.ProcessEnv = process.env,
): URL | undefined {
  if (protocol !== 'https:' || !HTTPS_PROXY) return undefined;
  const host = hostname.toLowerCase().replace(/\.$/, '');
  if (reachOf(host) === 'loopback' || /(?:^|\.)localhost$/.test(host)) return undefined;
  const isDirect = NO_PROXY.split(',').some((entry) => covers(entry.trim().toLowerCase(), host));
  return isDirect ? undefined : new URL(HTTPS_PROXY);
}

/** Whether a text is an entry of `NO_PROXY`: `*`, a name, a domain, an address or a range. */
export const isProxyExemption = (entry: string): boolean =>
  entry === '*' || isIP(entry) !== 0 || rangeOf(entry) !== undefined || /^(?:\*?\.)?[\w-]+(?:\.[\w-]+)*$/.test(entry);

/** Whether an entry of `NO_PROXY` contains a host. A name contains the names below it. */
function covers(entry: string, host: string): boolean {
  if (entry === '' || entry === '*') return entry === '*';
  const version = isIP(host);
  if (version !== 0) return rangeOf(entry)?.check(host, version === 4 ? 'ipv4' : 'ipv6') ?? entry === host;
  const name = entry.replace(/^\*?\./, '');
  return host === name || host.endsWith(`.${name}`);
}

/** The addresses of a range such as 10.0.0.0/8. */
function rangeOf(entry: string): BlockList | undefined {
  const [, address = '', prefix] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const version = isIP(address);
  if (version === 0 || Number(prefix) > (version === 4 ? 32 : 128)) return undefined;
  const range = new BlockList();
  range.addSubnet(address, Number(prefix), version === 4 ? 'ipv4' : 'ipv6');
  return range;
}

interface Tunnel {
  /** The name or address of the target, which the proxy connects to. */
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/** Opens a connection through a proxy with the method CONNECT (RFC 9110, section 9.3.6). @throws ProxyRefused */
export async function openTunnel(proxy: URL, { host, port, timeoutMs }: Tunnel): Promise<Socket> {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const name = `the proxy ${proxy.host}`;
  const client = new Client(proxy.origin, { connectTimeout: timeoutMs });
  const { statusCode, socket } = await client
    .connect({
      path: authority,
      headers: { host: authority, ...credentialsOf(proxy) },
      signal: AbortSignal.timeout(timeoutMs),
    })
    .catch((cause: unknown) => {
      throw new ProxyRefused(failedConnection(name, cause).text, { cause });
    })
    .finally(() => client.destroy()); // the connection no longer belongs to it
  if (statusCode >= 200 && statusCode < 300) return socket as Socket; // of a client over TCP or TLS
  socket.on('error', () => undefined).destroy();
  const reason = statusCode === 407 ? 'It requires a user and a password, or another one' : 'It refuses this target';
  throw new ProxyRefused(`There is no connection through ${name}. ${reason} (${statusCode}).`);
}

function credentialsOf({ username, password }: URL): { readonly 'proxy-authorization'?: string } {
  if (username === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
