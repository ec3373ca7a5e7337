import { createTestDatabase } from '@svc/testing';
import { rotateKeys } from '../../src/commands/rotate-keys.ts';
import { encryptionOf, sealedColumns } from '../../src/database/encryption.ts';
import { loadSigningKey } from '../../src/identity/sessions/session-tokens.ts';
import { aKey } from '../process-world.ts';
import { openSealedRows, sealedIn, sealerOf } from '../secrets/sealed-rows.ts';
import { whileSessionIsLocked } from './locked-session.ts';

const testDatabase = await createTestDatabase();
const rows = openSealedRows(testDatabase.url);
const { database } = rows;
const { client } = database;

const former = aKey('former');
const next = aKey('next');

/** Each column has values that are sealed with the former key. */
beforeEach(async () => {
  await client.$executeRaw`DELETE FROM encryption_canary`;
  await client.$executeRaw`DELETE FROM signing_keys`;
  await rows.fill(sealerOf(former));
  await encryptionOf(database).check(sealerOf(former));
  await loadSigningKey(database, sealerOf(former));
});
afterAll(async () => {
  await rows.stop();
  await testDatabase.drop();
});

const rotate = (...keys: readonly string[]) => rotateKeys(database, sealerOf(...keys));

test('rotate-keys seals each value with the first key, and the former key is no longer needed', async () => {
  const before = await rows.opened(sealerOf(former));
  expect(new Set((await sealedIn(database)).map(({ column }) => column))).toEqual(new Set(sealedColumns));
  const lines = await rotate(next, former);
  const lineOf = ({ table, column }: (typeof sealedColumns)[number]) => {
    // The canary of the keys is already sealed.
    const count = table === 'encryption_canary' ? '0' : '[1-9]\\d*';
    return expect.stringMatching(new RegExp(`^${table}\\.${column}: ${count} sealed with next$`));
  };
  expect(lines).toEqual(sealedColumns.map(lineOf));
  expect(await rows.keysInUse()).toEqual(['next']);
  expect(await rows.opened(sealerOf(next))).toEqual(before);
  await encryptionOf(database).check(sealerOf(next));
  await loadSigningKey(database, sealerOf(next));
});

test('a second run of rotate-keys changes nothing', async () => {
  await rotate(next, former);
  const before = await sealedIn(database);
  const lines = await rotate(next);
  expect(lines.filter((line) => !line.includes(': 0 sealed'))).toEqual([]);
  expect(await sealedIn(database)).toEqual(before);
});

test('rotate-keys keeps a value that is changed or deleted during the rotation', async () => {
  let changed = '';
  const { rotation } = await whileSessionIsLocked(
    database,
    () => ({ rotation: rotate(next, former) }),
    async (_, { transaction, id }) => {
      const place = { table: 'sessions', column: 'provider_token', row: id };
      const provider_token = await sealerOf(next).seal(place, 'newer');
      await transaction.session.update({ where: { id }, data: { provider_token, key_id: 'next' } });
      await transaction.session.deleteMany({ where: { id: { gt: id } } });
      changed = id;
    },
  );
  await rotation;
  const opened = await rows.opened(sealerOf(next));
  expect(opened).toContainEqual({ place: `sessions.provider_token ${changed}`, plaintext: 'newer' });
  expect(await client.session.count({ where: { id: { gt: changed } } })).toBe(0);
});

test.each([
  ['without the former key', [next], 'ENCRYPTION_KEYS has no key "former"'],
  ['with other bytes for the former key', [aKey('next'), aKey('former')], 'has a key with the expected id, but'],
  ['with other bytes for the only key', [aKey('former')], 'has a key with the expected id, but'],
])('%s, rotate-keys fails and changes nothing', async (_, keys, message) => {
  const before = await sealedIn(database);
  await expect(rotate(...keys)).rejects.toThrow(message);
  expect(await sealedIn(database)).toEqual(before);
});

test.each([
  [
    'row',
    `UPDATE sessions a SET provider_token = b.provider_token FROM sessions b
     WHERE a.id = (SELECT min(id::text)::uuid FROM sessions) AND b.id <> a.id`,
    'sessions.provider_token of ',
  ],
  ['column', `UPDATE settings SET sealed = (SELECT sealed FROM sign_in_transactions)`, 'settings.sealed of hub'],
])('rotate-keys does not seal a value that was moved to another %s, and the error names it', async (_, move, place) => {
  await client.$executeRawUnsafe(move);
  await expect(rotate(next, former)).rejects.toThrow(place);
});
