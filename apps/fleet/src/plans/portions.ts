/** A row, and the bytes that it reads at most. */
export interface Sized {
  readonly id: string;
  readonly bytes: number;
}

/** The number of rows, and of bytes, that one statement reads. A row can have more bytes. */
const ROWS = 100;
const BYTES = 8 * 2 ** 20;

/** The ids of rows in portions, each for one statement. */
export function portionsOf(rows: readonly Sized[]): string[][] {
  const portions: string[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const last = portions.at(-1);
    const isFull = last === undefined || last.length >= ROWS || bytes + row.bytes > BYTES;
    if (isFull) {
      portions.push([row.id]);
      bytes = row.bytes;
    } else {
      last.push(row.id);
      bytes += row.bytes;
    }
  }
  return portions;
}
