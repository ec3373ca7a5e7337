import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../testing/src/run/eventually.ts';
import { runEngine } from '../src/development/engine-process.ts';
import { migrationDrift, newMigration } from '../src/development.ts';
import { migrate, migrationState } from '../src/index.ts';
import { aDatabase, rowsOf, serverUrl } from './on-database.ts';

const fixture = fileURLToPath(new URL('./fixtures/garage', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'migrations-'));
const init = '20260101000000_init';
const wheels = '20260102000000_wheels';
/** Not a superuser, like the role of a service. */
const OWNER = 'garage';
let migratedDatabase: string;
let options: { prismaDir: string; databaseUrl: string };
let count = 0;

const fileOf = (name: string) => path.join(options.prismaDir, 'migrations', name, 'migration.sql');
const stateOf = () =>
  migrationState({ prismaDir: options.prismaDir, query: (sql) => rowsOf(options.databaseUrl, sql) });

function addMigration(name: string, sql: string): void {
  fs.mkdirSync(path.dirname(fileOf(name)));
  fs.writeFileSync(fileOf(name), sql);
}

beforeAll(async () => {
  await rowsOf(serverUrl, `create role ${OWNER} login`);
  const databaseUrl = ownerUrl(await aDatabase({ owner: OWNER }));
  await migrate({ prismaDir: fixture, databaseUrl });
  migratedDatabase = new URL(databaseUrl).pathname.slice(1);
  // A database with connections cannot be copied.
  await rowsOf(
    serverUrl,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${migratedDatabase}'`,
  );
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

beforeEach(async () => {
  count += 1;
  const prismaDir = path.join(folder, `garage${count}`);
  fs.cpSync(fixture, prismaDir, { recursive: true });
  options = { prismaDir, databaseUrl: ownerUrl(await aDatabase({ owner: OWNER })) };
});

function ownerUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = OWNER;
  return url.href;
}

/** Lets the test use a database with all migrations. */
async function useMigrated(): Promise<void> {
  options = { ...options, databaseUrl: ownerUrl(await aDatabase({ owner: OWNER, template: migratedDatabase })) };
}

describe('migrate', () => {
  test('applies all migrations to an empty database in order', async () => {
    expect(await migrate(options)).toEqual([init, wheels]);
    expect(await rowsOf(options.databaseUrl, 'select honk()')).toEqual([{ honk: 'honk; honk' }]);
  });

  test('applies each migration once if two processes migrate at the same time', async () => {
    const applied = await Promise.all([migrate(options), migrate(options)]);
    expect(applied.flat()).toEqual([init, wheels]);
  });

  test('applies only new migrations', async () => {
    await useMigrated();
    addMigration('20260103000000_vans', 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY);');
    expect(await migrate(options)).toEqual(['20260103000000_vans']);
  });

  test('fails if the file of an applied migration was edited', async () => {
    await useMigrated();
    fs.appendFileSync(fileOf(init), '-- one more thing');
    await expect(migrate(options)).rejects.toThrow(
      `The files of applied migrations were changed: ${init}. Restore them`,
    );
  });

  test('accepts files with other line endings', async () => {
    await useMigrated();
    fs.writeFileSync(fileOf(init), fs.readFileSync(fileOf(init), 'utf8').replaceAll('\n', '\r\n'));
    expect(await migrate(options)).toEqual([]);
  });

  test('reports why and where a migration could not be applied, and applies it after the correction', async () => {
    const broken = '20260103000000_broken';
    addMigration(broken, 'CREATE TABLE "vans" ("id" INTEGER);\nALTER TABLE "boats" ADD COLUMN "sails" INTEGER;');
    await expect(migrate(options)).rejects.toThrow(
      `Migration ${broken} could not be applied: relation "boats" does not exist (42P01). It has changed nothing in the database. Correct the cause, and retry.`,
    );
    expect(await stateOf()).toEqual({ pending: [broken], edited: [], failed: [], newest: broken, later: [] });
    fs.writeFileSync(fileOf(broken), 'CREATE TABLE "vans" ("id" INTEGER);\nSELECT "id" FROM "vans";');
    expect(await migrate(options)).toEqual([broken]);
  });

  test('names the line of the error in the file, if PostgreSQL states it', async () => {
    addMigration('20260103000000_broken', '-- \u{1F697}\nSELECT 1;\nSELECT "sails" FROM "cars";');
    await expect(migrate(options)).rejects.toThrow(
      'Migration 20260103000000_broken could not be applied: column "sails" does not exist (42703) in line 3. It',
    );
  });

  test('keeps the migrations before a failed one', async () => {
    addMigration('20260103000000_broken', 'SELECT 1 / 0;');
    await migrate(options).catch(() => {});
    expect(await stateOf()).toMatchObject({ pending: ['20260103000000_broken'], failed: [] });
  });

  test('rejects a statement that cannot run in a transaction', async () => {
    addMigration('20260103000000_index', 'CREATE INDEX CONCURRENTLY "cars_plate" ON "cars" ("plate");');
    await expect(migrate(options)).rejects.toThrow(
      'Migration 20260103000000_index could not be applied: CREATE INDEX CONCURRENTLY cannot run inside a transaction block (25001).',
    );
  });

  test.each(['COMMIT', 'ROLLBACK', 'COMMIT; BEGIN'])('does not record a migration with %s as applied', async (end) => {
    const ending = '20260103000000_ending';
    addMigration(ending, `CREATE TABLE "vans" ("id" INTEGER); ${end};`);
    await expect(migrate(options)).rejects.toThrow(
      `Migration ${ending} could not be applied: it contains COMMIT or ROLLBACK. Remove them: each migration runs in one transaction.`,
    );
    expect(await stateOf()).toMatchObject({ pending: [ending], failed: [] });
  });

  test('rejects a database with tables and without a history of migrations', async () => {
    await rowsOf(options.databaseUrl, 'create table boats ()');
    await expect(migrate(options)).rejects.toThrow('The database contains tables, such as boats, but no history');
    expect(await rowsOf(options.databaseUrl, `select to_regclass('_prisma_migrations') as history`)).toEqual([
      { history: null },
    ]);
  });

  test('fails after a migration that version 0.1.0 has recorded as failed, until it is marked as rolled back', async () => {
    await useMigrated();
    const broken = '20260103000000_broken';
    addMigration(broken, 'CREATE TABLE "boats" ("id" INTEGER PRIMARY KEY);');
    await rowsOf(
      options.databaseUrl,
      `insert into _prisma_migrations (id, checksum, migration_name, logs) values
         (gen_random_uuid(), 'other', '${broken}', 'relation "boats" does not exist (42P01)\n   0: trace')`,
    );
    const error: unknown = await migrate(options).catch((error: unknown) => error);
    expect(String(error)).toContain(
      `Migration ${broken} has failed (relation "boats" does not exist (42P01)). Correct it,`,
    );
    const advice = /UPDATE .*?;/.exec(String(error))?.[0] ?? '';
    await rowsOf(options.databaseUrl, advice);
    expect(await migrate(options)).toEqual([broken]);
  });

  test('applies a migration again that version 0.1.0 has started and not finished', async () => {
    await useMigrated();
    const slow = '20260103000000_slow';
    addMigration(slow, 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY); -- no end of line');
    await rowsOf(
      options.databaseUrl,
      `insert into _prisma_migrations (id, checksum, migration_name) values (gen_random_uuid(), 'other', '${slow}')`,
    );
    expect((await stateOf()).failed).toEqual([{ name: slow, log: '' }]);
    expect(await migrate(options)).toEqual([slow]);
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [], newest: slow, later: [] });
  });

  test('reports an unreachable database without its password', async () => {
    const databaseUrl = options.databaseUrl.replace(`${OWNER}@`, `${OWNER}:hush@`).replace(/:\d+\//, ':1/');
    const error: unknown = await migrate({ ...options, databaseUrl }).catch((error: unknown) => error);
    expect(String(error)).toMatch(/^Error: The database test_\w+ at 127\.0\.0\.1:1 is not reachable: .*ECONNREFUSED/);
    expect(String(error)).not.toContain('hush');
  });

  test('applies a migration again whose process was killed', async () => {
    await useMigrated();
    const slow = '20260103000000_slow';
    addMigration(slow, 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY); SELECT pg_sleep(60); -- no end of line');
    const program = fileURLToPath(new URL('./fixtures/migrate.mjs', import.meta.url));
    const child = fork(program, [options.prismaDir, options.databaseUrl], { execArgv: [] });
    const sleeping = "select pid from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()";
    await eventually('the migration runs', () => rowsOf(options.databaseUrl, sleeping), {
      until: ({ length }) => length > 0,
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The server would detect the closed connection only when it sends data. A restart of either
    // has the same effect.
    await rowsOf(options.databaseUrl, sleeping.replace('select pid', 'select pg_terminate_backend(pid)'));
    expect(await stateOf()).toEqual({ pending: [slow], edited: [], failed: [], newest: slow, later: [] });

    fs.writeFileSync(fileOf(slow), 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY); -- no end of line');
    expect(await migrate(options)).toEqual([slow]);
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [], newest: slow, later: [] });
  });
});

