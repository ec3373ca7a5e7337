import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Incoming, Outgoing, Send } from '@svc/contract';
import { Agent, buildConnector, request } from 'undici';

export interface OutboundOptions {
  /** Milliseconds for the whole exchange. */
  readonly timeoutMs: number;
  /** Bytes that an answer's body may have. */
  readonly maxBytes: number;
}

/**
 * Sends requests to other services: no redirects are followed, time and size are bounded, and link-local and metadata
 * addresses are refused by the address that was really connected to.
 */
export function createOutbound({ timeoutMs, maxBytes }: OutboundOptions): { send: Send; close(): Promise<void> } {
  const agent = new Agent({
    connect: refusingConnector(),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxBytes,
    keepAliveTimeout: 4000,
    connections: 4,
  });
  const send = async ({ method, url, headers, body }: Outgoing): Promise<Incoming> => {
    const answer = await request(url, {
      method,
      headers,
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.statusCode, headers: single(answer.headers), body: await answer.body.text() };
  };
  return { send, close: () => agent.destroy() };
}

const single = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );

function refusingConnector(): buildConnector.connector {
  const connect = buildConnector({ timeout: 5000 });
  const refusal = () => new Error('The address is link-local or a metadata service: such targets are never called.');
  return (options, done) => {
    if (isForbidden(options.hostname)) return done(refusal(), null); // an address, not a name: nothing is connected to
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error || !isForbidden(socket.remoteAddress ?? '')) return done(...result);
      socket.destroy();
      done(refusal(), null);
    });
  };
}

const forbidden = new BlockList();
forbidden.addSubnet('169.254.0.0', 16, 'ipv4'); // RFC 3927, and the metadata service of most clouds
forbidden.addSubnet('fe80::', 10, 'ipv6'); // RFC 4291
// Metadata services elsewhere: Alibaba, Azure, Oracle; AWS and Google over IPv6.
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) forbidden.addAddress(address, 'ipv4');
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) forbidden.addAddress(address, 'ipv6');

/** Of an address; IPv4 inside IPv6 counts as IPv4. A name is never forbidden: what it leads to may be. */
const isForbidden = (address: string) =>
  isIP(address) !== 0 && forbidden.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
