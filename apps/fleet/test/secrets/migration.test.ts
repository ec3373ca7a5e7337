// Values that were sealed before their rows had the id of the key.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '@svc/database';
import { createEmptyDatabase, createTestDatabase, onServer } from '@svc/testing';
import { exportJWK, generateKeyPair } from 'jose';
import { loadSigningKey } from '../../src/auth/session-tokens.ts';
import { openDatabase } from '../../src/database/client.ts';
import { checkEncryptionKeys, sealedColumns } from '../../src/database/encryption.ts';
import { createSealer, type EncryptionKey } from '../../src/sealing.ts';
import { aKey } from '../process-world.ts';
import { keyOf } from './sealed-rows.ts';

const PRISMA_DIR = path.resolve(import.meta.dirname, '../../../../prisma/fleet');
/** The migration that adds the id. */
const FILLS = /_identity$/;

/** A folder with the migrations before that one. */
function formerMigrations(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fleet-migrations-'));
  const names = fs.readdirSync(path.join(PRISMA_DIR, 'migrations')).sort();
  const former = names.slice(
    0,
    names.findIndex((name) => FILLS.test(name)),
  );
  if (former.length === 0) throw new Error('there is no earlier migration');
  fs.cpSync(PRISMA_DIR, folder, {
    recursive: true,
    filter: (source) => {
      const [, name] = /migrations[/\\](\d+_[^/\\]+)/.exec(source) ?? [];
      return name === undefined || former.includes(name);
    },
  });
  return folder;
}

// Base64 takes three bytes at a time: these ids end at each of the three places, and have every kind of character.
const kids = ['a', 'ab', 'abc', 'Key_2026-11', 'x'.repeat(32)];

test('the ids of the keys of sealed values are found, and the values open', async () => {
  const [{ url, drop }, folder] = [await createEmptyDatabase(), formerMigrations()];
  const database = openDatabase(url, () => undefined);
  try {
    await migrate({ prismaDir: folder, databaseUrl: url });
    const keys = kids.map((kid) => keyOf(aKey(kid)));
    const [first = { kid: '', key: new Uint8Array() }] = keys;
    const canary = await createSealer([first]).seal(
      { table: 'encryption_canary', column: 'sealed', row: '1' },
      'canary',
    );
    await onServer(url, async (client) => {
      await client.query('INSERT INTO encryption_canary (sealed) VALUES ($1)', [canary]);
      for (const key of keys) {
        await client.query(
          'INSERT INTO signing_keys (kid, public_jwk, private_jwk, retired_at) VALUES ($1, $2, $3, $4)',
          await aFormerSigningKey(key, key === first ? null : new Date()),
        );
      }
    });

    await migrate({ prismaDir: PRISMA_DIR, databaseUrl: url });
    await checkEncryptionKeys(database, createSealer(keys));
    expect((await loadSigningKey(database, createSealer([first]))).kid).toBe(`signing-${first.kid}`);
    const [found, rows] = await onServer(url, async (client) => [
      (await client.query('SELECT sealed_with FROM encryption_canary')).rows,
      (await client.query('SELECT kid, sealed_with FROM signing_keys')).rows,
    ]);
    expect(found).toEqual([{ sealed_with: first.kid }]);
    expect(Object.fromEntries(rows.map(({ kid, sealed_with }) => [kid, sealed_with]))).toEqual(
      Object.fromEntries(kids.map((kid) => [`signing-${kid}`, kid])),
    );
    for (const { kid } of keys) {
      const others = createSealer(keys.filter((key) => key.kid !== kid));
      await expect(checkEncryptionKeys(database, others)).rejects.toThrow(`no key "${kid}"`);
    }
  } finally {
    await database.close();
    await drop();
    fs.rmSync(folder, { recursive: true });
  }
});

/** The values of a row of a signing key as they were before the migration. */
async function aFormerSigningKey(key: EncryptionKey, retiredAt: Date | null) {
  const kid = `signing-${key.kid}`;
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const place = { table: 'signing_keys', column: 'private_jwk', row: kid };
  const sealed = await createSealer([key]).seal(place, JSON.stringify(await exportJWK(privateKey)));
  return [kid, await exportJWK(publicKey), sealed, retiredAt];
}

test('every table with sealed values has a column for the id of their key', async () => {
  const { url, drop } = await createTestDatabase();
  const tables = await onServer(url, async (client) => {
    const { rows } = await client.query(
      `SELECT table_name FROM information_schema.columns WHERE column_name = 'sealed_with' ORDER BY 1`,
    );
    return rows.map(({ table_name }) => table_name);
  });
  await drop();
  expect(tables).toEqual(sealedColumns.map(({ table }) => table).sort());
});
