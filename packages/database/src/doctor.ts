import { type Clocks, callOf, connectionProblem, type DoctorCheck, type Finding, failed, ok, warning } from '@svc/http';
import type pg from 'pg';
import { withConnection } from './migrations/connection.ts';
import { differencesOf, readExpectedObjects, readObjects } from './migrations/objects.ts';
import { pendingText, schemaMismatch } from './migrations/prepare.ts';
import { APPEND_ONLY, READ_ONLY } from './migrations/serving-role.ts';
import { migrationState } from './migrations/state.ts';
import { isRefused } from './translate-error.ts';

interface DatabaseSettings {
  /** With the role of the service. */
  readonly DATABASE_URL: string;
  readonly MIGRATION_DATABASE_URL?: string | undefined;
  readonly MIGRATE_ON_START: boolean;
  readonly DATABASE_CONNECTIONS: number;
}

interface Options {
  readonly prismaDir: string;
  /** The settings; throws if they are not known. */
  readonly config: () => DatabaseSettings;
  readonly clocks: Clocks;
  /** Receives the folder of the database, if the role may know it. */
  readonly onFolder: (folder: string) => void;
}

const MIN_VERSION = 15;
const CONNECT = 'Check DATABASE_URL, that PostgreSQL is running, and that it accepts connections from this machine.';
const CONNECT_SECURELY =
  'Check sslmode, sslrootcert, sslcert and sslkey in DATABASE_URL, and NODE_EXTRA_CA_CERTS (docs/configuration.md, "Private networks").';
const STATEMENT_LIMIT_MS = 3000;

/** The checks of the database for the command `doctor`. They change nothing. */
export function databaseChecks({ prismaDir, config, clocks, onFolder }: Options): DoctorCheck[] {
  const run = <T>(work: (client: pg.Client) => Promise<T>, url = config().DATABASE_URL): Promise<T> =>
    withConnection(url, async (client) => {
      await client.query(`SET statement_timeout = ${STATEMENT_LIMIT_MS}`);
      return work(client);
    });
  const state = () =>
    run((client) => migrationState({ prismaDir, query: async (sql) => (await client.query(sql)).rows }));
  return [
    {
      name: 'database',
      run: async () => {
        const { DATABASE_URL: url } = config();
        try {
          return await run((client) => checkServer(client, clocks, onFolder), url);
        } catch (error) {
          const remedy = connectionProblem(error)?.isOfTls ? CONNECT_SECURELY : CONNECT;
          return failed(error instanceof Error ? error.message : String(error), remedy);
        }
      },
    },
    {
      name: 'schema',
      needs: ['database'],
      run: async () => {
        try {
          return checkSchema(await state(), await run(mayMigrate), config());
        } catch (error) {
          if (!isRefused(error)) throw error;
          return failed(`The role of DATABASE_URL lacks privileges: ${error.message}.`, MIGRATE_AS_OWNER);
        }
      },
    },
    {
      name: 'drift',
      needs: ['schema'],
      run: async () => {
        const { later, newest } = await state();
        if (later.length > 0) return ok('Not compared: a later version has migrated this database.');
        const objects = await run((client) => readObjects(async (sql) => (await client.query(sql)).rows));
        const differences = differencesOf(readExpectedObjects(prismaDir), objects);
        if (differences.length === 0) return ok(`The database equals its schema at ${newest}.`);
        const more = differences.length > 5 ? [`and ${differences.length - 5} more`] : [];
        return failed(
          ['The database was changed outside the migrations:', ...differences.slice(0, 5), ...more].join('\n'),
          'Revert the manual change, or restore a backup. Do not edit the migrations.',
        );
      },
    },
    { name: 'privileges', needs: ['schema'], run: () => checkPrivileges(run, config()) },
    {
      name: 'connections',
      needs: ['database'],
      run: () => run((client) => checkConnections(client, config().DATABASE_CONNECTIONS)),
    },
  ];
}

type Run = <T>(work: (client: pg.Client) => Promise<T>, url?: string) => Promise<T>;

async function checkServer(client: pg.Client, clocks: Clocks, onFolder: Options['onFolder']) {
  const sentAt = Date.now();
  const { rows } = await client.query(`
    SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number, current_user AS role,
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, pg_is_in_recovery() AS is_standby,
      pg_size_pretty(pg_database_size(current_database())) AS size,
      CASE WHEN pg_has_role('pg_read_all_settings', 'MEMBER') THEN current_setting('data_directory') END AS folder`);
  const { version, number, role, now, is_standby, size, folder } = rows[0];
  clocks.set('database', now - (sentAt + Date.now()) / 2);
  if (folder !== null) onFolder(folder);
  if (number < MIN_VERSION * 10_000)
    return failed(`PostgreSQL ${version} is not supported.`, `Upgrade PostgreSQL to version ${MIN_VERSION} or later.`);
  if (is_standby)
    return failed('The server is a standby, which accepts no writes.', 'Set DATABASE_URL to the primary server.');
  return ok(`PostgreSQL ${version}, role ${role}, ${size}.`);
}

const MIGRATE_AS_OWNER = `Run the command migrate with the role that owns the database (MIGRATION_DATABASE_URL): ${callOf('migrate')}`;

