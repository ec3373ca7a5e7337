// The current version of each service, and an earlier release, on one database during an upgrade. The release is represented by its
// statements: they contain exactly the columns of its recorded schema (infra/releases).
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '@svc/testing';
import pg from 'pg';
import { repository } from '../../src/settings.ts';
import { aDeployment, type Deployment } from '../sync/deployment.ts';

const folder = path.join(repository, 'infra', 'releases');
const releases = fs.readdirSync(folder).filter((name) => /^\d+\.\d+\.\d+$/.test(name));
const read = (release: string, name: string) => fs.readFileSync(path.join(folder, release, name), 'utf8');

type App = 'hub' | 'fleet';
type Values = Readonly<Record<string, unknown>>;

interface Exchange {
  readonly request: { readonly path: string };
  readonly response: { readonly status: number; readonly body: Values };
}

/** A replica of the release on the database of a service, and the database of the release itself. */
async function aReleasedReplica(deployment: Deployment, app: App, sql: string) {
  await deployment.restore(app, sql);
  const [shared, own] = [deployment.databases[app], await deployment.restoreApart(app, sql)].map(
    (connectionString) => new pg.Pool({ connectionString, max: 2 }),
  );
  if (!shared || !own) throw new Error('two pools were created');
  const { rows } = await own.query<{ table: string; column: string; type: string }>(`
    SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
      AND c.relname <> '_prisma_migrations'
    ORDER BY a.attnum`);
  const tables = [...new Set(rows.map(({ table }) => table))];
  const columnsOf = (table: string) => rows.filter((row) => row.table === table);
  const list = (table: string) =>
    columnsOf(table)
      .map(({ column }) => `"${column}"`)
      .join(', ');
  return {
    tables,
    shared,
    /** Reads all rows of a table. */
    select: async (table: string): Promise<Values[]> =>
      (await shared.query(`SELECT ${list(table)} FROM "${table}"`)).rows,
    /** Inserts a copy of a row that the release wrote, with other values in some columns. */
    copy: async (table: string, where: string, changes: Values): Promise<void> => {
      const given = Object.keys(changes);
      const values = columnsOf(table).map(({ column, type }) =>
        given.includes(column) ? `$${given.indexOf(column) + 1}::${type}` : `"${column}"`,
      );
      const statement = `INSERT INTO "${table}" (${list(table)}) SELECT ${values.join(', ')} FROM "${table}" WHERE ${where} LIMIT 1`;
      const { rowCount } = await shared.query(statement, Object.values(changes));
      expect({ table, rowCount }).toEqual({ table, rowCount: 1 });
    },
    /** Updates each column of all rows to its value. @returns the error message, in the shared database and in that of the release */
    updateAll: async (table: string) => {
      const assignments = columnsOf(table).map(({ column }) => `"${column}" = "${column}"`);
      const run = (pool: pg.Pool) =>
        pool.query(`UPDATE "${table}" SET ${assignments.join(', ')}`).then(
          () => 'updated',
          (error: Error) => error.message,
        );
      return { shared: await run(shared), own: await run(own) };
    },
    /**
     * Copies all rows of a table to the database of the release. Its types, checks and indexes reject rows that the release could not have
     * written.
     */
    accept: async (table: string): Promise<void> => {
      const { rows: now } = await shared.query(
        `SELECT coalesce(json_agg(r), '[]')::text AS json FROM (SELECT ${list(table)} FROM "${table}") r`,
      );
      await deployment.runApart(app, `DELETE FROM "${table}"`);
      await deployment.runApart(
        app,
        `INSERT INTO "${table}" (${list(table)}) SELECT ${list(table)} FROM json_populate_recordset(null::"${table}", $1)`,
        [now[0].json],
      );
    },
    end: () => Promise.all([shared.end(), own.end()]),
  };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each(releases)('beside release %s on one database,', (release) => {
  const keys: Record<string, string> = JSON.parse(read(release, 'keys.json'));
  let deployment: Deployment;
  let ofRelease: Record<App, Awaited<ReturnType<typeof aReleasedReplica>>>;

  beforeAll(async () => {
    deployment = await aDeployment();
    ofRelease = {
      hub: await aReleasedReplica(deployment, 'hub', read(release, 'hub.sql')),
      fleet: await aReleasedReplica(deployment, 'fleet', read(release, 'fleet.sql')),
    };
    const settings = { ENCRYPTION_KEYS: keys.ENCRYPTION_KEYS ?? '', OUTBOUND_ALLOW: 'http,loopback,unix' };
    await Promise.all([deployment.start('hub'), deployment.start('fleet', settings)]);
  });
  afterAll(async () => {
    await Promise.all(Object.values(ofRelease ?? {}).map(({ end }) => end()));
    await deployment?.stop();
  });

  const request = async (app: App, method: string, at: string, { token = '', body = undefined as unknown } = {}) => {
    const response = await fetch(`${deployment.urls[app]}/api/v1${at}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: tests check the members that they use.
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as any) };
  };
  const fleet = (method: string, at: string, body?: unknown) =>
    request('fleet', method, at, { token: keys.FLEET_ADMIN_TOKEN ?? '', body });
  const namesAt = async (plural: string): Promise<string[]> =>
    (await fleet('GET', `/${plural}?limit=100`)).body[plural].map(({ name }: { name: string }) => name);

  test.each<App>(['hub', 'fleet'])('the release reads all its columns of each table of the %s', async (app) => {
    const { tables, select } = ofRelease[app];
    expect(tables.length).toBeGreaterThan(10);
    for (const table of tables) await select(table);
  });

  test.each<App>(['hub', 'fleet'])(
    'the release updates the rows of each table of the %s as in its own database',
    async (app) => {
      const { tables, updateAll } = ofRelease[app];
      for (const table of tables) {
        const { shared, own } = await updateAll(table);
        expect({ table, rows: shared }).toEqual({ table, rows: own });
      }
    },
  );

  test('the current fleet shows and uses the rows that the release writes', async () => {
    const { copy } = ofRelease.fleet;
    const [workload, deployed] = [randomUUID(), randomUUID()];
    await copy('workloads', "name = 'web'", { id: workload, name: 'old-workload' });
    await copy('workload_revisions', `workload_id = (SELECT id FROM workloads WHERE name = 'web')`, {
      workload_id: workload,
    });
    await copy('deployments', "name = 'archive'", {
      id: deployed,
      name: 'old-deployment',
      workload_id: workload,
      revision: 1,
    });
    await copy('hosts', "name = 'unreachable'", { id: randomUUID(), name: 'old-host' });
    await copy('clusters', 'true', { id: randomUUID(), name: 'old-cluster' });
    await copy('secrets', 'true', { id: randomUUID(), name: 'old-secret' });
    await copy('volumes', 'true', { id: randomUUID(), name: 'old-volume' });
    await copy('users', 'true', { id: randomUUID(), name: 'old-user', email: 'old@example.test' });
    for (const [plural, name] of [
      ['workloads', 'old-workload'],
      ['deployments', 'old-deployment'],
      ['hosts', 'old-host'],
      ['clusters', 'old-cluster'],
      ['secrets', 'old-secret'],
      ['storage', 'old-volume'],
      ['users', 'old-user'],
    ] as const) {
      expect({ plural, names: await namesAt(plural) }).toEqual({ plural, names: expect.arrayContaining([name]) });
    }
    const { status, body } = await fleet('PUT', `/deployments/${deployed}`, { labels: { changed: 'yes' } });
    expect({ status, labels: body.deployment?.labels }).toEqual({ status: 200, labels: { changed: 'yes' } });
  });

  test('the current fleet accepts a token that the release issues, and shows the audit entries that it writes', async () => {
    const { copy, shared } = ofRelease.fleet;
    const [id, entry] = [randomUUID(), randomUUID()];
    const secret = keys.FLEET_ADMIN_TOKEN ?? '';
    // The format of a token has a checksum, so that the test moves the recorded secret to the new token.
    await shared.query('UPDATE tokens SET token_hash = $1 WHERE token_hash = $2', [hashOf('other'), hashOf(secret)]);
    await copy('tokens', `token_hash = '${hashOf('other')}'`, { id, name: 'old-token', token_hash: hashOf(secret) });
    await copy('audit_entries', 'true', { id: entry, actor: 'token:old-token', at: new Date().toISOString() });
    expect((await fleet('GET', '/auth/me')).body.user).toMatchObject({ id, name: 'old-token' });
    const { entries } = (await fleet('GET', '/audit?actor=token:old-token')).body;
    // Version 0.1.0 has no column for the source.
    const { source = null } = (await ofRelease.fleet.select('audit_entries')).find((row) => row.id === entry) ?? {};
    expect(source).toBe(release === '0.1.0' ? null : '127.0.0.1');
    expect(entries).toEqual(expect.arrayContaining([expect.objectContaining({ id: entry, source })]));
  });

  test('the release can delete old audit entries', async () => {
    const statement = "SELECT audit_forget(now() - interval '1 second', gen_random_uuid()) AS count";
    const { rows } = await ofRelease.fleet.shared.query(statement);
    expect(rows[0].count).toBeGreaterThan(0);
  });

  test('the rows that the current fleet writes are valid for the release', async () => {
    const host = { name: 'new-host', engine: 'docker', endpoint: 'tcp://127.0.0.1:1' };
    const created = async (plural: string, body: object) => {
      const answer = await fleet('POST', `/${plural}`, body);
      expect({ plural, status: answer.status }).toEqual({ plural, status: 201 });
      return answer.body;
    };
    await created('users', { email: 'new@example.test', role: 'viewer', password: 'seventeen quiet tractors' });
    await created('tokens', { name: 'new-token', role: 'viewer', expires_in_days: 30 });
    await created('hosts', host);
    await created('secrets', { name: 'new-secret', values: { key: 'value' } });
    await created('storage', { name: 'new-volume' });
    const { workload } = await created('workloads', { name: 'new-workload', image_name: 'team/app' });
    const newHost = async () => (await ofRelease.fleet.select('hosts')).find(({ name }) => name === 'new-host');
    // The first check would overwrite the update below.
    await eventually('the host is checked', newHost, { until: (each) => each?.reachability === 'unreachable' });
    const { rows } = await ofRelease.fleet.shared.query(`
      UPDATE hosts SET reachability = 'online', cpu_millis = 4000, memory_bytes = 8000000000, check_at = now() + interval '1 hour'
      WHERE name = 'new-host' RETURNING id`);
    await created('deployments', { name: 'new-deployment', workload_id: workload.id, target: { host_id: rows[0].id } });
    const login = { email: 'new@example.test', password: 'seventeen quiet tractors' };
    expect((await request('fleet', 'POST', '/auth/login', { body: login })).status).toBe(200);
    expect((await request('fleet', 'POST', '/auth/login', { body: { ...login, password: 'wrong' } })).status).toBe(401);
    const { tables, select, accept } = ofRelease.fleet;
    expect((await select('deployments')).map(({ name }) => name)).toContain('new-deployment');
    for (const table of tables) await accept(table);
  });

  test('the current hub sends the changes that the release writes to clients that sync', async () => {
    const { shared } = ofRelease.hub;
    const sync = async (query: string) =>
      (await request('hub', 'GET', `/catalog/templates/updates?${query}`, { token: keys.HUB_API_KEY ?? '' })).body;
    const exchanges: Exchange[] = JSON.parse(read(release, 'hub-traffic.json'));
    const pages = exchanges.filter(
      ({ request: { path: at }, response }) => at.includes('/templates/updates') && response.status === 200,
    );
    let { cursor } = pages.at(-1)?.response.body ?? {};
    ({ cursor } = await sync(`cursor=${cursor}`));
    const client = await shared.connect();
    try {
      // The transaction of a catalog write in the release.
      await client.query('BEGIN');
      await client.query(
        "UPDATE catalog_clock SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 millisecond')",
      );
      await client.query("UPDATE templates SET description = 'by the release' WHERE slug = 'redis'");
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    expect((await sync(`cursor=${cursor}`)).templates).toMatchObject([
      { slug: 'redis', description: 'by the release' },
    ]);
  });

  test('the rows that the current hub writes are valid for the release', async () => {
    const addOrganization = async () => {
      await deployment.command('hub', 'create-organization', '--name', 'New', '--slug', 'new');
      await deployment.command('hub', 'create-api-key', '--organization', 'new', '--name', 'new');
    };
    await Promise.all([
      addOrganization(),
      deployment.command('hub', 'import', path.join(repository, 'infra', 'catalog')),
    ]);
    const { tables, select, accept } = ofRelease.hub;
    expect((await select('organizations')).map(({ slug }) => slug)).toContain('new');
    for (const table of tables) await accept(table);
  });
});
