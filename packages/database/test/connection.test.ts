import { expect, test } from '@jest/globals';
import { PrismaPg } from '@prisma/adapter-pg';
import { poolOptions } from '../src/index.ts';
import { aDatabase, rowsOf } from './on-database.ts';

const asked = (sql: string) => ({ sql, args: [], argTypes: [] });

test('a write after a transaction without an answer is not part of that transaction', async () => {
  const url = await aDatabase();
  await rowsOf(url, 'create table written (n int)');
  const options = poolOptions({ connectionString: url, max: 1, applicationName: 'silent' });
  const silent = { ...options, statement_timeout: 0, query_timeout: 200 }; // PostgreSQL itself never gives up
  const adapter = await new PrismaPg(silent, { onPoolError: () => {}, onConnectionError: () => {} }).connect();

  const transaction = await adapter.startTransaction();
  await transaction.executeRaw(asked('insert into written values (1)'));
  await expect(transaction.executeRaw(asked('select pg_sleep(0.6)'))).rejects.toThrow('Query read timeout');
  await expect(transaction.executeRaw(asked('rollback'))).rejects.toThrow();
  await transaction.rollback(); // what Prisma calls to give the connection back
  const busy = () => rowsOf(url, `select from pg_stat_activity where application_name = 'silent' and state = 'active'`);
  while ((await busy()).length > 0) await new Promise(setImmediate);
  expect(await adapter.executeRaw(asked('insert into written values (2)'))).toBe(1);

  expect(await rowsOf(url, 'select n from written')).toEqual([{ n: 2 }]);
  await adapter.dispose();
});
