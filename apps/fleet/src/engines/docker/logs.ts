import { notAnEngine, Permanent } from '../errors.ts';
import { type LogOptions, MAX_LINE, MOST_LINES } from '../observation.ts';
import type { DockerClient } from './client.ts';
import { containersOf } from './containers.ts';

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

/**
 * What a container of a deployment has written, line by line. A line is cut where it is too long; whoever stops reading
 * ends it.
 *
 * @throws Permanent where the deployment has no container of that name
 */
export async function* logs(
  client: DockerClient,
  { deploymentId, name }: { readonly deploymentId: string; readonly name: string },
  { tail = MOST_LINES, since, follow = false, signal }: LogOptions = {},
): AsyncGenerator<string, void, void> {
  const view = client.within(signal);
  const found = (await containersOf(view, deploymentId)).find((container) => container.name === name);
  if (!found) throw new Permanent('InvalidSpec', `There is no container ${name} of this deployment.`);
  const chunks = await view.open({
    path: `/containers/${found.id}/logs`,
    query: {
      stdout: 'true',
      stderr: 'true',
      tail: String(Math.min(tail, MOST_LINES)),
      ...(since && { since: String(Math.floor(since.getTime() / 1000)) }),
      ...(follow && { follow: 'true' }),
    },
    // An engine that follows says nothing, not even that it has begun, until something is written.
    idleMs: follow ? 0 : client.timing.answer,
  });
  yield* linesOf(piecesOf(chunks));
}

/** Lines, each of one stream: what is written to both at once is not mixed up. */
async function* linesOf(pieces: AsyncIterable<Piece>): AsyncGenerator<string, void, void> {
  const rests = new Map<number, Buffer>();
  for await (const { stream, bytes } of pieces) {
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      yield textOf(rests.get(stream), bytes.subarray(from, end));
      rests.delete(stream);
      from = end + 1;
    }
    const rest = Buffer.concat([rests.get(stream) ?? EMPTY, bytes.subarray(from)]);
    if (rest.length > 0) rests.set(stream, rest.subarray(0, MAX_LINE));
  }
  for (const rest of rests.values()) yield textOf(rest, EMPTY);
}

const EMPTY = Buffer.alloc(0);

const textOf = (rest: Buffer | undefined, last: Buffer): string =>
  Buffer.concat([rest ?? EMPTY, last])
    .subarray(0, MAX_LINE)
    .toString('utf8')
    .replace(/\r$/, '');
