import { setTimeout } from 'node:timers/promises';
import { notAnEngine, Permanent, withoutPreviousLog } from '../errors.ts';
import { type LogOptions, MAX_LINE, MAX_LINES } from '../observation.ts';
import type { DockerClient } from './client.ts';
import { type FoundContainer, findContainers } from './containers.ts';
import { atStart, type Piece, piecesAfter, positionOfTail, withoutInnerTimes } from './log-pieces.ts';
import { isJob } from './plan.ts';

const HEADER = 8;
const STREAMS = 3;

/**
 * Demultiplexes the frames of the Docker Engine API: one byte for the stream, three zero bytes, the
 * length as a 32-bit big-endian integer, and the payload. Only headers are buffered.
 */
export async function* piecesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece, void, void> {
  let header = Buffer.alloc(0);
  let frame = { stream: 0, left: 0, isStart: true };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (frame.left === 0) {
        const part = chunk.subarray(at, at + HEADER - header.length);
        header = Buffer.concat([header, part]);
        at += part.length;
        if (header.length < HEADER) break;
        frame = { ...frameOf(header), isStart: true };
        header = Buffer.alloc(0);
        continue;
      }
      const { stream, isStart } = frame;
      const bytes = chunk.subarray(at, at + frame.left);
      at += bytes.length;
      frame = { stream, left: frame.left - bytes.length, isStart: false };
      yield { stream, bytes, isStart };
    }
  }
}

function frameOf(header: Buffer) {
  const [stream = 0, ...zeros] = header.subarray(0, 4);
  if (stream >= STREAMS || zeros.some((zero) => zero !== 0)) throw notAnEngine();
  return { stream, left: header.readUInt32BE(4) };
}

interface LoggedInstance {
  readonly deploymentId: string;
  readonly name: string;
}

/**
 * Yields the log of a container line by line. Lines are truncated to `MAX_LINE` bytes. The stream
 * is closed when the consumer stops.
 *
 * @throws Permanent if the deployment has no container with this name, or if it has no previous log
 */
export async function* logs(
  client: DockerClient,
  instance: LoggedInstance,
  options: LogOptions = {},
): AsyncGenerator<string, void, void> {
  const view = client.withSignal(options.signal);
  const found = await findContainer(view, instance);
  if (!found) throw new Permanent('InvalidSpec', `This deployment has no container ${instance.name}.`);
  // An engine appends to the log of a container that it starts again. A time before 1970 means
  // never.
  if (options.previous && !(found.details.State.FinishedAt > 0)) throw withoutPreviousLog(instance.name);
  options.onFound?.();
  const read = client.address.engine === 'podman' ? readFromPodman : readFromDocker;
  yield* read(view, { instance, found, options });
}

const findContainer = async (client: DockerClient, { deploymentId, name }: LoggedInstance) =>
  (await findContainers(client, deploymentId)).find((container) => container.name === name);

interface LogRequest {
  readonly instance: LoggedInstance;
  readonly found: FoundContainer;
  readonly options: LogOptions;
}

async function* readFromDocker(
  client: DockerClient,
  { instance, found, options }: LogRequest,
): AsyncGenerator<string, void, void> {
  let container: FoundContainer | undefined = found;
  let { since, tail = MAX_LINES } = options;
  while (container) {
    yield* linesOf(await open(client, container, { ...options, since }, Math.min(tail, MAX_LINES)));
    container = await nextRun(client, instance, { container, options });
    since = container && new Date(container.details.State.StartedAt);
    tail = MAX_LINES;
  }
}

/**
 * Podman confuses the parts of lines that the container wrote in several parts, if the last lines
 * are requested. The whole log, whose size the fleet limits, is correct.
 */
async function* readFromPodman(
  client: DockerClient,
  { instance, found, options }: LogRequest,
): AsyncGenerator<string, void, void> {
  const { tail = MAX_LINES, follow = false, timestamps = false } = options;
  const limit = Math.min(tail, MAX_LINES);
  let container: FoundContainer | undefined = found;
  let position = await positionOfTail(await open(client, container, { ...options, follow: false }), limit);
  let left = follow ? Number.POSITIVE_INFINITY : limit; // the container can have written more lines meanwhile
  while (container && left > 0) {
    const pieces = piecesAfter(await open(client, container, options), position);
    for await (const line of linesOf(timestamps ? withoutInnerTimes(pieces) : pieces)) {
      yield line;
      left -= 1;
      if (left === 0) return;
    }
    const { id }: FoundContainer = container;
    container = await nextRun(client, instance, { container, options });
    if (container?.id !== id) position = atStart();
  }
}

/** Requests the log of a container; without `tail`, all of it. */
async function open(
  client: DockerClient,
  { id, details }: FoundContainer,
  { since, follow, timestamps, previous }: LogOptions,
  tail: number | 'all' = 'all',
): Promise<AsyncGenerator<Piece, void, void>> {
  const chunks = await client.open({
    path: `/containers/${id}/logs`,
    query: {
      stdout: 'true',
      stderr: 'true',
      tail: String(tail),
      ...(since && { since: String(Math.floor(since.getTime() / 1000)) }),
      ...(follow && { follow: 'true' }),
      ...(timestamps && { timestamps: 'true' }),
      // The time has milliseconds, and a line has more digits.
      ...(previous && { until: ((details.State.FinishedAt + 1) / 1000).toFixed(3) }),
    },
    // When following a log, the engine sends nothing, not even response headers, until the
    // container writes.
    idleMs: follow ? 0 : client.timing.answer,
  });
  return piecesOf(chunks);
}

/**
 * Waits until a container whose followed log has ended is started again, or another one is started
 * in its place. @returns undefined if the log is not followed, or nothing is started any more
 */
async function nextRun(
  client: DockerClient,
  instance: LoggedInstance,
  { container, options }: { readonly container: FoundContainer; readonly options: LogOptions },
): Promise<FoundContainer | undefined> {
  const { follow = false, continues = async () => false, signal } = options;
  while (follow && (await continues())) {
    const found = await findContainer(client, instance);
    const { Running, StartedAt } = found?.details.State ?? {};
    const isSame = found?.id === container.id && StartedAt === container.details.State.StartedAt;
    if (found && !isSame && (StartedAt ?? 0) > 0) return found;
    if (found && isSame && !Running && isJob(found.details.HostConfig)) return undefined;
    await setTimeout(client.timing.restart, undefined, { signal });
  }
  return undefined;
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
