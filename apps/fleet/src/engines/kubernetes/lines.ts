const EMPTY = Buffer.alloc(0);

/** The lines of a stream of bytes, each cut where it is longer than `most` bytes. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, most: number): AsyncGenerator<string, void, void> {
  const textOf = (rest: Buffer, last: Buffer) => Buffer.concat([rest, last]).subarray(0, most).toString('utf8');
  let rest = EMPTY;
  for await (const bytes of chunks) {
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      yield textOf(rest, bytes.subarray(from, end));
      rest = EMPTY;
      from = end + 1;
    }
    rest = Buffer.concat([rest, bytes.subarray(from)]).subarray(0, most);
  }
  if (rest.length > 0) yield textOf(rest, EMPTY);
}
