import { expect, test } from '@jest/globals';
import { PrismaPg } from '@prisma/adapter-pg';
import { poolOptions } from '../src/index.ts';
import { aDatabase, rowsOf } from './on-database.ts';

const query = (sql: string) => ({ sql, args: [], argTypes: [] });

test('a write after a transaction that timed out is not part of that transaction', async () => {
  const url = await aDatabase();
  await rowsOf(url, 'create table written (n int)');
  const options = poolOptions({ connectionString: url, max: 1, applicationName: 'timeout-test' });
  // The server has no timeout.
  const shortTimeout = { ...options, statement_timeout: 0, query_timeout: 200 };
  const adapter = await new PrismaPg(shortTimeout, { onPoolError: () => {}, onConnectionError: () => {} }).connect();

  const transaction = await adapter.startTransaction();
  await transaction.executeRaw(query('insert into written values (1)'));
  await expect(transaction.executeRaw(query('select pg_sleep(0.6)'))).rejects.toThrow('Query read timeout');
  await expect(transaction.executeRaw(query('rollback'))).rejects.toThrow();
  await transaction.rollback(); // Prisma calls it to release the connection
  const busy = () =>
    rowsOf(url, `select from pg_stat_activity where application_name = 'timeout-test' and state = 'active'`);
  while ((await busy()).length > 0) await new Promise(setImmediate);
  expect(await adapter.executeRaw(query('insert into written values (2)'))).toBe(1);

  expect(await rowsOf(url, 'select n from written')).toEqual([{ n: 2 }]);
  await adapter.dispose();
});
