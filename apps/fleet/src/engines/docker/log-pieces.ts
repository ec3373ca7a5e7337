const NEWLINE = 10;

/** A part of the output of a container. Stream 1 is stdout, stream 2 is stderr. */
export interface Piece {
  readonly stream: number;
  readonly bytes: Buffer;
  /** Whether a frame begins with it. */
  readonly isStart: boolean;
}

/** How much of a log has been read: the bytes of each stream. */
export interface Position {
  readonly offsets: Map<number, number>;
  /** How the log began, so that a log that the engine has emptied meanwhile is recognized. */
  beginning: Piece | undefined;
}

export const atStart = (): Position => ({ offsets: new Map(), beginning: undefined });

const MAX_BEGINNING = 64;

const beginningOf = ({ bytes, ...rest }: Piece): Piece => ({
  ...rest,
  bytes: Buffer.from(bytes.subarray(0, MAX_BEGINNING)),
});

function beginsLike(piece: Piece, beginning: Piece): boolean {
  const length = Math.min(piece.bytes.length, beginning.bytes.length);
  return (
    piece.stream === beginning.stream && piece.bytes.subarray(0, length).equals(beginning.bytes.subarray(0, length))
  );
}

/** Reads a log to its end. @returns the position before its last `tail` lines */
export async function positionOfTail(pieces: AsyncIterable<Piece>, tail: number): Promise<Position> {
  const position = atStart();
  const { offsets } = position;
  const starts: { readonly stream: number; readonly offset: number }[] = [];
  const unfinished = new Set<number>();
  let count = 0;
  for await (const piece of pieces) {
    const { stream, bytes } = piece;
    position.beginning ??= beginningOf(piece);
    const offset = offsets.get(stream) ?? 0;
    for (let from = 0; from < bytes.length; ) {
      if (!unfinished.has(stream) && tail > 0) starts[count % tail] = { stream, offset: offset + from };
      if (!unfinished.has(stream)) count += 1;
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) unfinished.add(stream);
      else unfinished.delete(stream);
      from = end < 0 ? bytes.length : end + 1;
    }
    offsets.set(stream, offset + bytes.length);
  }
  for (const { stream, offset } of starts) offsets.set(stream, Math.min(offset, offsets.get(stream) ?? offset));
  return position;
}

/** The pieces of a log after a position, which moves with them. */
export async function* piecesAfter(
  pieces: AsyncIterable<Piece>,
  position: Position,
): AsyncGenerator<Piece, void, void> {
  const { offsets } = position;
  const skipped = new Map(offsets);
  let isFirst = true;
  for await (const piece of pieces) {
    const { stream } = piece;
    if (isFirst && position.beginning && !beginsLike(piece, position.beginning)) {
      skipped.clear();
      offsets.clear();
    }
    if (isFirst) position.beginning = beginningOf(piece);
    isFirst = false;
    const left = skipped.get(stream) ?? 0;
    const bytes = piece.bytes.subarray(left);
    skipped.set(stream, Math.max(0, left - piece.bytes.length));
    offsets.set(stream, (offsets.get(stream) ?? 0) + bytes.length);
    if (bytes.length > 0) yield { ...piece, bytes, isStart: piece.isStart && left === 0 };
  }
}

const SPACE = 32;

/**
 * Removes the times within lines: Podman begins each frame with the time, also one that continues a
 * line.
 */
export async function* withoutInnerTimes(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void, void> {
  const unfinished = new Set<number>();
  const within = new Set<number>();
  for await (const piece of pieces) {
    const { stream } = piece;
    if (piece.isStart && unfinished.has(stream)) within.add(stream);
    const end = within.has(stream) ? piece.bytes.indexOf(SPACE) : -1;
    const isTime = within.has(stream) && end < 0;
    if (end >= 0) within.delete(stream);
    const bytes = isTime ? piece.bytes.subarray(piece.bytes.length) : piece.bytes.subarray(end + 1);
    if (bytes.length === 0) continue;
    if (bytes.at(-1) === NEWLINE) unfinished.delete(stream);
    else unfinished.add(stream);
    yield { ...piece, bytes };
  }
}
