import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface WireRequest {
  readonly bytes: Buffer;
  /** Its answer has no body, whatever its Content-Length says. */
  readonly headOnly: boolean;
  /** Nothing comes after the bytes, although they may promise more: the sending half is closed. */
  readonly cut: boolean;
}

/** A bound for what would wait for ever, far from what an answer takes. */
const SILENCE_MS = 20_000;

/** A client that sends bytes as they are, over one kept connection as long as the other side keeps it. */
export function openWire(port: number) {
  let socket: Socket | undefined;
  const close = () => {
    socket?.destroy();
    socket = undefined;
  };
  return {
    /** Resolves to the first answer, or undefined when the connection ended without one. @throws after 20 s of silence */
    send: async ({ bytes, headOnly, cut }: WireRequest): Promise<WireAnswer | undefined> => {
      if (!socket || socket.destroyed) socket = connect({ port, host: '127.0.0.1', noDelay: true });
      const answer = readAnswer(socket, headOnly);
      if (cut) socket.end(bytes);
      else socket.write(bytes);
      const found = await answer;
      if (!found || cut || found.headers.connection === 'close') close();
      return found;
    },
    /** The next request gets a new connection. */
    close,
  };
}

function readAnswer(socket: Socket, headOnly: boolean): Promise<WireAnswer | undefined> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const finish = (answer: WireAnswer | undefined) => {
      socket.removeAllListeners();
      socket.on('error', () => undefined); // what it is good for shows at the next request
      socket.setTimeout(0);
      resolve(answer);
    };
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const answer = parseAnswer(received, { headOnly, ended: false });
      if (answer) finish(answer);
    });
    socket.once('close', () => finish(parseAnswer(received, { headOnly, ended: true })));
    socket.on('error', () => undefined); // followed by close
    socket.setTimeout(SILENCE_MS, () => {
      socket.destroy();
      reject(new Error(`no answer after ${SILENCE_MS / 1000} s, only ${JSON.stringify(received.toString('latin1'))}`));
    });
  });
}

interface Reading {
  readonly headOnly: boolean;
  /** No more bytes will come. */
  readonly ended: boolean;
}

/** The first final answer in these bytes, once it is there as a whole. */
function parseAnswer(bytes: Buffer, reading: Reading): WireAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [start = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const rest = bytes.subarray(end + 4);
  const status = Number(start.split(' ')[1]);
  if (status < 200) return parseAnswer(rest, reading);
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

/** The body that comes in chunks (RFC 9112, section 7.1); undefined while its end is not there. */
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
