import type { Database } from '../database/client.ts';
import {
  checkEncryptionKeys,
  replaceSealed,
  type SealedColumn,
  sealedColumns,
  sealedOtherwise,
} from '../database/encryption.ts';
import type { Sealer } from '../sealing.ts';

const BATCH = 100;

/**
 * Seals everything anew with the first key, value by value: interrupted, it goes on the next time. Afterwards no other key is
 * in use. A fleet may run meanwhile, as long as it has all the keys.
 * @returns what was done, a line for each column
 * @throws for keys that are not this database's: what they sealed would open nowhere
 */
export async function rotateKeys(database: Database, sealer: Sealer): Promise<readonly string[]> {
  await checkEncryptionKeys(database, sealer);
  const lines: string[] = [];
  for (const column of sealedColumns) {
    const count = await rotateColumn(database, sealer, column);
    lines.push(`${column.table}.${column.column}: ${count} sealed with ${sealer.kid}`);
  }
  return lines;
}

async function rotateColumn(database: Database, sealer: Sealer, column: SealedColumn): Promise<number> {
  const wanted = { kid: sealer.kid, limit: BATCH };
  let rotated = 0;
  for (let values = await sealedOtherwise(database, column, wanted); values.length > 0; ) {
    for (const { row, sealed } of values) {
      const place = { table: column.table, column: column.column, row };
      const opened = await sealer.open(place, sealed).catch((cause: unknown) => {
        throw new Error(`${column.table}.${column.column} of ${row} does not open: it was changed, or moved.`, {
          cause,
        });
      });
      const after = await sealer.seal(place, opened);
      rotated += await replaceSealed(database, column, { row, before: sealed, after, kid: sealer.kid });
    }
    values = await sealedOtherwise(database, column, wanted);
  }
  return rotated;
}
