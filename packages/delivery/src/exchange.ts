import { type EventEmitter, once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectWithTls } from 'node:tls';

/** A server that receives text over TLS and sends none. */
export interface Receiver {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * PEM. `ca` replaces the authorities that the service trusts; `cert` and `key` are the client
   * certificate.
   */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Milliseconds between the text and the end of the connection. Default: 100. */
  readonly pauseMs?: number | undefined;
}

/** The receiver ended the connection before it had received the text. */
export class EndedEarly extends Error {
  override name = 'EndedEarly';
}

/**
 * The text arrives at the receiver before the end of the connection. A receiver that closes the
 * connection by itself, for example because it stops, is then recognized: it closes before it answers
 * the end, or with an error, because it has not read the text.
 */
const PAUSE_MS = 100;

/**
 * Sends a text on a connection of its own, ends the connection, and waits until the receiver has ended
 * it, too. An empty text tests the connection.
 * @returns whether the receiver has answered the end with a `close_notify` (RFC 5425, section 4.4). It
 *   has then received the text. If it has only closed the socket, it can also have been killed.
 * @throws EndedEarly, the error of the connection, or the reason of the signal
 */
export async function exchange(
  { host, port, tls, pauseMs = PAUSE_MS }: Receiver,
  text: string,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  const wire = new Wire(connect({ host, port }));
  const secure = connectWithTls({ ...tls, host, ...(isIP(host) === 0 ? { servername: host } : {}), socket: wire });
  let isEnding = false;
  const send = async () => {
    await once(secure, 'secureConnect', { signal });
    if (text !== '') await new Promise((resolve) => secure.write(text, resolve));
    await pause(pauseMs, undefined, { signal });
    isEnding = true;
    secure.end();
    await once(secure, 'end', { signal });
    return wire.endsWithAlert;
  };
  const failed = new Promise<never>((_, reject) => {
    for (const stream of [wire, secure] satisfies EventEmitter[]) stream.on('error', reject);
    secure.once('end', () => {
      if (!isEnding) reject(new EndedEarly('The receiver ended the connection.'));
    });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  secure.resume();
  const sent = send();
  sent.catch(() => undefined); // `failed` has the same reason, or an earlier one
  try {
    return await Promise.race([sent, failed]);
  } finally {
    secure.destroy();
    wire.destroy();
  }
}

const ALERT = 21;
const APPLICATION_DATA = 23;
/**
 * The most bytes of an encrypted alert of TLS 1.3, which has the type of application data: the alert,
 * its type, and a tag.
 */
const MAX_ALERT_BYTES = 2 + 1 + 16;
const HEADER_BYTES = 5;

/** A socket below TLS, which recognizes whether the last record from the other side is an alert. */
class Wire extends Duplex {
  readonly #socket: Socket;
  #header: number[] = [];
  /** Bytes of the record that have not arrived. */
  #missing = 0;
  #isAlert = false;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#inspect(chunk);
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
  }

  /** Whether a complete alert came last. */
  get endsWithAlert(): boolean {
    return this.#isAlert && this.#missing === 0 && this.#header.length === 0;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #inspect(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#missing > 0) {
        const part = Math.min(this.#missing, chunk.length - at);
        this.#missing -= part;
        at += part;
      } else {
        this.#header.push(chunk.readUInt8(at));
        at += 1;
        if (this.#header.length === HEADER_BYTES) this.#begin();
      }
    }
  }

  #begin(): void {
    const [type = 0, , , high = 0, low = 0] = this.#header;
    this.#missing = high * 256 + low;
    this.#isAlert = type === ALERT || (type === APPLICATION_DATA && this.#missing <= MAX_ALERT_BYTES);
    this.#header = [];
  }
}
