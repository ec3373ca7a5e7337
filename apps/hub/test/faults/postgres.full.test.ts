// PostgreSQL is killed, frozen, or out of disk space. The test of the disk requires the right to
// mount a tmpfs (root on Linux).
import { randomBytes } from 'node:crypto';
import { figure } from '@svc/testing';
import {
  ask,
  describeOnDisk,
  type LoadResult,
  statusesOf,
  summaryOf,
  testDatabaseOutage,
  testTimeouts,
  whileFull,
} from '@svc/testing/faults';
import { createApiKey, createOrganization } from '../../src/commands/organizations.ts';
import { openDatabase, poolLimits } from '../../src/database/client.ts';
import { openLedger } from './ledger.ts';
import { adminOf, createCategory, prepareHubFaults } from './world.ts';

const { aDisk, aPostgres, anIssuer, aHub } = prepareHubFaults();
const WRITES = 40;

const LIST = '/api/v1/catalog/templates';
const UPDATES = `${LIST}/updates?since=1970-01-01T00:00:00Z`;

const disk = aDisk('192m');
/**
 * Documentation that a write adds to its template: random, so that PostgreSQL cannot compress it.
 */
let documentation = () => '';
let world: Awaited<ReturnType<typeof startWorld>>;

async function startWorld() {
  const issuer = await anIssuer();
  const postgres = await aPostgres(disk);
  const { databaseUrl } = postgres;
  const service = await aHub({ databaseUrl, issuer: issuer.issuer });
  const admin = await adminOf(issuer);
  const ledger = openLedger({
    url: () => service.url,
    admin,
    categoryId: await createCategory(service, admin),
    documentation: () => documentation(),
  });
  const database = openDatabase(databaseUrl, () => undefined);
  await createOrganization({ name: 'Acme', slug: 'acme' })(database);
  const key = `Bearer ${(await createApiKey({ organization: 'acme', name: 'key' })(database)).key}`;
  await database.close();
  const reader = (path: string, authorization?: string) => () =>
    ask(`${service.url}${path}`, authorization === undefined ? {} : { authorization });
  return { postgres, service, ledger, admin, key, reader };
}

testDatabaseOutage(async () => {
  world = await startWorld();
  const { postgres, service, ledger, admin, reader } = world;
  const readers = [
    reader(LIST),
    reader(UPDATES),
    reader('/api/v1/catalog/categories', admin),
    reader('/api/v1/admin/templates', admin),
    reader('/readyz'),
  ];
  return { postgres, service, ledger, readers, wrong: ledger.lost };
});

testTimeouts(poolLimits);

describeOnDisk('a full disk', disk, (full) => {
  test('answers 503 to writes, serves reads, loses no acknowledged write, and works again when space is free', async () => {
    const { postgres, service, ledger, admin, key, reader } = world;
    documentation = () => randomBytes(20_000).toString('base64');
    const write = ledger.writer('template');
    for (let count = 1; count <= 3; count++) expect([200, 201]).toContain((await write()).status);
    const written: LoadResult[] = [];
    const reads: LoadResult[] = [];
    const readers = [reader(LIST, admin), reader(UPDATES, key), reader('/api/v1/catalog/organization', key)];
    await whileFull(full, postgres, async () => {
      for (let count = 1; count <= WRITES; count++) {
        written.push(await write());
        for (const read of readers) reads.push(await read());
      }
    });
    figure(`disk full: writes ${summaryOf(written)}; reads ${summaryOf(reads)}`);
    expect(statusesOf(written)).toContain(503);
    expect([200, 201, 503]).toEqual(expect.arrayContaining(statusesOf(written)));
    expect(statusesOf(reads)).toEqual([200]);
    expect((await ledger.writer('after')()).status).toBe(201);
    expect(service.child.exitCode).toBeNull();
    expect(await ledger.lost()).toEqual([]);
  });
});
