import { randomUUID } from 'node:crypto';
import { byDepth, createTestDatabase } from '@svc/testing';
import pg from 'pg';
import { startWorld } from '../world.ts';

const database = await createTestDatabase();
const world = await startWorld({ database });
const { client } = world.database;
const admin = await world.aUser('admin');
const connections: pg.Client[] = [];
afterAll(async () => {
  for (const connection of connections) await connection.end();
  await world.stop();
});

const EXPORT = '/api/v1/admin/audit/export';
const START = Date.parse('2026-03-01T00:00:00.000Z');

interface Line {
  readonly id: string;
  readonly path: string;
  readonly request_id: string;
  readonly cursor: string;
}

const linesOf = (text: string): Line[] => {
  if (text !== '') expect(text.at(-1)).toBe('\n');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};
const exported = async (query: string): Promise<Line[]> => {
  const { status, text } = await admin.get(`${EXPORT}?${query}`);
  expect(status).toBe(200);
  return linesOf(text);
};
const idsOf = (lines: readonly { readonly id: string }[]) => lines.map(({ id }) => id);

async function aConnection(): Promise<pg.Client> {
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  connections.push(connection);
  return connection;
}

/** Writes an entry. @returns its id */
async function insert(connection: pg.Client, path: string, number = 0): Promise<string> {
  const { rows } = await connection.query<{ id: string }>(
    `INSERT INTO audit_entries (id, email, method, path, status, request_id)
     VALUES (gen_random_uuid(), 'writer@example.test', 'PUT', $1, 200, $2) RETURNING id`,
    [path, `${number}`],
  );
  return rows.map(({ id }) => id).join('');
}

/** More than two of the pages in which the export reads entries, three in each millisecond. */
const written = Array.from({ length: 2100 }, (_, index) => ({
  id: randomUUID(),
  at: new Date(START + Math.floor(index / 3)),
  user_id: randomUUID(),
  token_id: null,
  email: `user${index % 2}@example.test`,
  method: index % 3 === 0 ? 'POST' : 'PUT',
  path: '/of/a/version/without/numbers \u2028"',
  status: 200,
  request_id: `r${index}`,
  object_id: index % 4 === 0 ? randomUUID() : null,
  source: '192.0.2.1',
}));
await client.auditEntry.createMany({ data: written });
// As the migration leaves the entries of earlier versions.
await client.$executeRaw`ALTER TABLE audit_entries DISABLE TRIGGER audit_refuse_change`;
await client.$executeRaw`UPDATE audit_entries SET seq = 0`;
await client.$executeRaw`ALTER TABLE audit_entries ENABLE TRIGGER audit_refuse_change`;
const byTime = [...written].sort((a, b) => a.at.getTime() - b.at.getTime() || (a.id < b.id ? -1 : 1));
const span = `from=${new Date(START).toISOString()}&to=${new Date(START + 1000).toISOString()}`;

test('the export has one line for each audit entry, newest first, in the format of the list', async () => {
  const { headers } = await admin.get(`${EXPORT}?${span}`);
  expect(headers['content-type']).toBe('application/x-ndjson');
  const lines = await exported(span);
  expect(lines).toEqual(byTime.toReversed().map((entry) => ({ ...entry, at: entry.at.toISOString() })));
  const { body } = await admin.get(`/api/v1/admin/audit?${span}&limit=1000`);
  expect(lines.slice(0, 1000)).toEqual(body.entries);
  const ofOne = await exported(`${span}&email=user1@example.test`);
  expect(idsOf(ofOne)).toEqual(idsOf(lines.filter(({ request_id }) => Number(request_id.slice(1)) % 2 === 1)));
});

test('with a cursor, entries of earlier versions come first, then others as they were recorded, and each line continues', async () => {
  const connection = await aConnection();
  const recorded = [await insert(connection, '/a'), await insert(connection, '/b'), await insert(connection, '/c')];
  const all = await exported('cursor=start');
  expect(idsOf(all)).toEqual([...idsOf(byTime), ...recorded]);
  for (const index of [0, 999, 1500, 2098, 2099, 2100, all.length - 1]) {
    const rest = await exported(`cursor=${all[index]?.cursor}`);
    expect(idsOf(rest)).toEqual(idsOf(all.slice(index + 1)));
  }
  const filtered = await exported(`cursor=${all[10]?.cursor}&path=/b`);
  expect(idsOf(filtered)).toEqual(recorded.slice(1, 2));
});

