import { randomBytes } from 'node:crypto';
import { createSealer, UnknownKey } from '@svc/database';
import { createTestDatabase } from '@svc/testing';
import type { Database } from '../../src/database/client.ts';
import { encryptionOf } from '../../src/database/encryption.ts';
import { loadSigningKey } from '../../src/identity/sessions/session-tokens.ts';
import { openPatiently } from '../world.ts';

const aKey = (kid: string) => ({ kid, key: new Uint8Array(randomBytes(32)) });
const place = { table: 'secrets', column: 'value', row: '1' };

test('a sealed value can be opened in its place', async () => {
  const sealer = createSealer([aKey('a')]);
  const sealed = await sealer.seal(place, 'grüße, 世界');
  expect(await sealer.open(place, sealed)).toBe('grüße, 世界');
});

test('sealed text does not contain the plain text, and differs each time', async () => {
  const sealer = createSealer([aKey('a')]);
  const one = await sealer.seal(place, 'plain text');
  const other = await sealer.seal(place, 'plain text');
  expect(one).not.toBe(other);
  expect(one).not.toContain('plain text');
  expect(one).not.toContain(Buffer.from('plain text').toString('base64url'));
});

test.each([
  ['row', { ...place, row: '2' }],
  ['column', { ...place, column: 'other' }],
  ['table', { ...place, table: 'other' }],
])('a value that was moved to another %s cannot be opened', async (_, elsewhere) => {
  const sealer = createSealer([aKey('a')]);
  await expect(sealer.open(elsewhere, await sealer.seal(place, 'x'))).rejects.toThrow('decryption operation failed');
});

test.each(['protected', 'encrypted_key', 'iv', 'ciphertext', 'tag'])(
  'a sealed value with another %s cannot be opened',
  async (member) => {
    const sealer = createSealer([aKey('a')]);
    const sealed = JSON.parse(await sealer.seal(place, 'x'));
    const another = JSON.parse(await createSealer([aKey('a')]).seal(place, 'y and more'));
    const changed = JSON.stringify({
      ...sealed,
      [member]: member === 'protected' ? protectedBy('b') : another[member],
    });
    await expect(sealer.open(place, changed)).rejects.toThrow();
  },
);

const protectedBy = (kid: string) =>
  Buffer.from(JSON.stringify({ alg: 'A256KW', enc: 'A256GCM', kid })).toString('base64url');

test('values are sealed with the first key, and opened with the key that sealed them', async () => {
  const old = aKey('old');
  const present = aKey('present');
  const sealedBefore = await createSealer([old]).seal(place, 'before');
  const both = createSealer([present, old]);
  expect(await both.open(place, sealedBefore)).toBe('before');
  expect(await createSealer([present]).open(place, await both.seal(place, 'after'))).toBe('after');
});

test('opening a value with a missing key names the key', async () => {
  const sealed = await createSealer([aKey('lost')]).seal(place, 'x');
  const opening = createSealer([aKey('another')]).open(place, sealed);
  await expect(opening).rejects.toThrow(UnknownKey);
  await expect(opening).rejects.toThrow('ENCRYPTION_KEYS has no key "lost"');
});

test('a value cannot be opened by a key with the right ID and other bytes', async () => {
  const sealed = await createSealer([aKey('same')]).seal(place, 'x');
  await expect(createSealer([aKey('same')]).open(place, sealed)).rejects.toThrow('decryption operation failed');
});

describe('a database with sealed values', () => {
  const withDatabase = async (work: (database: Database) => Promise<void>) => {
    const testDatabase = await createTestDatabase();
    const database = openPatiently(testDatabase.url);
    try {
      await work(database);
    } finally {
      await database.close();
      await testDatabase.drop();
    }
  };

  test('accepts the keys of its first start again, also behind a new one', () =>
    withDatabase(async (database) => {
      const first = aKey('first');
      await encryptionOf(database).check(createSealer([first]));
      await encryptionOf(database).check(createSealer([first]));
      await encryptionOf(database).check(createSealer([aKey('new'), first]));
    }));

  test('rejects keys that do not include its own, and names the missing one', () =>
    withDatabase(async (database) => {
      await encryptionOf(database).check(createSealer([aKey('first')]));
      await expect(encryptionOf(database).check(createSealer([aKey('new')]))).rejects.toThrow('no key "first"');
    }));

  test('rejects a key with the right ID and other bytes', () =>
    withDatabase(async (database) => {
      await encryptionOf(database).check(createSealer([aKey('first')]));
      await expect(encryptionOf(database).check(createSealer([aKey('first')]))).rejects.toThrow(
        'ENCRYPTION_KEYS has a key with the expected id, but it is not the key of this database.',
      );
    }));

  test('has one signing key, whichever replica starts first, with a sealed private half', () =>
    withDatabase(async (database) => {
      const sealer = createSealer([aKey('first')]);
      const loaded = await Promise.all(Array.from({ length: 5 }, () => loadSigningKey(database, sealer)));
      const rows = await database.client.signingKey.findMany();
      expect(rows).toHaveLength(1);
      expect(new Set(loaded.map(({ kid }) => kid))).toEqual(new Set([rows[0]?.kid]));
      expect(rows[0]?.public_jwk).toEqual({ kty: 'OKP', crv: 'Ed25519', x: expect.any(String) });
      expect(JSON.parse(rows[0]?.private_jwk ?? '')).toHaveProperty('ciphertext');
    }));
});
