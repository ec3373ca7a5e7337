import { type Finding, failed, type HealthCheck, ok } from '@svc/http';
import { z } from 'zod';
import type { StatementQuery } from '../audit-order.ts';
import { type Sealer, UnknownKey } from './sealer.ts';

// The sealed values of a database. Each table that has some also has the column `key_id`, the id of the key. The table
// `encryption_canary` has one value, with which a start recognizes the keys of the database.

/** A column with sealed values. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The key column of the table. */
  readonly key: string;
}

const CANARY_LOCATION = { table: 'encryption_canary', column: 'sealed', row: '1' };
const CANARY = 'canary';

/** The column of the canary. It is one of the columns of each database. */
export const canaryColumn = { table: 'encryption_canary', column: 'sealed', key: 'id' } as const satisfies SealedColumn;

/** The values that are sealed again at a time. */
const BATCH = 100;

const key = z.object({ key_id: z.string() });
const canaryRow = key.extend({ sealed: z.string() });
const sealedValue = z.object({ row: z.string(), sealed: z.string() });

export interface Encryption {
  /**
   * Checks at start that the configured encryption keys belong to this database and are complete. The
   * first start stores the canary. The first start with a new first key seals the canary with it, so
   * that all later starts need that key.
   *
   * @throws UnknownKey for a missing key; Error for a key with the expected id but another value
   */
  check(sealer: Sealer): Promise<void>;
  /**
   * Checks that the key that currently encrypts is configured in this replica. It is not if another
   * replica started with a new first key before this one knew the key. @throws UnknownKey
   */
  checkCurrent(sealer: Sealer): Promise<void>;
  /**
   * Checks the configured encryption keys like `check`, without a change.
   * @returns the ids of the keys that are in use; undefined if no service has used the database yet
   */
  inspect(sealer: Sealer): Promise<readonly string[] | undefined>;
  /** The ids of all keys with which values are sealed. */
  keysInUse(): Promise<readonly string[]>;
  /**
   * Encrypts all sealed values again with the first key. Afterwards, no other key is in use. If it is
   * interrupted, the next call continues. The service can run at the same time if it has all keys.
   * @returns one line per column with the number of values
   * @throws Error if the keys do not belong to this database, because replicas could not decrypt the
   * result
   */
  rotate(sealer: Sealer): Promise<readonly string[]>;
}

/** The operations on all sealed values of a database. `columns` are all columns that contain some. */
export function createEncryption(query: StatementQuery, columns: readonly SealedColumn[]): Encryption {
  const rowsOf = async <T>(schema: z.ZodType<T>, sql: string, ...values: readonly unknown[]): Promise<T[]> =>
    z.array(schema).parse(await query(sql, ...values));
  const keysInUse = async () => {
    const each = columns.map(({ table }) => `SELECT key_id FROM ${table} WHERE key_id IS NOT NULL`);
    return (await rowsOf(key, each.join(' UNION '))).map(({ key_id }) => key_id);
  };
  const readCanary = async () =>
    (await rowsOf(canaryRow, 'SELECT key_id, sealed FROM encryption_canary WHERE id = 1'))[0];
  const openCanary = async (sealer: Sealer) => {
    const canary = await readCanary();
    if (!canary) return undefined;
    await sealer.open(CANARY_LOCATION, canary.sealed).catch((cause: unknown) => {
      if (cause instanceof UnknownKey) throw cause;
      throw new Error('ENCRYPTION_KEYS has a key with the expected id, but it is not the key of this database.', {
        cause,
      });
    });
    return canary;
  };
  const requireAll = async (sealer: Sealer) => {
    const used = await keysInUse();
    for (const kid of used) if (!sealer.knows(kid)) throw new UnknownKey(kid);
    return used;
  };
  const check = async (sealer: Sealer) => {
    const sealed = await sealer.seal(CANARY_LOCATION, CANARY);
    await query(
      'INSERT INTO encryption_canary (id, sealed, key_id) VALUES (1, $1, $2) ON CONFLICT DO NOTHING',
      ...[sealed, sealer.kid],
    );
    const found = await openCanary(sealer);
    await requireAll(sealer);
    if (!found || found.key_id === sealer.kid) return;
    await query(
      'UPDATE encryption_canary SET sealed = $1, key_id = $2 WHERE id = 1 AND sealed = $3',
      ...[sealed, sealer.kid, found.sealed],
    );
    await openCanary(sealer); // another replica can have replaced it first
  };
  const rotateColumn = async (sealer: Sealer, { table, column, key: keyColumn }: SealedColumn) => {
    const read = () =>
      rowsOf(
        sealedValue,
        `SELECT ${keyColumn}::text AS row, ${column} AS sealed FROM ${table}
         WHERE key_id <> $1 ORDER BY ${keyColumn} LIMIT ${BATCH}`,
        sealer.kid,
      );
    let rotated = 0;
    for (let values = await read(); values.length > 0; values = await read()) {
      for (const { row, sealed } of values) {
        const location = { table, column, row };
        const opened = await sealer.open(location, sealed).catch((cause: unknown) => {
          throw new Error(`${table}.${column} of ${row} cannot be decrypted: the value was changed or moved.`, {
            cause,
          });
        });
        const replaced = await rowsOf(
          z.unknown(),
          // Unless it has changed.
          `UPDATE ${table} SET ${column} = $1, key_id = $2 WHERE ${keyColumn}::text = $3 AND ${column} = $4 RETURNING 1`,
          ...[await sealer.seal(location, opened), sealer.kid, row, sealed],
        );
        rotated += replaced.length;
      }
    }
    return rotated;
  };
  return {
    keysInUse,
    check,
    checkCurrent: async (sealer) => {
      const canary = await readCanary();
      if (canary && !sealer.knows(canary.key_id)) throw new UnknownKey(canary.key_id);
    },
    inspect: async (sealer) => ((await openCanary(sealer)) ? requireAll(sealer) : undefined),
    rotate: async (sealer) => {
      await check(sealer);
      const lines: string[] = [];
      for (const column of columns) {
        const count = await rotateColumn(sealer, column);
        lines.push(`${column.table}.${column.column}: ${count} sealed with ${sealer.kid}`);
      }
      return lines;
    },
  };
}

/** Whether a running service has the key that currently encrypts. */
export async function encryptionHealth(encryption: Encryption, sealer: Sealer): Promise<HealthCheck> {
  try {
    await encryption.checkCurrent(sealer);
    return { name: 'encryption keys', state: 'ok' };
  } catch (error) {
    if (!(error instanceof UnknownKey)) throw error;
    return { name: 'encryption keys', state: 'failed', detail: error.message };
  }
}

/** The finding of `doctor` about the keys of a database. */
export async function encryptionFinding(encryption: Encryption, sealer: Sealer, service: string): Promise<Finding> {
  try {
    const used = await encryption.inspect(sealer);
    if (used === undefined) return ok(`No ${service} has used this database yet.`);
    return ok(`The keys open the values of this database, which are encrypted with ${used.join(', ')}.`);
  } catch (error) {
    return failed(
      error instanceof Error ? error.message : String(error),
      'Set ENCRYPTION_KEYS to the keys of this database, all of them. docs/backup.md states what to do if they are lost.',
    );
  }
}