describe('the history of migrations', () => {
  const diagnosed = async () => {
    const response = await runEngine({ kind: 'diagnose', ...options });
    return response.kind === 'diagnosed' ? response.history : response;
  };
  const upToDate = { hasMigrationsTable: true, history: null, failedMigrationNames: [], editedMigrationNames: [] };

  test('is up to date for the schema engine, which prisma migrate status uses', async () => {
    await useMigrated();
    expect(await diagnosed()).toMatchObject(upToDate);
    addMigration('20260103000000_vans', 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY);');
    expect(await diagnosed()).toMatchObject({
      history: { diagnostic: 'databaseIsBehind', unappliedMigrationNames: ['20260103000000_vans'] },
    });
    await migrate(options);
    expect(await diagnosed()).toMatchObject(upToDate);
  });

  test('has the table and the rows that the schema engine writes', async () => {
    await useMigrated();
    const columns = await rowsOf(
      options.databaseUrl,
      `select concat_ws(' ', attname, format_type(atttypid, atttypmod), case when attnotnull then 'not null' end, pg_get_expr(adbin, adrelid)) as column
       from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
       where attrelid = '_prisma_migrations'::regclass and attnum > 0 order by attnum`,
    );
    expect(columns).toEqual([
      { column: 'id character varying(36) not null' },
      { column: 'checksum character varying(64) not null' },
      { column: 'finished_at timestamp with time zone' },
      { column: 'migration_name character varying(255) not null' },
      { column: 'logs text' },
      { column: 'rolled_back_at timestamp with time zone' },
      { column: 'started_at timestamp with time zone not null now()' },
      { column: 'applied_steps_count integer not null 0' },
    ]);
    const [row] = await rowsOf(options.databaseUrl, 'select * from _prisma_migrations order by started_at limit 1');
    expect(row).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      checksum: createHash('sha256')
        .update(fs.readFileSync(fileOf(init)))
        .digest('hex'),
      migration_name: init,
      logs: null,
      rolled_back_at: null,
      started_at: expect.any(Date),
      finished_at: expect.any(Date),
      applied_steps_count: 1,
    });
  });
});

