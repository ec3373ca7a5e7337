// The command as a process of the built program: next to a running fleet, killed, and rejected.
import { rotateKeys } from '../../src/commands/rotate-keys.ts';
import { createToken } from '../../src/commands/tokens.ts';
import { encryptionOf, sealedColumns } from '../../src/database/encryption.ts';
import { aKey, startProcessWorld } from '../process-world.ts';
import { openSealedRows, sealerOf } from '../secrets/sealed-rows.ts';
import { whileSessionIsLocked } from './locked-session.ts';

const former = aKey('former');
const next = aKey('next');
const keys = { ENCRYPTION_KEYS: `${next},${former}` };
const world = await startProcessWorld();
const rows = openSealedRows(world.database.url);
const { database } = rows;

let fleet: Awaited<ReturnType<typeof world.startFleet>>;
beforeAll(async () => {
  fleet = await world.startFleet(keys);
});
beforeEach(() => rows.fill(sealerOf(former)));
afterAll(async () => {
  await world.endAll();
  await rows.stop();
  await world.database.drop();
});

const start = () => world.run(['rotate-keys'], { DATABASE_URL: world.database.url, ...keys });

test('rotate-keys prints a line for each column, while a fleet with all keys serves as before', async () => {
  const before = await rows.opened(sealerOf(next, former));
  const { secret } = await createToken({ name: 'x', role: 'admin' })(database);
  const settings = async () => {
    const answer = await fleet.get('/api/v1/settings/hub', secret);
    return { status: answer.status, body: await answer.json() };
  };
  const shown = await settings();
  expect(shown.status).toBe(200);
  const { ended, output } = await whileSessionIsLocked(database, start, async () => {
    expect(await settings()).toEqual(shown);
  });
  expect(await ended).toBe(0);
  const lines = sealedColumns.map(({ table, column }) =>
    expect.stringMatching(new RegExp(`^${table}\\.${column}: \\d+ sealed with next$`)),
  );
  expect(output().trim().split('\n')).toEqual(lines);
  expect(await settings()).toEqual(shown);
  await world.stop(fleet);
  expect(await rows.keysInUse()).toEqual(['next']);
  expect(await rows.opened(sealerOf(next))).toEqual(before);
  await encryptionOf(database).check(sealerOf(next)); // the check that a fleet makes at its start
});

test('after a rotation was killed in the middle, the next one completes it', async () => {
  const before = await rows.opened(sealerOf(next, former));
  await whileSessionIsLocked(database, start, async ({ child, ended }) => {
    child.kill('SIGKILL');
    await ended;
  });
  expect(await rows.keysInUse()).toEqual(['former', 'next']);
  await rotateKeys(database, sealerOf(next, former));
  expect(await rows.keysInUse()).toEqual(['next']);
  expect(await rows.opened(sealerOf(next))).toEqual(before);
});

test('a fleet without an encryption key that is in use does not start, and names the key', async () => {
  const refused = world.run([], { DATABASE_URL: world.database.url, ENCRYPTION_KEYS: next, PORT: '0' });
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain('ENCRYPTION_KEYS has no key "former"');
});
