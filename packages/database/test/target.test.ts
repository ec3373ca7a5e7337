import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createPool, readReplacement, readTarget, retarget } from '../src/index.ts';
import { rowsOf, serverUrl } from './on-database.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'target-'));
afterAll(() => rmSync(folder, { recursive: true }));

const withRole = (username: string, url = serverUrl) => Object.assign(new URL(url), { username }).href;

test('the next connection of a pool has the new role, and an open one keeps its own', async () => {
  await rowsOf(serverUrl, 'create role target_new login');
  const pool = createPool({ connectionString: serverUrl, max: 2, applicationName: 'target' });
  const roleOf = async (client: { query: typeof pool.query }) =>
    (await client.query('select current_user as role')).rows[0].role;
  const open = await pool.connect();
  retarget([pool], await readReplacement(serverUrl, withRole('target_new')));
  const next = await pool.connect();
  expect(await roleOf(next)).toBe('target_new');
  expect(await roleOf(open)).toBe(new URL(serverUrl).username);
  const { rows } = await next.query('show TimeZone');
  expect(rows).toEqual([{ TimeZone: 'UTC' }]);
  open.release();
  next.release();
  await pool.end();
});

test('a role that the server refuses replaces no other one, and the message has no password', async () => {
  const wrong = Object.assign(new URL(withRole('nobody')), { password: 'hush' }).href;
  const error: unknown = await readReplacement(serverUrl, wrong).catch((error: unknown) => error);
  expect(String(error)).toMatch(/^Error: DATABASE_URL: The database .* is not reachable: role "nobody" does not exist/);
  expect(String(error)).not.toContain('hush');
});

test.each([
  ['another database', (url: URL) => (url.pathname = '/other')],
  ['another server', (url: URL) => (url.port = '1')],
  ['another timeout', (url: URL) => url.searchParams.set('statement_timeout', '1')],
])('%s needs a restart', async (_, change) => {
  const url = new URL(serverUrl);
  change(url);
  await expect(readReplacement(serverUrl, url.href)).rejects.toThrow(
    'DATABASE_URL: only the role, its password and TLS can change without a restart',
  );
});

test('the files of certificates are read once, and a later change of them has no effect', () => {
  const file = path.join(folder, 'ca.crt');
  writeFileSync(file, 'the first authority');
  const target = readTarget(
    `postgresql://a@127.0.0.1/b?sslmode=verify-full&sslrootcert=${file}&options=-c%20work_mem%3D1MB`,
  );
  writeFileSync(file, 'the second authority');
  expect(target).toEqual({
    connectionString: 'postgresql://a@127.0.0.1/b',
    ssl: { ca: 'the first authority' },
    options: '-c work_mem=1MB -c TimeZone=UTC',
  });
  expect(readTarget('postgresql://a@127.0.0.1/b').ssl).toBe(false);
});
