// Values that were sealed before the key's id stood beside them.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '@svc/database';
import { createEmptyDatabase, onServer } from '@svc/testing';
import { loadSigningKey } from '../../src/auth/signing-keys.ts';
import { checkEncryptionKeys } from '../../src/database/canary.ts';
import { openDatabase } from '../../src/database/client.ts';
import { sealedColumns } from '../../src/database/sealed-columns.ts';
import { createSealer } from '../../src/sealing.ts';
import { aKey } from '../process-world.ts';
import { keyOf } from './sealed-rows.ts';

const PRISMA_DIR = path.resolve(import.meta.dirname, '../../../../prisma/fleet');
/** The migration from which on it does. */
const FILLS = /_identity$/;

/** The migrations before that one, in a folder of their own. */
function formerMigrations(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fleet-migrations-'));
  const names = fs.readdirSync(path.join(PRISMA_DIR, 'migrations')).sort();
  const former = names.slice(
    0,
    names.findIndex((name) => FILLS.test(name)),
  );
  if (former.length === 0) throw new Error('no migration is former');
  fs.cpSync(PRISMA_DIR, folder, {
    recursive: true,
    filter: (source) => {
      const [, name] = /migrations[/\\](\d+_[^/\\]+)/.exec(source) ?? [];
      return name === undefined || former.includes(name);
    },
  });
  return folder;
}

// The ids end in every place of the three bytes that base64 takes at once, and hold every kind of character.
test.each(['a', 'ab', 'abc', 'Key_2026-11', 'x'.repeat(32)])('of a key called %s are found, and open', async (kid) => {
  const [{ url, drop }, folder] = [await createEmptyDatabase(), formerMigrations()];
  const database = openDatabase(url, () => undefined);
  try {
    await migrate({ prismaDir: folder, databaseUrl: url });
    const key = keyOf(aKey(kid));
    const sealer = createSealer([key]);
    const canary = await sealer.seal({ table: 'encryption_canary', column: 'sealed', row: '1' }, 'canary');
    const signing = await aFormerSigningKey(sealer);
    await onServer(url, async (client) => {
      await client.query('INSERT INTO encryption_canary (sealed) VALUES ($1)', [canary]);
      await client.query('INSERT INTO signing_keys (kid, public_jwk, private_jwk) VALUES ($1, $2, $3)', signing.active);
      await client.query(
        'INSERT INTO signing_keys (kid, public_jwk, private_jwk, retired_at) VALUES ($1, $2, $3, now())',
        signing.retired,
      );
    });

    await migrate({ prismaDir: PRISMA_DIR, databaseUrl: url });
    await checkEncryptionKeys(database, sealer);
    expect((await loadSigningKey(database, sealer)).kid).toBe(signing.active[0]);
    const kids = await onServer(url, async (client) => {
      const tables = ['encryption_canary', 'signing_keys', 'signing_keys'].map(
        (table) => `SELECT sealed_with FROM ${table}`,
      );
      return (await client.query(tables.join(' UNION ALL '))).rows.map(({ sealed_with }) => sealed_with);
    });
    expect(kids).toEqual(Array(5).fill(kid));
    await expect(checkEncryptionKeys(database, createSealer([keyOf(aKey('another'))]))).rejects.toThrow(
      `no key "${kid}"`,
    );
  } finally {
    await database.close();
    await drop();
    fs.rmSync(folder, { recursive: true });
  }
});

/** Rows of signing keys as they were made then. */
async function aFormerSigningKey(sealer: ReturnType<typeof createSealer>) {
  const { generateKeyPair, exportJWK } = await import('jose');
  const row = async (kid: string) => {
    const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
    const place = { table: 'signing_keys', column: 'private_jwk', row: kid };
    return [kid, await exportJWK(publicKey), await sealer.seal(place, JSON.stringify(await exportJWK(privateKey)))];
  };
  return { active: await row('active'), retired: await row('retired') };
}

test('every column of sealed values says with which key, wherever it says so', async () => {
  const { url, drop } = await createEmptyDatabase();
  await migrate({ prismaDir: PRISMA_DIR, databaseUrl: url });
  const tables = await onServer(url, async (client) => {
    const { rows } = await client.query(
      `SELECT table_name FROM information_schema.columns WHERE column_name = 'sealed_with' ORDER BY 1`,
    );
    return rows.map(({ table_name }) => table_name);
  });
  await drop();
  expect(tables).toEqual(sealedColumns.map(({ table }) => table).sort());
});
