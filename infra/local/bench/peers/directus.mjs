// Directus with the templates of a hub, and the requests that correspond to those of a fleet.
//
// Without a license key, Directus permits a role either all items of a collection or none. The requests therefore contain the filter for
// public templates in open categories, and the role reads all items. Directus has no visibility rule for organizations.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@svc/database/embedded';
import pg from 'pg';
import { cpuOf, end, startDatabase } from '../hub/processes.mjs';
import { install } from './install.mjs';

const VERSION = '12.4.0';
const TIMEOUT_MS = 180_000;
const COPIED = 1000;
export const name = `Directus ${VERSION}`;

export const installDirectus = () =>
  install({ name: 'directus', packages: { directus: VERSION }, node: '22.20.0', compiled: ['isolated-vm'] });

/** Copies tables of a hub. Arrays become JSON, which Directus supports. */
async function copy({ from, to, table, columns }) {
  const { rows: found } = await from.query(
    `SELECT column_name, CASE data_type WHEN 'ARRAY' THEN 'jsonb' ELSE data_type END AS type
     FROM information_schema.columns WHERE table_name = $1 AND column_name = ANY ($2)`,
    [table, columns],
  );
  const names = found.map((each) => each.column_name);
  const definitions = found.map(
    ({ column_name, type }) => `${column_name} ${type}${column_name === 'sort_name' ? ' COLLATE "C"' : ''}`,
  );
  await to.query(`CREATE TABLE ${table} (${definitions.join(', ')}, PRIMARY KEY (id))`);
  for (let last = '00000000-0000-0000-0000-000000000000'; last !== undefined; ) {
    const { rows } = await from.query(
      `SELECT ${names.join(', ')} FROM ${table} WHERE id > $1 ORDER BY id LIMIT ${COPIED}`,
      [last],
    );
    await to.query(`INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1)`, [
      JSON.stringify(rows),
    ]);
    last = rows.length < COPIED ? undefined : rows.at(-1).id;
  }
  return names;
}

async function copyCatalog(hubUrl, url, members) {
  const [from, to] = [hubUrl, url].map((connectionString) => new pg.Client({ connectionString }));
  await Promise.all([from.connect(), to.connect()]);
  try {
    await copy({ from, to, table: 'categories', columns: ['id', 'name', 'slug', 'icon', 'is_private'] });
    const columns = await copy({ from, to, table: 'templates', columns: [...members, 'sort_name'] });
    await to.query('ALTER TABLE templates ADD FOREIGN KEY (category_id) REFERENCES categories (id)');
    await to.query('CREATE UNIQUE INDEX ON templates (slug)');
    for (const key of ['updated_at, id', 'sort_name, id', 'category_id'])
      await to.query(`CREATE INDEX ON templates (${key})`);
    await to.query('VACUUM ANALYZE');
    return columns;
  } finally {
    await Promise.all([from.end(), to.end()]);
  }
}

/** Creates a user with a token who reads templates and categories. @returns the token */
async function createReader(url, adminToken) {
  const create = async (collection, body) => {
    const response = await fetch(`${url}/${collection}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST /${collection}: ${response.status} ${text}`);
    return JSON.parse(text || '{}').data;
  };
  const policy = await create('policies', { name: 'reader' });
  for (const collection of ['templates', 'categories'])
    await create('permissions', { policy: policy.id, collection, action: 'read', fields: ['*'], permissions: {} });
  const role = await create('roles', { name: 'reader', policies: { create: [{ policy: policy.id }] } });
  const token = randomUUID();
  await create('users', { email: 'reader@example.com', role: role.id, token });
  return token;
}

/**
 * Starts Directus with the same templates as a hub. Its log is written to a file, like that of the hub.
 * @param members those of a template in the list of the hub
 * @param cache whether Directus remembers responses until an item changes
 */
export async function startDirectus({ installed, hub, members, cache }) {
  const database = await startDatabase('directus');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-peer-'));
  const log = fs.openSync(path.join(folder, 'directus.log'), 'w');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const adminToken = randomUUID();
  const environment = {
    ...{ DB_CLIENT: 'pg', DB_CONNECTION_STRING: database.url, HOST: '127.0.0.1', PORT: `${port}`, PUBLIC_URL: url },
    ...{ SECRET: randomUUID(), ADMIN_TOKEN: adminToken },
    ...{ ADMIN_EMAIL: 'admin@example.com', ADMIN_PASSWORD: randomUUID() },
    ...{ LOG_STYLE: 'raw', SERVE_APP: 'false', PRESSURE_LIMITER_ENABLED: 'false' },
    ...{ CACHE_ENABLED: `${cache}`, CACHE_AUTO_PURGE: `${cache}` },
  };
  const run = (command) =>
    spawn(installed.node, [path.join(installed.modules, 'directus', 'cli.js'), command], {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
      cwd: folder,
      stdio: ['ignore', log, log],
    });
  let child;
  const stop = async () => {
    if (child) await end(child);
    await database.stop();
    fs.closeSync(log);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilEnded(run('bootstrap'));
    const columns = await copyCatalog(hub.databaseUrl, database.url, members);
    child = run('start');
    await untilAnswering(url, child);
    const token = await createReader(url, adminToken);
    const { pid } = child;
    return { url, token, columns, cpu: () => cpuOf(pid), databaseCpu: database.cpu, stop };
  } catch (error) {
    const output = fs.readFileSync(path.join(folder, 'directus.log'), 'utf8').slice(-2000);
    await stop();
    throw new Error(`${name} did not start: ${error.message}\n${output}`, { cause: error });
  }
}

async function untilEnded(child) {
  const timeout = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  const code = await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
  clearTimeout(timeout);
  if (code !== 0) throw new Error(`its first start ended with ${code}`);
}

async function untilAnswering(url, child) {
  for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline && child.exitCode === null; await delay(200)) {
    const { ok } = await fetch(`${url}/server/ping`).catch(() => ({ ok: false })); // not listening yet
    if (ok) return;
  }
  throw new Error('it did not answer');
}

/** The requests that correspond to those of a fleet. `since` is the time of the last change. */
export function directusPaths({ columns }, { since }) {
  const visible = 'filter[is_public][_eq]=true&filter[category_id][is_private][_eq]=false';
  const category = ['id', 'name', 'slug', 'icon'].map((each) => `category_id.${each}`);
  const fields = `fields=${[...columns.filter((each) => !['category_id', 'sort_name'].includes(each)), ...category].join()}`;
  const after = encodeURIComponent(since);
  return {
    list: `/items/templates?limit=50&sort=sort_name,id&meta=filter_count&${visible}&${fields}`,
    slug: `/items/templates?limit=1&filter[slug][_eq]=template-1&${visible}&${fields}`,
    since: `/items/templates?limit=100&sort=updated_at,id&filter[updated_at][_gt]=${after}&${visible}&${fields}`,
  };
}
