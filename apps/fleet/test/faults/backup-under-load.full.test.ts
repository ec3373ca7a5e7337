// A backup while the fleet serves writes, and its restore into an empty database.
import path from 'node:path';
import { migrate } from '@svc/database';
import { createEmptyDatabase, onServer } from '@svc/testing';
import { moreAcknowledged, patientUrl, queryOn, startLoad, statusesOf } from '@svc/testing/faults';
import { openLedger } from './identity-ledger.ts';
import { anAdminToken, prepareFleetFaults } from './identity-world.ts';

const { aDatabase, aFleet, closers } = prepareFleetFaults();
const prismaDir = path.resolve(import.meta.dirname, '../../../../prisma/fleet');
const SOME_WRITES = 40;

type Dump = ReadonlyMap<string, string>;

/**
 * All rows, read in one transaction with one snapshot, as `pg_dump` reads them. @returns JSON by
 * table
 */
const dump = (databaseUrl: string): Promise<Dump> =>
  onServer(databaseUrl, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY 1`,
    );
    const tables = new Map<string, string>();
    for (const { name } of rows) {
      const table = client.escapeIdentifier(name);
      const found = await client.query(`SELECT coalesce(json_agg(t), '[]')::text AS json FROM ${table} t`);
      tables.set(name, found.rows[0].json);
    }
    await client.query('COMMIT');
    return tables;
  });

/** Stores the rows in a new database, without triggers, and sets the sequences. @returns its URL */
async function restore(tables: Dump): Promise<string> {
  const { url, drop } = await createEmptyDatabase();
  closers.push(drop);
  await migrate({ prismaDir, databaseUrl: url });
  await onServer(url, async (client) => {
    await client.query('SET session_replication_role = replica');
    for (const [name, json] of tables) {
      const table = client.escapeIdentifier(name);
      await client.query(`DELETE FROM ${table}`);
      await client.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(null::${table}, $1)`, [json]);
    }
    const { rows } = await client.query<{ table: string; column: string }>(
      `SELECT table_name AS table, column_name AS column FROM information_schema.columns
       WHERE table_schema = 'public' AND (is_identity = 'YES' OR column_default LIKE 'nextval(%')`,
    );
    for (const { table, column } of rows) {
      const from = client.escapeIdentifier(table);
      const name = client.escapeIdentifier(column);
      const next = `SELECT coalesce(max(${name}), 0) + 1 FROM ${from}`;
      await client.query(`SELECT setval(pg_get_serial_sequence($1, $2), (${next}), false)`, [table, column]);
    }
  });
  return url;
}

test('a restored backup has everything that was acknowledged before it, and a fleet serves it', async () => {
  const databaseUrl = patientUrl(await aDatabase());
  const first = await aFleet({ databaseUrl });
  const secret = await anAdminToken(databaseUrl);
  const url = () => first.url;
  const before = openLedger({ url, secret });
  const during = openLedger({ url, secret });
  const load = startLoad([during.writer('a'), during.writer('b')], { pauseMs: 1 });
  const writer = before.writer('before');
  for (let count = 1; count <= SOME_WRITES; count++) expect([200, 201]).toContain((await writer()).status);
  const atBegin = during.acknowledged();
  const backup = await dump(databaseUrl);
  await moreAcknowledged(during, SOME_WRITES); // what is written after the backup is not in it
  await load.stop();
  expect(statusesOf(load.seen)).toEqual([200, 201]);
  expect(atBegin).toBeGreaterThan(0);
  first.child.kill('SIGTERM');
  await first.ended;

  const restored = await restore(backup);
  expect(await before.lost(queryOn(restored))).toEqual([]);
  expect(await before.misrecorded(queryOn(restored))).toEqual([]);
  expect((await during.lost(queryOn(restored))).length).toBeGreaterThan(0);
  const again = await aFleet({ databaseUrl: patientUrl(restored) });
  const after = openLedger({ url: () => again.url, secret });
  const load2 = startLoad([after.writer('after'), after.reader('/api/v1/tokens')]);
  await moreAcknowledged(after, SOME_WRITES);
  await load2.stop();
  expect(statusesOf(load2.seen)).toEqual([200, 201]);
  expect(await after.lost(queryOn(restored))).toEqual([]);
});
