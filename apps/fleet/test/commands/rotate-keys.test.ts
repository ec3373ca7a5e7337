import { setTimeout as pause } from 'node:timers/promises';
import { sealedColumns } from '../../src/database/sealed-columns.ts';
import type { Prisma } from '../../src/generated/prisma/client.ts';
import { aKey, startProcessWorld } from '../process-world.ts';
import { keyOf, openSealedRows, sealedIn, sealerOf } from '../secrets/sealed-rows.ts';

const world = await startProcessWorld();
const { startFleet, query, stop } = world;
/** The key of the database, until a test exchanges it for another. */
let present = aKey('first');
await stop(await startFleet({ ENCRYPTION_KEYS: present }));
const rows = openSealedRows(world.database.url);
const { client } = rows.database;

beforeEach(() => rows.fill(sealerOf(present)));
afterEach(() => world.endAll());
afterAll(async () => {
  await rows.stop();
  await world.database.drop();
});

const start = (...keys: readonly string[]) =>
  world.run(['rotate-keys'], { DATABASE_URL: world.database.url, ENCRYPTION_KEYS: keys.join(',') });
const rotate = async (...keys: readonly string[]) => {
  const { ended, output } = start(...keys);
  return { code: await ended, lines: output().trim().split('\n') };
};

interface Middle {
  readonly rotation: ReturnType<typeof start>;
  /** Sees the row that the rotation waits for. */
  readonly transaction: Prisma.TransactionClient;
  readonly id: string;
}

