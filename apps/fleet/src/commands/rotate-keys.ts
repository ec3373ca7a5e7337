import { writeCommandEntry } from '../audit/entries.ts';
import type { Database } from '../database/client.ts';
import {
  checkEncryptionKeys,
  readSealedWithOtherKeys,
  replaceSealed,
  type SealedColumn,
  sealedColumns,
} from '../database/encryption.ts';
import type { Sealer } from '../database/sealing.ts';

const BATCH = 100;

/**
 * Encrypts all sealed values again with the first key. Afterwards, no other key is in use. If it is
 * interrupted, the next call continues. The fleet can run at the same time if it has all keys.
 * @returns one line per column with the number of values
 * @throws Error if the keys do not belong to this database, because replicas could not decrypt the
 * result
 */
export async function rotateKeys(database: Database, sealer: Sealer): Promise<readonly string[]> {
  await checkEncryptionKeys(database, sealer);
  const lines: string[] = [];
  for (const column of sealedColumns) {
    const count = await rotateColumn(database, sealer, column);
    lines.push(`${column.table}.${column.column}: ${count} sealed with ${sealer.kid}`);
  }
  await writeCommandEntry(database.client, 'rotate-keys');
  return lines;
}

async function rotateColumn(database: Database, sealer: Sealer, column: SealedColumn): Promise<number> {
  const options = { kid: sealer.kid, limit: BATCH };
  let rotated = 0;
  for (let values = await readSealedWithOtherKeys(database, column, options); values.length > 0; ) {
    for (const { row, sealed } of values) {
      const location = { table: column.table, column: column.column, row };
      const opened = await sealer.open(location, sealed).catch((cause: unknown) => {
        throw new Error(
          `${column.table}.${column.column} of ${row} cannot be decrypted: the value was changed or moved.`,
          {
            cause,
          },
        );
      });
      const after = await sealer.seal(location, opened);
      rotated += await replaceSealed(database, column, { row, before: sealed, after, kid: sealer.kid });
    }
    values = await readSealedWithOtherKeys(database, column, options);
  }
  return rotated;
}
