import { once } from 'node:events';
import fs from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Issued } from './authority.ts';

interface ReceiverOptions {
  readonly issued: Issued;
  /** Default: a free port. */
  readonly port?: number;
  /** The file of the authority of client certificates, which are then required. */
  readonly clientAuthority?: string;
  /** Receives each complete message before more is read. Default: it is kept in `messages`. */
  readonly onMessage?: (message: string) => void;
  /** Treats a connection, instead of reading its messages. */
  readonly onConnection?: (socket: TLSSocket) => void;
}

/** What a connection has sent when it ended. */
interface Batch {
  readonly messages: number;
  readonly bytes: number;
}

export interface SyslogReceiver {
  readonly port: number;
  /** In the order of their arrival. */
  readonly messages: readonly string[];
  /** The connections with messages that have ended. */
  readonly batches: readonly Batch[];
  /** The largest number of connections that sent messages at the same time. */
  mostSenders(): number;
  /** Stops listening, and resets all connections. */
  stop(): Promise<void>;
}

/** A receiver of syslog with TLS and the framing of RFC 5425, on a loopback address. */
export async function startSyslogReceiver({ issued, port = 0, ...options }: ReceiverOptions): Promise<SyslogReceiver> {
  const messages: string[] = [];
  const batches: Batch[] = [];
  const sockets = new Set<Socket>();
  const senders = new Set<TLSSocket>();
  let mostSenders = 0;
  const { clientAuthority, onMessage = (message) => void messages.push(message) } = options;
  const read = (socket: TLSSocket) => {
    let rest: Buffer = Buffer.alloc(0);
    let count = 0;
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      senders.add(socket);
      mostSenders = Math.max(mostSenders, senders.size);
      bytes += chunk.length;
      const found = framesIn(Buffer.concat([rest, chunk]));
      rest = found.rest;
      count += found.messages.length;
      for (const message of found.messages) onMessage(message);
    });
    socket.on('end', () => {
      if (bytes > 0) batches.push({ messages: count, bytes });
    });
    socket.on('close', () => senders.delete(socket));
  };
  const server = createServer(
    {
      cert: fs.readFileSync(issued.certificate),
      key: fs.readFileSync(issued.key),
      ...(clientAuthority === undefined ? {} : { ca: fs.readFileSync(clientAuthority), requestCert: true }),
    },
    (socket) => {
      socket.on('error', ignore);
      (options.onConnection ?? read)(socket);
    },
  );
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', ignore));
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', ignore);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port, // a server that listens on a port has one
    messages,
    batches,
    mostSenders: () => mostSenders,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
  };
}

const ignore = () => undefined;
const SPACE = 0x20;

/** The complete messages of a stream: each has its length in bytes and a space before it. */
function framesIn(stream: Buffer): { readonly messages: string[]; readonly rest: Buffer } {
  const messages: string[] = [];
  let rest = stream;
  for (let space = rest.indexOf(SPACE); space > 0; space = rest.indexOf(SPACE)) {
    const end = space + 1 + Number(rest.toString('latin1', 0, space));
    if (!(end <= rest.length)) break;
    messages.push(rest.toString('utf8', space + 1, end));
    rest = rest.subarray(end);
  }
  return { messages, rest };
}
