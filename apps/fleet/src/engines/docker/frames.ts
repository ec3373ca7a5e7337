import { notAnEngine } from '../unreachable.ts';

const HEADER = 8;
const STREAMS = 3;

/** A piece of what a container wrote, and where: 1 is its output, 2 its errors. */
export interface Piece {
  readonly stream: number;
  readonly bytes: Buffer;
}

/**
 * Takes apart the frames in which engines send two streams as one: the stream, three zeros, the length in four bytes, and
 * what was written. Nothing but a header is ever kept.
 */
export async function* piecesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece, void, void> {
  let header = Buffer.alloc(0);
  let frame = { stream: 0, left: 0 };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (frame.left === 0) {
        const part = chunk.subarray(at, at + HEADER - header.length);
        header = Buffer.concat([header, part]);
        at += part.length;
        if (header.length < HEADER) break;
        frame = frameOf(header);
        header = Buffer.alloc(0);
        continue;
      }
      const bytes = chunk.subarray(at, at + frame.left);
      at += bytes.length;
      frame = { ...frame, left: frame.left - bytes.length };
      yield { stream: frame.stream, bytes };
    }
  }
}

function frameOf(header: Buffer) {
  const [stream = 0, ...zeros] = header.subarray(0, 4);
  if (stream >= STREAMS || zeros.some((zero) => zero !== 0)) throw notAnEngine();
  return { stream, left: header.readUInt32BE(4) };
}
