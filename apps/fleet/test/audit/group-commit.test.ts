import { jest } from '@jest/globals';
import { eventually } from '@svc/testing';
import { holding } from '@svc/testing/faults';
import pg from 'pg';
import { Recording } from '../../src/audit/recording.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

/** Few enough to arrive before the first entry has waited too long for the lock. */
const MANY = 40;
const entriesOf = (id: string) => client.auditEntry.findMany({ where: { token_id: id } });

/** Counts the statements and the commits that store entries. */
async function watchInserts() {
  await client.$executeRaw`CREATE SEQUENCE inserts_seen`;
  await client.$executeRaw`
    CREATE FUNCTION count_insert() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM nextval('inserts_seen'); RETURN NULL; END $$`;
  await client.$executeRaw`
    CREATE TRIGGER count_insert AFTER INSERT ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION count_insert()`;
  return async () => {
    const [row] = await client.$queryRaw<{ count: number }[]>`
      SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS count FROM inserts_seen`;
    return row?.count ?? 0;
  };
}

test('concurrent responses share few INSERT statements, and each response has one audit entry', async () => {
  const statements = await watchInserts();
  const token = await world.aToken();
  const paths = Array.from({ length: MANY }, (_, index) => `/nothing/${index}`);
  const made = jest.spyOn(Recording.prototype, 'entry');
  // The first entry waits for the lock, and the others wait for the first.
  const sent = await holding(world.databaseUrl, 'LOCK TABLE audit_entries IN SHARE MODE', async () => {
    const all = Promise.all(paths.map((path) => world.as(token).get(path)));
    await eventually('all requests have entries to store', () => made.mock.calls.length >= MANY);
    return { all };
  });
  const answers = await sent.all;
  made.mockRestore();
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  expect((await entriesOf(token.id)).map(({ path }) => path).sort()).toEqual(paths.sort());
  expect(await statements()).toBeGreaterThan(0);
  expect(await statements()).toBeLessThan(MANY / 2);
});

test('no response is sent before its audit entry is visible to others', async () => {
  const token = await world.aToken();
  const reader = new pg.Client({ connectionString: world.databaseUrl });
  await reader.connect();
  try {
    const seen = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        await world.as(token).get(`/nothing/${index}`);
        const { rowCount } = await reader.query('SELECT FROM audit_entries WHERE token_id = $1 AND path = $2', [
          token.id,
          `/nothing/${index}`,
        ]);
        return rowCount;
      }),
    );
    expect(seen).toEqual(Array(30).fill(1));
  } finally {
    await reader.end();
  }
});

test('if a statement of the audit log fails, the responses that waited for it are 503, and later ones succeed', async () => {
  const token = await world.aToken();
  const send = (prefix: string) =>
    Promise.all(Array.from({ length: 20 }, (_, index) => world.as(token).get(`/${prefix}/${index}`)));
  await client.$executeRaw`ALTER TABLE audit_entries ADD CONSTRAINT no_such_path CHECK (path NOT LIKE '/refused/%') NOT VALID`;
  const refused = await send('refused');
  const others = await send('welcome');
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([404]));
  expect((await entriesOf(token.id)).filter(({ path }) => path.startsWith('/refused'))).toEqual([]);
});
