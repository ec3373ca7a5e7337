// Needs the right to mount a tmpfs (root on Linux). Without it the tests are skipped.
import { randomBytes } from 'node:crypto';
import { figure } from '@svc/testing';
import {
  ask,
  describeOnDisk,
  type OwnPostgres,
  type RunningService,
  type Seen,
  statusesOf,
  summaryOf,
  whileFull,
} from '@svc/testing/faults';
import { createApiKey, createOrganization } from '../../src/commands/organizations.ts';
import { openDatabase } from '../../src/database/client.ts';
import { openLedger } from './ledger.ts';
import { adminOf, makeCategory, prepareHubFaults } from './world.ts';

const { aDisk, aPostgres, anIssuer, aHub } = prepareHubFaults();
const WRITES = 40;

describeOnDisk('a full disk', aDisk('192m'), (disk) => {
  let postgres: OwnPostgres;
  let hub: RunningService;
  let admin: string;
  let key: string;
  let ledger: ReturnType<typeof openLedger>;

  beforeAll(async () => {
    const issuer = await anIssuer();
    postgres = await aPostgres(disk);
    const { databaseUrl } = postgres;
    hub = await aHub({ databaseUrl, issuer: issuer.issuer });
    admin = await adminOf(issuer);
    // Random, so that PostgreSQL can't store it smaller than it is.
    const ballast = () => randomBytes(20_000).toString('base64');
    ledger = openLedger({ url: () => hub.url, admin, categoryId: await makeCategory(hub, admin), ballast });
    const database = openDatabase(databaseUrl, () => undefined);
    await createOrganization({ name: 'Acme', slug: 'acme' })(database);
    key = `Bearer ${(await createApiKey({ organization: 'acme', name: 'key' })(database)).key}`;
    await database.close();
  }, 60_000);

  const read = (path: string, authorization = admin) => ask(`${hub.url}${path}`, { authorization });

  test('refuses writes with 503, serves reads, loses nothing, and is over when there is space again', async () => {
    const write = ledger.writer('template');
    for (let count = 1; count <= 3; count++) expect([200, 201]).toContain((await write()).status);
    const written: Seen[] = [];
    const reads: Seen[] = [];
    await whileFull(disk, postgres, async () => {
      for (let count = 1; count <= WRITES; count++) {
        written.push(await write());
        reads.push(await read('/api/v1/catalog/templates'));
        reads.push(await read('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z', key));
        reads.push(await read('/api/v1/catalog/organization', key));
      }
    });
    figure(`disk full: writes ${summaryOf(written)}; reads ${summaryOf(reads)}`);
    expect(statusesOf(written)).toContain(503);
    expect([200, 201, 503]).toEqual(expect.arrayContaining(statusesOf(written)));
    expect(statusesOf(reads)).toEqual([200]);
    expect((await ledger.writer('after')()).status).toBe(201);
    expect(hub.child.exitCode).toBeNull();
    expect(await ledger.lost()).toEqual([]);
  }, 60_000);
});
