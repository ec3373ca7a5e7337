import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { type OutboundAllowance, refusalOfTarget, refusingConnector } from './outbound.ts';

/** One target that is called again and again, and how. */
export interface DialOptions {
  /** `https://host:port`, `http://host:port`, or `unix:///path` for a local socket. */
  readonly target: URL;
  /** As for `createOutbound`: left out where the target is the operator's word. */
  readonly restrictTo?: ReadonlySet<OutboundAllowance> | undefined;
  /** In PEM: whom to trust, where it is not who the system trusts, and who is calling, where a certificate says it. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
}

export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds until the answer begins, and for which its body may stand still; 0 is for ever. */
  readonly idleMs: number;
  /** Ends the exchange, its body included. */
  readonly signal?: AbortSignal;
}

/** An answer that has begun. */
export interface Streaming {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** To be read to its end, or destroyed. */
  readonly body: Readable;
}

export interface Dialled {
  exchange(exchange: Exchange): Promise<Streaming>;
  close(): Promise<void>;
}

/**
 * Exchanges with one target whose answers are streams: how much of them is read is the caller's to bound. What is not
 * called is refused as `createOutbound` refuses it: by the address, and by where the socket ends.
 */
export function dial({ target, restrictTo, tls }: DialOptions): Dialled {
  const isSocket = target.protocol === 'unix:';
  const socket = isSocket ? { socketPath: decodeURIComponent(target.pathname) } : {};
  const agent = new Agent({ connect: refusingConnector(restrictTo, { ...tls, ...socket }), keepAliveTimeout: 4000 });
  const origin = isSocket ? 'http://localhost' : target.origin;
  return {
    exchange: async ({ method, path, headers = {}, body, idleMs, signal }) => {
      const refusal = refusalOfTarget(target, restrictTo);
      if (refusal) throw refusal;
      const { statusCode, ...answer } = await request(`${origin}${path}`, {
        method,
        headers,
        dispatcher: agent,
        headersTimeout: idleMs,
        bodyTimeout: idleMs,
        ...(signal && { signal }),
        ...(body !== undefined && { body }),
      });
      return { status: statusCode, headers: answer.headers, body: answer.body };
    },
    close: () => agent.destroy(),
  };
}
