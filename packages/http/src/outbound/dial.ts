import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { SpanOptions } from '../observe/tracer.ts';
import { tracedWithin } from '../observe/tracing.ts';
import { refusalOfTarget, refusingConnector, type TargetAllowance } from './outbound.ts';

/** A target for repeated requests. */
export interface DialOptions {
  /** `https://host:port`, `http://host:port`, or `unix:///path` for a Unix socket. */
  readonly target: URL;
  /** As for `createOutbound`. Undefined if the operator of the service configured the target. */
  readonly restrictTo?: ReadonlySet<TargetAllowance> | undefined;
  /**
   * PEM. `ca` replaces the certificate authorities of the system; `cert` and `key` are the client
   * certificate.
   */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
}

export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /**
   * Maximum time in milliseconds until the response starts, and between two parts of its body; 0:
   * unlimited.
   */
  readonly idleMs: number;
  /** Aborts the request and the body of the response. */
  readonly signal?: AbortSignal;
}

/** A response whose headers were received. */
export interface Streaming {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read to its end or destroyed. */
  readonly body: Readable;
}

export interface HttpConnection {
  exchange(exchange: Exchange): Promise<Streaming>;
  close(): Promise<void>;
}

/**
 * Sends requests to one target and returns the responses as streams. The caller must limit how much
 * it reads. Targets are restricted as by `createOutbound`: by the URL, and by the address to which
 * the socket is connected.
 */
export function dial({ target, restrictTo, tls }: DialOptions): HttpConnection {
  const isSocket = target.protocol === 'unix:';
  const socket = isSocket ? { socketPath: decodeURIComponent(target.pathname) } : {};
  const agent = new Agent({ connect: refusingConnector(restrictTo, { ...tls, ...socket }), keepAliveTimeout: 4000 });
  const origin = isSocket ? 'http://localhost' : target.origin;
  return {
    exchange: async ({ method, path, headers = {}, body, idleMs, signal }) => {
      const refusal = refusalOfTarget(target, restrictTo);
      if (refusal) throw refusal;
      const send = () =>
        request(`${origin}${path}`, {
          method,
          headers,
          dispatcher: agent,
          headersTimeout: idleMs,
          bodyTimeout: idleMs,
          ...(signal && { signal }),
          ...(body !== undefined && { body }),
        });
      return tracedWithin(
        () => engineSpan(method),
        async (span) => {
          const { statusCode: status, headers, body } = await send();
          span?.set({ 'http.response.status_code': status });
          return { status, headers, body };
        },
      );
    },
    close: () => agent.destroy(),
  };
}

/**
 * The span of a request until its response starts. Paths contain names of objects, so the span has
 * none.
 */
const engineSpan = (method: string): SpanOptions => ({
  name: `${method} engine`,
  kind: 'client',
  attributes: { 'http.request.method': method, 'peer.service': 'engine' },
});

/** Reads the body of a response. @throws the error of `tooLong` if it has more than `maxBytes` bytes */
export async function readBody(
  body: AsyncIterable<Buffer>,
  { maxBytes, tooLong }: { readonly maxBytes: number; readonly tooLong: () => Error },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
