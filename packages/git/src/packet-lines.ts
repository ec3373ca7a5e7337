import { GitError } from './errors.ts';

/** Ends a response or a part of it. */
export const FLUSH = 'flush';
/** Separates the sections of a response, and the arguments of a request from its command. */
export const DELIMITER = 'delimiter';

/** The data of a packet line, or a special one. */
export type Packet = Buffer | typeof FLUSH | typeof DELIMITER;

const LENGTH_BYTES = 4;
const MAX_LENGTH = 65_520;

/**
 * The packet lines of a response (gitprotocol-common, "pkt-line format"; gitprotocol-v2, "Packet-Line Framing"). Consumers that
 * read many of them work in portions, because a response can consist of millions of empty packets.
 * @throws GitError if the last one is incomplete
 */
export function* packetsIn(data: Buffer): Generator<Packet, void, void> {
  for (let at = 0; at < data.length; ) {
    const length = lengthAt(data, at);
    if (length === 0) yield FLUSH;
    else if (length === 1) yield DELIMITER;
    else if (length < LENGTH_BYTES || length > MAX_LENGTH || at + length > data.length) throw malformed();
    else yield data.subarray(at + LENGTH_BYTES, at + length);
    at += Math.max(length, LENGTH_BYTES);
  }
}

export const malformed = (): GitError =>
  new GitError('The response of the server is incomplete, or not in the format of the git protocol.');

/** The length in four hexadecimal digits; -1 if there are none. */
function lengthAt(data: Buffer, at: number): number {
  let length = 0;
  for (let index = at; index < at + LENGTH_BYTES; index += 1) {
    const digit = hexDigit(data[index]);
    if (digit < 0) return -1;
    length = 16 * length + digit;
  }
  return length;
}

function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/** A line as a packet. The protocol asks for a line break at its end. */
export function packetOf(line: string): string {
  const length = LENGTH_BYTES + Buffer.byteLength(line) + 1;
  return `${length.toString(16).padStart(LENGTH_BYTES, '0')}${line}\n`;
}

/** The special packets in a request. */
export const SPECIAL = { [FLUSH]: '0000', [DELIMITER]: '0001' } as const;

/** The text of a packet without the line break at its end. */
export function lineOf(packet: Buffer): string {
  const text = packet.toString('utf8');
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
