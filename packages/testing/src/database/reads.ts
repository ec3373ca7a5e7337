import pg from 'pg';

/** The rows and bytes that databases sent to this process while some work ran. */
export interface Read<T> {
  readonly result: T;
  readonly rows: number;
  readonly bytes: number;
}

interface Query {
  handleDataRow(message: { readonly length: number }): void;
}

/** Counts what the clients of `pg` in this process read. The works of a test run one by one. */
export function countingReads() {
  let rows = 0;
  let bytes = 0;
  // The types of pg do not describe how it receives rows.
  const query = pg.Query.prototype as unknown as Query;
  const { handleDataRow } = query;
  query.handleDataRow = function (this: Query, message) {
    rows += 1;
    bytes += message.length;
    handleDataRow.call(this, message);
  };
  return {
    of: async <T>(work: () => Promise<T>): Promise<Read<T>> => {
      const before = { rows, bytes };
      const result = await work();
      return { result, rows: rows - before.rows, bytes: bytes - before.bytes };
    },
    stop: () => {
      query.handleDataRow = handleDataRow;
    },
  };
}
