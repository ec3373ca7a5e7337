import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PrismaPg } from '@prisma/adapter-pg';
import { Problem, processMetrics } from '@svc/http';
import pg from 'pg';
import { poolOptions, translateDatabaseError } from '../src/index.ts';
import { aDatabase, serverUrl } from './on-database.ts';

type Run = (sql: string) => Promise<unknown>;

let pool: pg.Pool;
let closeAdapter: () => Promise<void>;
/** The interfaces to the database, each with its own kind of errors. */
const interfaces: Record<string, Run> = {};

const violation = new Problem('name_taken', 'This constraint.');
const constraints = {
  cars_plate_key: () => violation,
  wheels_car_id_fkey: () => violation,
  cars_seats_check: () => violation,
  bays_no_overlap: () => violation,
};
const settings = {
  max: 2,
  applicationName: 'test',
  statementTimeoutMs: 1000,
  lockTimeoutMs: 100,
  connectTimeoutMs: 200,
};

const thrownBy = (work: Promise<unknown>) =>
  work.then(
    () => expect('no error').toBe('an error'),
    (error: unknown) => error,
  );
const translated = async (work: Promise<unknown>) => translateDatabaseError(await thrownBy(work), constraints);

/** The error of Prisma's client 7.10 for an error of its adapter. */
const asClientError = (code: string) => (driverAdapterError: unknown) => {
  throw Object.assign(new Error('Invalid invocation'), { code, meta: { driverAdapterError } });
};

beforeAll(async () => {
  // A busy machine needs longer for a connection.
  const options = poolOptions({ connectionString: await aDatabase(), ...settings, connectTimeoutMs: 20_000 });
  pool = new pg.Pool(options).on('error', () => {});
  const adapter = await new PrismaPg(options).connect();
  closeAdapter = () => adapter.dispose();
  const run: Run = (sql) => adapter.executeRaw({ sql, args: [], argTypes: [] });
  interfaces['plain pg'] = (sql) => pool.query(sql);
  interfaces["Prisma's adapter"] = run;
  interfaces["Prisma's typed client"] = (sql) => run(sql).catch(asClientError('P2002'));
  interfaces["Prisma's raw queries"] = (sql) => run(sql).catch(asClientError('P2010'));
  await pool.query(`
    create table cars (id int primary key, plate text, seats int constraint cars_seats_check check (seats > 0));
    create unique index cars_plate_key on cars (plate);
    create table wheels (car_id int constraint wheels_car_id_fkey references cars on delete restrict);
    create table bays (taken int4range, constraint bays_no_overlap exclude using gist (taken with &&));
    insert into cars values (1, 'A', 4); insert into wheels values (1); insert into bays values ('[1,5]');`);
});

afterAll(async () => {
  await closeAdapter();
  await pool.end();
});

describe.each(['plain pg', "Prisma's adapter", "Prisma's typed client", "Prisma's raw queries"])('with %s', (name) => {
  const run: Run = async (sql) => interfaces[name]?.(sql);

  test.each([
    ['a duplicate', `insert into cars values (2, 'A', 4)`],
    ['a reference to a missing row', 'insert into wheels values (99)'],
    ['the deletion of a referenced row', 'delete from cars'],
    ['a violated check', `insert into cars values (2, 'B', 0)`],
    ['a violated exclusion', `insert into bays values ('[2,3]')`],
  ])('%s is translated to the problem of its constraint', async (_, sql) => {
    expect(await translated(run(sql))).toBe(violation);
  });

  test('a violated constraint without a problem is not translated', async () => {
    const error = await thrownBy(run(`insert into cars values (1, 'C', 4)`));
    expect(translateDatabaseError(error, constraints)).toBe(error);
  });

  test.each(['22012', '42P01', '22021'])(
    'code %s, for which a retry does not help, is not translated',
    async (code) => {
      const error = await thrownBy(run(raising(code)));
      expect(translateDatabaseError(error, constraints)).toBe(error);
    },
  );

  test.each([
    ['08006', 'unreachable'],
    ['25006', 'read_only'],
    ['25P03', 'unreachable'],
    ['28P01', 'unreachable'],
    ['3D000', 'unreachable'],
    ['40001', 'conflict'],
    ['40P01', 'conflict'],
    ['53100', 'disk_full'],
    ['53200', 'unreachable'],
    ['53300', 'unreachable'],
    ['55P03', 'timed_out'],
    ['57014', 'timed_out'],
    ['57P01', 'unreachable'],
    ['57P02', 'unreachable'],
    ['57P03', 'unreachable'],
  ])('code %s is translated to unavailable, and counted as %s', async (code, reason) => {
    const before = await failures(reason);
    expect(await translated(run(raising(code)))).toMatchObject({ code: 'unavailable' });
    expect(await failures(reason)).toBe(before + 1);
  });

  test('a statement that takes too long is translated to unavailable', async () => {
    expect(await translated(run('select pg_sleep(5)'))).toMatchObject({ code: 'unavailable', message: /too long/ });
  });

  test('a connection ended by the server is translated to unavailable', async () => {
    const ended = run('select pg_terminate_backend(pg_backend_pid())');
    expect(await translated(ended)).toMatchObject({ code: 'unavailable' });
  });
});

