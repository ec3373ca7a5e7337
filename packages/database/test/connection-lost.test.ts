import { expect, test } from '@jest/globals';
import pg from 'pg';
import { poolOptions } from '../src/index.ts';
import { serverUrl } from './on-database.ts';

test('a connection that the server terminates during a statement is not used again', async () => {
  const pool = new pg.Pool(poolOptions({ connectionString: serverUrl, max: 1, applicationName: 'lost-busy' }));
  pool.on('error', () => {});
  const client = await pool.connect();
  client.on('error', () => {}); // the socket ends later
  const ended = client
    .query('select pg_terminate_backend(pg_backend_pid()), pg_sleep(1)')
    .finally(() => client.release());
  await expect(ended).rejects.toThrow('terminating connection');
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
});
