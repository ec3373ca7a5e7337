import { notAnEngine, Permanent, withoutPreviousLog } from '../errors.ts';
import { type LogOptions, MAX_LINE, MAX_LINES } from '../observation.ts';
import type { DockerClient } from './client.ts';
import { findContainers } from './containers.ts';

const HEADER = 8;
const STREAMS = 3;

/** A part of the output of a container. Stream 1 is stdout, stream 2 is stderr. */
export interface Piece {
  readonly stream: number;
  readonly bytes: Buffer;
}

/**
 * Demultiplexes the frames of the Docker Engine API: one byte for the stream, three zero bytes, the
 * length as a 32-bit big-endian integer, and the payload. Only headers are buffered.
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
 * Yields the log of a container line by line. Lines are truncated to `MAX_LINE` bytes. The stream
 * is closed when the consumer stops.
 *
 * @throws Permanent if the deployment has no container with this name, or if it has no previous log
 */
export async function* logs(
  client: DockerClient,
  { deploymentId, name }: { readonly deploymentId: string; readonly name: string },
  { tail = MAX_LINES, since, follow = false, timestamps = false, previous = false, signal }: LogOptions = {},
): AsyncGenerator<string, void, void> {
  const view = client.withSignal(signal);
  const found = (await findContainers(view, deploymentId)).find((container) => container.name === name);
  if (!found) throw new Permanent('InvalidSpec', `This deployment has no container ${name}.`);
  // An engine appends to the log of a container that it starts again. A time before 1970 means
  // never.
  const { FinishedAt } = found.details.State;
  if (previous && !(FinishedAt > 0)) throw withoutPreviousLog(name);
  const chunks = await view.open({
    path: `/containers/${found.id}/logs`,
    query: {
      stdout: 'true',
      stderr: 'true',
      tail: String(Math.min(tail, MAX_LINES)),
      ...(since && { since: String(Math.floor(since.getTime() / 1000)) }),
      ...(follow && { follow: 'true' }),
      ...(timestamps && { timestamps: 'true' }),
      // The time has milliseconds, and a line has more digits.
      ...(previous && { until: ((FinishedAt + 1) / 1000).toFixed(3) }),
    },
    // When following a log, the engine sends nothing, not even response headers, until the
    // container writes.
    idleMs: follow ? 0 : client.timing.answer,
  });
  yield* linesOf(piecesOf(chunks));
}

/**
 * Splits each stream into lines separately, so that concurrent output to both streams is not mixed
 * within a line.
 */
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
