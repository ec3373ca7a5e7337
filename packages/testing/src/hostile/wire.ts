import { connect, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { scaled } from '../run/deadlines.ts';

/** A response that was read from a socket. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface WireRequest {
  readonly bytes: Buffer;
  /** The response has no body, regardless of its Content-Length. */
  readonly headOnly: boolean;
  /** The sending side is closed after the bytes, also if the request is incomplete. */
  readonly cut: boolean;
}

/** The time limit for a response. It is much longer than responses take. */
const TIMEOUT_MS = scaled(20_000);

/** A client that sends bytes unchanged, on one connection until the server closes it. */
export function openWire(port: number) {
  let socket: Socket | undefined;
  const close = () => {
    socket?.destroy();
    socket = undefined;
  };
  return {
    /**
     * Resolves to the first response, or to undefined if the connection ends without one.
     * @throws after 20 s without data
     */
    send: async ({ bytes, headOnly, cut }: WireRequest): Promise<WireResponse | undefined> => {
      if (!socket || socket.destroyed) socket = connect({ port, host: '127.0.0.1', noDelay: true });
      const reading = readResponse(socket, headOnly);
      if (cut) socket.end(bytes);
      else socket.write(bytes);
      const response = await reading;
      if (!response || cut || response.headers.connection === 'close') close();
      return response;
    },
    /** Closes the connection. The next request uses a new one. */
    close,
  };
}

function readResponse(socket: Socket, headOnly: boolean): Promise<WireResponse | undefined> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const finish = (response: WireResponse | undefined) => {
      socket.removeAllListeners();
      socket.on('error', () => undefined); // the next request detects a broken connection
      socket.setTimeout(0);
      resolve(response && decompressed(response));
    };
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const response = parseResponse(received, { headOnly, ended: false });
      if (response) finish(response);
    });
    socket.once('close', () => finish(parseResponse(received, { headOnly, ended: true })));
    socket.on('error', () => undefined); // followed by close
    socket.setTimeout(TIMEOUT_MS, () => {
      socket.destroy();
      reject(
        new Error(`no response after ${TIMEOUT_MS / 1000} s, only ${JSON.stringify(received.toString('latin1'))}`),
      );
    });
  });
}

interface Reading {
  readonly headOnly: boolean;
  /** The connection has ended. */
  readonly ended: boolean;
}

/** The first final response in these bytes, or undefined while it is incomplete. */
function parseResponse(bytes: Buffer, reading: Reading): WireResponse | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [start = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const rest = bytes.subarray(end + 4);
  const status = Number(start.split(' ')[1]);
  if (status < 200) return parseResponse(rest, reading);
  const headers: Record<string, string> = {};
  for (const line of lines) headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 2);
  if (reading.headOnly || status === 204 || status === 304) return { status, headers, body: Buffer.alloc(0) };
  if (headers['transfer-encoding'] === 'chunked') {
    const body = unchunked(rest);
    return body && { status, headers, body };
  }
  const length = headers['content-length'];
  if (length === undefined) return reading.ended ? { status, headers, body: rest } : undefined;
  return rest.length < Number(length) ? undefined : { status, headers, body: rest.subarray(0, Number(length)) };
}

/** The response without its content coding (RFC 9110, section 8.4). */
function decompressed(response: WireResponse): WireResponse {
  const { headers, body } = response;
  if (body.length === 0) return response;
  if (headers['content-encoding'] === 'br') return { ...response, body: brotliDecompressSync(body) };
  return headers['content-encoding'] === 'gzip' ? { ...response, body: gunzipSync(body) } : response;
}

/** Decodes a chunked body (RFC 9112, section 7.1); undefined while it is incomplete. */
function unchunked(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const data = bytes.indexOf('\r\n', at) + 2;
    if (data < 2) return undefined;
    const end = data + Number.parseInt(bytes.toString('latin1', at, data), 16);
    if (bytes.length < end + 2) return undefined;
    if (end === data) return Buffer.concat(parts);
    parts.push(bytes.subarray(data, end));
    at = end + 2;
  }
  return undefined;
}
