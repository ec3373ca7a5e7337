import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { MAX_COMPRESSED_BYTES } from './special-reply.ts';

/** The sizes of bodies that are compressed. A larger one would occupy a thread for long. */
const MIN_BYTES = 1024;

/**
 * The compressions of a process at the same time, which leave threads of Node to other work. Other
 * responses are sent uncompressed meanwhile, so that no response waits for another one.
 */
const MAX_CONCURRENT = 2;

type Coding = 'br' | 'gzip';

const compress: Readonly<Record<Coding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => promisify(gzip)(body),
};

/** The compressed forms of bodies that several responses share. */
const shared = new WeakMap<Buffer, Map<Coding, Promise<Buffer>>>();
let running = 0;

export interface Compressed {
  readonly body: Buffer;
  readonly coding: Coding;
}

/** Whether the body has a size that is compressed, and the client may accept a coding. */
export function mayCompress({ headers }: IncomingMessage, body: string | Buffer = ''): boolean {
  if (headers['accept-encoding'] === undefined) return false;
  const size = Buffer.byteLength(body);
  return size >= MIN_BYTES && size <= MAX_COMPRESSED_BYTES;
}

/** The body in the best coding that the client accepts; undefined if it is better sent as it is. */
export async function compressedFor(req: IncomingMessage, body: string | Buffer): Promise<Compressed | undefined> {
  if (!mayCompress(req, body)) return undefined;
  const coding = codingOf(req.headers['accept-encoding']);
  if (coding === undefined) return undefined;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const known = shared.get(bytes) ?? new Map<Coding, Promise<Buffer>>();
  const compressed = known.get(coding) ?? start(coding, bytes);
  if (compressed === undefined) return undefined;
  shared.set(bytes, known.set(coding, compressed));
  return { body: await compressed, coding };
}

function start(coding: Coding, bytes: Buffer): Promise<Buffer> | undefined {
  if (running >= MAX_CONCURRENT) return undefined;
  running += 1;
  return compress[coding](bytes).finally(() => {
    running -= 1;
  });
}

/**
 * The preferred coding that `Accept-Encoding` names, without one of quality 0 (RFC 9110, section
 * 12.5.3).
 */
function codingOf(accepted = ''): Coding | undefined {
  const codings = accepted
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((each) => each.trim()));
  const accepts = (coding: Coding) =>
    codings.some(([name, weight = '']) => name === coding && !/^q=0(?:\.0*)?$/.test(weight));
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : undefined;
}
