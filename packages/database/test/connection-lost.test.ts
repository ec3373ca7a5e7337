import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/embedded.ts';
import { poolOptions } from '../src/index.ts';

let server: EmbeddedPostgres;

beforeAll(async () => {
  server = await startEmbeddedPostgres();
});
afterAll(() => server.stop());

test('a connection that the server ends in a statement is not given to the next, however soon it comes', async () => {
  const pool = new pg.Pool(poolOptions({ connectionString: server.url('postgres'), max: 1, applicationName: 'lost' }));
  pool.on('error', () => {});
  const client = await pool.connect();
  client.on('error', () => {}); // the socket's end, which comes later
  const ended = client
    .query('select pg_terminate_backend(pg_backend_pid()), pg_sleep(1)')
    .finally(() => client.release());
  await expect(ended).rejects.toThrow('terminating connection');
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
});