describe('migrationState', () => {
  test('lists all migrations as pending for an empty database', async () => {
    expect(await stateOf()).toEqual({ pending: [init, wheels], edited: [], failed: [], newest: wheels, later: [] });
  });

  test('lists nothing for a migrated database', async () => {
    await useMigrated();
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [], newest: wheels, later: [] });
  });

  test('lists an edited file', async () => {
    await useMigrated();
    fs.appendFileSync(fileOf(wheels), '-- one more thing');
    expect(await stateOf()).toEqual({ pending: [], edited: [wheels], failed: [], newest: wheels, later: [] });
  });

  test('lists applied migrations of a later version apart', async () => {
    await useMigrated();
    fs.rmSync(path.dirname(fileOf(wheels)), { recursive: true });
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [], newest: init, later: [wheels] });
  });
});

describe('migrationDrift', () => {
  test('ends its child process when the parent process has exited', async () => {
    const program = fileURLToPath(new URL('../dist/development/engine-child.js', import.meta.url));
    const child = fork(program, { execArgv: [] });
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([1, null]);
  });

  test('is empty if the database matches the schema', async () => {
    await useMigrated();
    expect(await migrationDrift(options)).toBe('');
  });

  test('is the SQL that makes the database match the schema', async () => {
    await useMigrated();
    await rowsOf(options.databaseUrl, 'alter table cars drop column plate');
    expect(await migrationDrift(options)).toContain('ALTER TABLE "cars" ADD COLUMN');
  });
});

describe('newMigration', () => {
  const schema = () => path.join(options.prismaDir, 'schema.prisma');

  test('writes the difference between the migrations and the schema', async () => {
    await useMigrated();
    fs.appendFileSync(schema(), '\nmodel Van {\n  id Int @id\n\n  @@map("vans")\n}\n');
    const name = await newMigration({ ...options, name: 'vans' });
    expect(await migrate(options)).toEqual([name]);
    expect(await migrationDrift(options)).toBe('');
  });

  test('writes nothing if there is no difference', async () => {
    await useMigrated();
    expect(await newMigration({ ...options, name: 'nothing' })).toBeUndefined();
  });

  test('fails for a database with pending migrations', async () => {
    await expect(newMigration({ ...options, name: 'early' })).rejects.toThrow(`This database lacks ${init}, ${wheels}`);
  });

  test('fails for an invalid name', async () => {
    await expect(newMigration({ ...options, name: '../x' })).rejects.toThrow('must contain only a-z, 0-9 and _');
  });
});
