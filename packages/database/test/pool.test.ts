import { expect, test } from '@jest/globals';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { createPool, poolOptions, transactionLimits } from '../src/index.ts';
import { serverUrl as connectionString, rowsOf } from './on-database.ts';

async function sessionSetting(url: string, name: string): Promise<unknown> {
  const pool = new pg.Pool(poolOptions({ connectionString: url, max: 1, applicationName: 'test' }));
  try {
    const { rows } = await pool.query('select current_setting($1) as value', [name]);
    return rows[0]?.value;
  } finally {
    await pool.end();
  }
}

test.each([
  ['statement_timeout', '2500ms'],
  ['lock_timeout', '2s'],
  ['idle_in_transaction_session_timeout', '10s'],
  ['TimeZone', 'UTC'],
  ['application_name', 'test'],
])('a session has %s = %s', async (name, value) => {
  expect(await sessionSetting(connectionString, name)).toBe(value);
});

test('options in the URL are added', async () => {
  const url = `${connectionString}?options=${encodeURIComponent('-c work_mem=7MB')}`;
  expect(await sessionSetting(url, 'work_mem')).toBe('7MB');
  expect(await sessionSetting(url, 'TimeZone')).toBe('UTC');
});

test.each([
  ['', 1000],
  ['?connect_timeout=5', 5000],
  ['?connect_timeout=0', 1000],
  ['?connect_timeout=3600', 60_000],
  ['?connect_timeout=soon', 1000],
])('with %j in the URL, a request waits %d ms for a connection', (query, milliseconds) => {
  const settings = { connectionString: `${connectionString}${query}`, max: 1, applicationName: 'test' };
  expect(poolOptions({ ...settings, connectTimeoutMs: 1000 }).connectionTimeoutMillis).toBe(milliseconds);
});

test.each([
  ['', {}, { maxWait: 2000, timeout: 5000 }],
  ['', { timeout: 8000 }, { maxWait: 2000, timeout: 8000 }],
  ['?connect_timeout=20&statement_timeout=20000', { timeout: 8000 }, { maxWait: 20_000, timeout: 40_000 }],
])('with %j in the URL and the limits %j, transactions have the limits %j', async (query, least, limits) => {
  const pool = createPool({ connectionString: `${connectionString}${query}`, max: 1, applicationName: 'test' });
  expect(transactionLimits(pool, least)).toEqual(limits);
  await pool.end();
});

test('the lock timeout is not greater than the statement timeout', () => {
  const options = poolOptions({ connectionString, max: 1, applicationName: 'test', statementTimeoutMs: 500 });
  expect(options.lock_timeout).toBe(500);
});

test('a lost idle connection is reported, and the next query uses a new connection', async () => {
  const lost: Error[] = [];
  const options = poolOptions({ connectionString, max: 1, applicationName: 'lost-idle' });
  const onPoolError = (error: Error) => lost.push(error);
  const adapter = await new PrismaPg(options, { onPoolError, onConnectionError: onPoolError }).connect();
  const query = () => adapter.queryRaw({ sql: 'select 1 as one', args: [], argTypes: [] });
  await query();
  await rowsOf(
    connectionString,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'lost-idle'`,
  );
  while (lost.length === 0) await new Promise(setImmediate);
  expect((await query()).rows).toEqual([[1]]);
  await adapter.dispose();
});

test('each connection runs its first statement, and is not used if that fails', async () => {
  const poolWith = (atConnect: string) =>
    createPool({ connectionString, max: 2, applicationName: 'test', atConnect }).on('error', () => undefined);
  const pool = poolWith('SET enable_seqscan = off');
  const failing = poolWith('SET no_such_setting = off');
  try {
    const setting = 'SHOW enable_seqscan';
    const found = await Promise.all([pool.query(setting), pool.query(setting)]);
    expect(found.map(({ rows }) => rows)).toEqual([[{ enable_seqscan: 'off' }], [{ enable_seqscan: 'off' }]]);
    await expect(failing.query('SELECT 1')).rejects.toThrow('no_such_setting');
    expect(failing.totalCount).toBe(0);
  } finally {
    await Promise.all([pool.end(), failing.end()]);
  }
});