/** Whether the role of DATABASE_URL can apply migrations. */
async function mayMigrate(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`
    SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AND
      coalesce((SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('_prisma_migrations')), true) AS may`);
  return rows[0].may;
}

function checkSchema(
  state: Awaited<ReturnType<typeof migrationState>>,
  isPermitted: boolean,
  { MIGRATE_ON_START: migrates, MIGRATION_DATABASE_URL: ownerUrl }: DatabaseSettings,
): Finding {
  const { pending, edited, failed: broken, later, newest } = state;
  const [first] = broken;
  if (first)
    return failed(
      `Migration ${first.name} has failed.`,
      'Run the command migrate: it states the reason and the next steps.',
    );
  if (edited.length > 0)
    return failed(
      `The files of applied migrations differ from the database: ${edited.join(', ')}.`,
      'Install the released files of this version again.',
    );
  if (pending.length > 0) {
    const canMigrate = isPermitted || ownerUrl !== undefined;
    if (migrates && canMigrate) return pendingMigrations(pending.length);
    const found = `M${pendingText(pending).slice(1)}.`;
    return failed(found, canMigrate ? `Run the command migrate: ${callOf('migrate')}` : MIGRATE_AS_OWNER);
  }
  const mismatch = schemaMismatch(state);
  if (mismatch !== undefined)
    return failed(`${mismatch}.`, 'Upgrade the service, or restore a backup from before the upgrade.');
  return ok(
    `${newest}${later.length > 0 ? `, and ${later.length} later migrations that this version does not need` : ''}.`,
  );
}

/** The next start applies migrations. Until then, checks that read tables of this version cannot run. */
const pendingMigrations = (count: number): Finding => ({
  ...ok(`${count} migrations are applied at the next start.`),
  isIncomplete: true,
});

/** What the role of the service must be allowed to do with each table and sequence. */
async function checkPrivileges(run: Run, { MIGRATION_DATABASE_URL: ownerUrl }: DatabaseSettings) {
  const remedy = 'Run the command migrate with MIGRATION_DATABASE_URL: it grants what the role of DATABASE_URL needs.';
  if (ownerUrl !== undefined) await run((client) => client.query('SELECT 1'), ownerUrl);
  const { rows } = await run((client) =>
    client.query<{ name: string; privilege: string }>(
      `SELECT c.relname AS name, privilege
       FROM pg_class c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
       WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
         AND (privilege = 'SELECT' OR c.relname <> ALL ($1::text[]))
         AND (privilege IN ('SELECT', 'INSERT') OR c.relname <> ALL ($2::text[]))
         AND NOT has_table_privilege(c.oid, privilege)
       UNION ALL
       SELECT c.relname, 'USAGE' FROM pg_class c
       WHERE c.relnamespace = current_schema()::regnamespace AND CASE WHEN c.relkind = 'S' THEN NOT has_sequence_privilege(c.oid, 'USAGE') END
       ORDER BY 1, 2`,
      [READ_ONLY, APPEND_ONLY],
    ),
  );
  if (rows.length > 0) {
    const missing = rows.slice(0, 10).map(({ name, privilege }) => `${privilege} on ${name}`);
    const more = rows.length > missing.length ? ` and ${rows.length - missing.length} more` : '';
    return failed(`The role of DATABASE_URL lacks ${missing.join(', ')}${more}.`, remedy);
  }
  const { rows: roles } = await run((client) =>
    client.query('SELECT rolsuper FROM pg_roles WHERE rolname = current_user'),
  );
  if (roles[0]?.rolsuper)
    return warning(
      'The role of DATABASE_URL is a superuser.',
      'Use a role that has only the privileges of the service.',
    );
  return ok('The role of DATABASE_URL has all privileges that the service needs.');
}

/** Compares `DATABASE_CONNECTIONS` with the limits of the server, the database and the role. */
async function checkConnections(client: pg.Client, needed: number) {
  const { rows } = await client.query(`
    SELECT limits.name, limits.most, limits.used FROM (
      SELECT 'the server' AS name,
        (SELECT sum(setting::int * CASE name WHEN 'max_connections' THEN 1 ELSE -1 END)::int FROM pg_settings
         WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) AS most,
        (SELECT sum(numbackends)::int FROM pg_stat_database) AS used
      UNION ALL
      SELECT 'the database', datconnlimit, (SELECT numbackends FROM pg_stat_database s WHERE s.datid = d.oid)
      FROM pg_database d WHERE datname = current_database() AND datconnlimit >= 0
      UNION ALL
      SELECT 'the role', rolconnlimit, (SELECT count(*)::int FROM pg_stat_activity WHERE usename = current_user)
      FROM pg_roles WHERE rolname = current_user AND rolconnlimit >= 0) AS limits`);
  // Without the connection of this check.
  const all = rows.map(({ name, most, used }) => ({ name, most, left: most - (used - 1) }));
  const text = all.map(({ name, most, left }) => `${name} allows ${most}, ${left} are free`).join('; ');
  const found = `A process needs ${needed} connections (DATABASE_CONNECTIONS); ${text}.`;
  const remedy = 'Raise the limit in PostgreSQL (max_connections, CONNECTION LIMIT), or lower DATABASE_CONNECTIONS.';
  if (all.some(({ most }) => most < needed)) return failed(found, remedy);
  return all.some(({ left }) => left < needed) ? warning(found, remedy) : ok(found);
}
