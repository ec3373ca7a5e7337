interface JsonLines<Row> {
  /** Reads the first rows after a row, or the first rows of all. A page with fewer than `pageRows` is the last one. */
  readonly readAfter: (row: Row | undefined) => Promise<readonly Row[]>;
  readonly pageRows: number;
  /** What a line contains. */
  readonly present: (row: Row) => unknown;
}

/** The lines of a stream of JSON lines, a page at a time, so that only one page is in memory. */
export async function* jsonLines<Row>({ readAfter, pageRows, present }: JsonLines<Row>): AsyncGenerator<string> {
  let page = await readAfter(undefined);
  while (page.length > 0) {
    yield page.map((row) => `${JSON.stringify(present(row))}\n`).join('');
    page = page.length < pageRows ? [] : await readAfter(page.at(-1));
  }
}