/** Begins a rotation, and does something while it waits for a session in the middle. */
async function inTheMiddle(keys: readonly string[], act: (middle: Middle) => Promise<unknown>) {
  const sessions = await client.session.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
  const { id } = sessions[Math.floor(sessions.length / 2)] ?? { id: '' };
  const own = `database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  return client.$transaction(
    async (transaction) => {
      await transaction.$queryRaw`SELECT FROM sessions WHERE id = ${id}::uuid FOR UPDATE`;
      const rotation = start(...keys);
      while (
        (
          await query(`SELECT FROM pg_locks l WHERE NOT granted AND pid IN (
        SELECT pid FROM pg_locks WHERE ${own})`)
        ).length === 0
      )
        await pause(10);
      await act({ rotation, transaction, id });
      return rotation;
    },
    { timeout: 20_000 },
  );
}

test('everything is sealed anew with the first key, opens as before, and the former key can go', async () => {
  const [before, next] = [await rows.opened(sealerOf(present)), aKey('second')];
  expect(new Set((await sealedIn(rows.database)).map(({ column }) => column))).toEqual(new Set(sealedColumns));
  const { code, lines } = await rotate(next, present);
  expect(code).toBe(0);
  present = next;
  const lineOf = ({ table, column }: (typeof sealedColumns)[number]) => {
    const count = table === 'encryption_canary' ? '0' : '[1-9]\\d*'; // the check of the keys, which comes first, moves it
    return expect.stringMatching(new RegExp(`^${table}\\.${column}: ${count} sealed with second$`));
  };
  expect(lines).toEqual(sealedColumns.map(lineOf));
  expect(await rows.keysInUse()).toEqual(['second']);
  expect(await rows.opened(sealerOf(next))).toEqual(before);
  await stop(await startFleet({ ENCRYPTION_KEYS: next }));
});

test('done again it does nothing', async () => {
  const before = await sealedIn(rows.database);
  const { code, lines } = await rotate(present);
  expect(code).toBe(0);
  expect(lines.filter((line) => !line.includes(': 0 sealed'))).toEqual([]);
  expect(await sealedIn(rows.database)).toEqual(before);
});

test('killed in the middle it has done a part, and goes on from there', async () => {
  const [before, next] = [await rows.opened(sealerOf(present)), aKey('third')];
  await inTheMiddle([next, present], async ({ rotation: { child, ended } }) => {
    child.kill('SIGKILL');
    await ended;
  });
  expect(await rows.keysInUse()).toEqual([keyOf(present).kid, 'third'].sort());
  expect((await rotate(next, present)).code).toBe(0);
  expect(await rows.keysInUse()).toEqual(['third']);
  expect(await rows.opened(sealerOf(next))).toEqual(before);
  present = next;
});

test('a value that is changed or removed in the middle stays so', async () => {
  const next = aKey('fourth');
  let changed = '';
  const { ended } = await inTheMiddle([next, present], async ({ transaction, id }) => {
    const provider_token = await sealerOf(next).seal({ table: 'sessions', column: 'provider_token', row: id }, 'newer');
    await transaction.session.update({ where: { id }, data: { provider_token, sealed_with: 'fourth' } });
    await transaction.session.deleteMany({ where: { id: { gt: id } } });
    changed = id;
  });
  expect(await ended).toBe(0);
  const opened = await rows.opened(sealerOf(next));
  expect(opened).toContainEqual({ place: `sessions.provider_token ${changed}`, plaintext: 'newer' });
  expect(await client.session.count({ where: { id: { gt: changed } } })).toBe(0);
  present = next;
});

test('a fleet with all the keys answers as before while it is done, and afterwards', async () => {
  const next = aKey('fifth');
  const fleet = await startFleet({ ENCRYPTION_KEYS: `${next},${present}` });
  const { secret } = await world.createToken('admin');
  const settings = async () => {
    const answer = await fleet.get('/api/v1/settings/hub', secret);
    return { status: answer.status, body: await answer.json() };
  };
  const before = await settings();
  expect(before.status).toBe(200);
  const { ended } = await inTheMiddle([next, present], async () => expect(await settings()).toEqual(before));
  expect(await ended).toBe(0);
  expect(await settings()).toEqual(before);
  await stop(fleet);
  present = next;
});

describe('a key that something is sealed with', () => {
  test('can’t be left out: the start is refused with its name, and so is the rotation', async () => {
    const next = aKey('sixth');
    expect((await rotate(next, present)).code).toBe(0);
    const former = present;
    present = next;
    await rows.fill(sealerOf(former));
    const named = expect.stringContaining(`ENCRYPTION_KEYS has no key "${keyOf(former).kid}"`);
    const refused = world.run([], { DATABASE_URL: world.database.url, ENCRYPTION_KEYS: next, PORT: '0' });
    expect([await refused.ended, refused.output()]).toEqual([1, named]);
    expect(await rotate(next)).toEqual({ code: 1, lines: [named] });
    expect((await rotate(next, former)).code).toBe(0);
    await stop(await startFleet({ ENCRYPTION_KEYS: next }));
  });

  test.each([
    ['the former', () => [aKey('next'), aKey(keyOf(present).kid)]],
    ['the first', () => [aKey(keyOf(present).kid)]],
  ])('is known by its bytes: with others for %s nothing is touched', async (_, keys) => {
    const before = await sealedIn(rows.database);
    const { code, lines } = await rotate(...keys());
    expect({ code, lines }).toEqual({ code: 1, lines: [expect.stringContaining('has a key of the right name, but')] });
    expect(await sealedIn(rows.database)).toEqual(before);
  });
});

test.each([
  [
    'row',
    `UPDATE sessions a SET provider_token = b.provider_token FROM sessions b
           WHERE a.id = (SELECT min(id::text)::uuid FROM sessions) AND b.id <> a.id`,
    'sessions.provider_token of ',
  ],
  ['column', `UPDATE settings SET sealed = (SELECT sealed FROM sign_in_transactions)`, 'settings.sealed of hub'],
])('a value that was moved to another %s is not sealed anew, and is named', async (elsewhere, move, place) => {
  await query(move);
  const next = aKey(`after-${elsewhere}`);
  const { code, lines } = await rotate(next, present);
  expect({ code, lines }).toEqual({ code: 1, lines: [expect.stringContaining(place)] });
  await rows.fill(sealerOf(present));
  expect((await rotate(next, present)).code).toBe(0);
  present = next;
});