/** The cursor of the last entry. */
const lastCursor = async () => (await exported('cursor=start')).at(-1)?.cursor ?? 'start';

test('an export with a cursor waits for an entry that was recorded earlier and commits later', async () => {
  const cursor = await lastCursor();
  const [late, other] = [await aConnection(), await aConnection()];
  await late.query('BEGIN');
  const first = await insert(late, '/late');
  const second = await insert(other, '/other');
  expect(idsOf(await exported('path=/other'))).toEqual([second]); // it is visible
  const exporting = exported(`cursor=${cursor}`);
  await other.query('SELECT pg_sleep(0.05)'); // the export must not end meanwhile
  await late.query('COMMIT');
  expect(idsOf(await exporting)).toEqual([first, second]);
});

const ENTRIES = byDepth({ short: 60, full: 600, long: 6000 });

test('a program that follows the log while several transactions commit in another order receives each entry once', async () => {
  let cursor = await lastCursor();
  let isWriting = true;
  const writing = Promise.all(
    Array.from({ length: 4 }, async (_, writer) => {
      const connection = await aConnection();
      const ids: string[] = [];
      for (let number = 0; number < ENTRIES; number += 1) {
        await connection.query('BEGIN');
        const id = await insert(connection, `/followed/${writer}`, number);
        if (number % 8 === writer) await connection.query('SELECT pg_sleep(0.01)');
        const isCommitted = number % 7 !== 0;
        await connection.query(isCommitted ? 'COMMIT' : 'ROLLBACK');
        if (isCommitted) ids.push(id);
      }
      return ids;
    }),
  ).finally(() => {
    isWriting = false;
  });
  const received: Line[] = [];
  for (let isLast = false; !isLast; ) {
    isLast = !isWriting;
    const lines = await exported(`cursor=${cursor}`);
    received.push(...lines);
    cursor = lines.at(-1)?.cursor ?? cursor;
  }
  const ids = await writing;
  expect(idsOf(received).sort()).toEqual(ids.flat().sort());
  for (const [writer, own] of ids.entries())
    expect(idsOf(received.filter(({ path }) => path === `/followed/${writer}`))).toEqual(own);
});

test('the cursor of an entry that a restored database does not have is a 400, and that of a deleted old entry continues', async () => {
  const connection = await aConnection();
  const lost = await aConnection();
  await lost.query('BEGIN');
  await insert(lost, '/lost');
  const { rows } = await lost.query('SELECT seq, at, id FROM audit_entries WHERE path = $1', ['/lost']);
  const cursorOf = ({ seq, at, id }: { seq: string; at: Date; id: string }) =>
    Buffer.from(`${seq}|${at.toISOString()}|${id}`).toString('base64url');
  await lost.query('ROLLBACK');
  const [of] = rows;
  await insert(connection, '/after the restore');
  const unknown = [cursorOf(of), cursorOf({ ...of, seq: `${Number(of.seq) + 1}` }), cursorOf({ ...of, seq: '900000' })];
  for (const cursor of unknown) {
    const { status, body } = await admin.get(`${EXPORT}?cursor=${cursor}`);
    expect({ status, errors: body.errors }).toEqual({
      status: 400,
      errors: [{ path: 'cursor', message: 'is not known; send start, which exports all entries again' }],
    });
  }
  const cursor = await lastCursor();
  await client.$queryRaw`SELECT audit_forget(now() + interval '1 hour', gen_random_uuid())`;
  const lines = await exported(`cursor=${cursor}`);
  expect(lines.map(({ path }) => path)).toEqual([expect.stringMatching(/^entries before /)]);
});

test.each(['cursor=x', 'cursor=', 'limit=5', 'page=1', 'from=yesterday'])(
  'an export with %s is a 400 that names it',
  async (query) => {
    const { status, body } = await admin.get(`${EXPORT}?${query}`);
    expect({ status, path: body.errors?.[0].path }).toEqual({ status: 400, path: query.split('=')[0] });
  },
);
