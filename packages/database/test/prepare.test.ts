// A service and a command on a database that a migration has not prepared, or only for its owner.
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import { type DoctorCheck, diagnose } from '@svc/http';
import { databaseChecks, migrateDatabase, prepareDatabase, unavailableDatabase } from '../src/index.ts';
import { aDatabase, rowsOf, serverUrl } from './on-database.ts';

const prismaDir = fileURLToPath(new URL('./fixtures/garage', import.meta.url));
const OWNER = 'prepare_owner';
const SERVICE = 'prepare_service';
const MIGRATE = 'Run the command migrate: node dist/main.js migrate';

beforeAll(async () => {
  for (const role of [OWNER, SERVICE]) await rowsOf(serverUrl, `create role ${role} login`);
});

const withRole = (databaseUrl: string, username: string) => Object.assign(new URL(databaseUrl), { username }).href;

/** The URLs of a database with its owner and with the role of the service. */
async function aPair() {
  const url = await aDatabase({ owner: OWNER });
  return { owner: withRole(url, OWNER), service: withRole(url, SERVICE) };
}

const preparation = (databaseUrl: string, ownerUrl?: string) => ({
  prismaDir,
  databaseUrl,
  ownerUrl,
  auditRetentionDays: undefined,
});
const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no failure',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

/** The finding of `doctor` about the schema. */
async function schemaFinding(databaseUrl: string, migrates: boolean) {
  const settings = { DATABASE_URL: databaseUrl, MIGRATE_ON_START: migrates, DATABASE_CONNECTIONS: 16 };
  const checks: DoctorCheck[] = databaseChecks({
    ...{ prismaDir, config: () => settings, clocks: new Map(), onFolder: () => undefined },
  });
  const report = await diagnose({ checks, close: async () => undefined }, { service: 'garage', version: '1.2.3' });
  return Object.fromEntries(report.checks.map((check) => [check.name, check]));
}

test('a database without migrations is refused in one line that states what to run', async () => {
  const { owner } = await aPair();
  const message = await failureOf(prepareDatabase({ ...preparation(owner), migrates: false }));
  expect(message).toBe(
    `The database cannot be used: migrations are not applied: 20260101000000_init, 20260102000000_wheels. ${MIGRATE}.`,
  );
});

test('the role of a service that must not migrate is told which role must, by the start, the command and doctor', async () => {
  const { service } = await aPair();
  const start = await failureOf(prepareDatabase({ ...preparation(service), migrates: true }));
  expect(start).toContain(`${MIGRATE}. The role ${SERVICE} must not migrate the database (permission denied`);
  expect(start).toContain('Set MIGRATION_DATABASE_URL to the database with the role that owns it.');
  expect(start).not.toContain('\n');
  expect(await failureOf(migrateDatabase(preparation(service)))).toMatch(/^The role prepare_service must not migrate/);
  for (const migrates of [true, false]) {
    const { schema, drift } = await schemaFinding(service, migrates);
    expect(schema).toMatchObject({
      state: 'failed',
      found: expect.stringContaining('Migrations are not applied'),
      remedy: expect.stringMatching(/^Run the command migrate with the role that owns the database/),
    });
    expect(drift).toMatchObject({ state: 'skipped' });
  }
});

test('an owner that migrates at its start is not told to migrate, and checks of tables wait until then', async () => {
  const { owner } = await aPair();
  const { schema, privileges } = await schemaFinding(owner, true);
  expect(schema).toEqual({ name: 'schema', state: 'ok', found: '2 migrations are applied at the next start.' });
  expect(privileges).toMatchObject({ state: 'skipped' });
});

test('a role without privileges on a migrated database is told that migrate grants them', async () => {
  const { owner, service } = await aPair();
  await migrateDatabase(preparation(owner));
  const message = await failureOf(prepareDatabase({ ...preparation(service), migrates: false }));
  expect(message).toContain(
    `the role of the service lacks privileges, which the role that owns the database grants. ${MIGRATE}`,
  );
  const { schema } = await schemaFinding(service, false);
  expect(schema).toMatchObject({
    state: 'failed',
    found: 'The role of DATABASE_URL lacks privileges: permission denied for table _prisma_migrations.',
    remedy: expect.stringMatching(/^Run the command migrate with the role that owns/),
  });
});

test('a role that can read everything and must not migrate can serve if nothing is pending', async () => {
  const { owner, service } = await aPair();
  await migrateDatabase(preparation(owner));
  await rowsOf(owner, `grant select on all tables in schema public to ${SERVICE}`);
  expect(await prepareDatabase({ ...preparation(service), migrates: true })).toEqual([]);
});

test('the state of a database that cannot be checked has the reason for the log alone', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
  expect(unavailableDatabase(refused)).toEqual({
    ...{ name: 'database', state: 'failed', detail: 'not reachable' },
    reason: 'connect ECONNREFUSED 127.0.0.1:5432',
  });
  const denied = await rowsOf(withRole(serverUrl, SERVICE), 'select * from pg_authid').catch((error: unknown) => error);
  expect(unavailableDatabase(denied)).toEqual({
    ...{ name: 'database', state: 'failed' },
    detail: `the role of the service lacks privileges. ${MIGRATE}`,
    reason: 'permission denied for table pg_authid',
  });
  expect(unavailableDatabase(new TypeError('a defect'))).toMatchObject({ detail: 'cannot be checked' });
});