describe('a pool', () => {
  const serverPort = Number(new URL(serverUrl).port);
  const pools: pg.Pool[] = [];
  const poolFor = (port: number, changes: pg.PoolConfig = {}) => {
    const options = poolOptions({ connectionString: `postgresql://postgres@127.0.0.1:${port}/postgres`, ...settings });
    const pool = new pg.Pool({ ...options, ...changes }).on('error', () => {});
    pools.push(pool);
    return pool;
  };
  afterAll(() => Promise.all(pools.map((each) => each.end())));

  test('without a server is translated to unavailable', async () => {
    expect(await translated(poolFor(1).query('select 1'))).toMatchObject({ code: 'unavailable' });
  });

  test('whose connections are all busy is translated to unavailable', async () => {
    const busy = poolFor(serverPort, { max: 1 });
    const client = await busy.connect();
    expect(await translated(busy.query('select 1'))).toMatchObject({ code: 'unavailable' });
    client.release();
  });

  test('whose server does not respond to a query is translated to unavailable', async () => {
    const silent = poolFor(serverPort, { query_timeout: 50 });
    expect(await translated(silent.query('select pg_sleep(0.2)'))).toMatchObject({ code: 'unavailable' });
  });

  test.each([
    ['sends nothing', () => {}],
    ['closes the connection', (socket: net.Socket) => socket.destroy()],
  ])('whose server %s is translated to unavailable', async (_, behave) => {
    const listener = net.createServer(behave).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const address = listener.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    expect(await translated(poolFor(port).query('select 1'))).toMatchObject({ code: 'unavailable' });
    listener.close();
  });

  test('whose connection was lost inside a transaction is translated to unavailable', async () => {
    const client = await poolFor(serverPort).connect();
    client.on('error', () => {});
    await thrownBy(client.query('select pg_terminate_backend(pg_backend_pid())'));
    expect(await translated(client.query('select 1'))).toMatchObject({ code: 'unavailable' });
    client.release(true);
  });
});

describe('the Prisma code', () => {
  const prismaError = (code: string) => Object.assign(new Error('error of Prisma'), { code, meta: {} });

  test.each(['P1001', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037'])(
    '%s is translated to unavailable',
    (code) => {
      expect(translateDatabaseError(prismaError(code), constraints)).toMatchObject({ code: 'unavailable' });
    },
  );

  test('P2025 for a missing row is not translated', () => {
    const error = prismaError('P2025');
    expect(translateDatabaseError(error, constraints)).toBe(error);
  });
});

test.each([[new TypeError('x is not a function')], [violation], ['a string'], [undefined]])(
  'errors of other code are not translated: %p',
  (thrown) => {
    expect(translateDatabaseError(thrown, constraints)).toBe(thrown);
  },
);

function raising(code: string): string {
  return `do $$ begin raise exception 'raised' using errcode = '${code}'; end $$`;
}

/** The value of `database_failures_total` for a reason. */
async function failures(reason: string): Promise<number> {
  const sample = new RegExp(`^database_failures_total\\{reason="${reason}"\\} (\\d+)$`, 'm');
  return Number(sample.exec(await processMetrics.metrics())?.[1]);
}
