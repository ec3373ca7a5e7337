// Needs the right to mount a tmpfs (root on Linux); without it the tests are skipped, and say so. FAULT_FIGURES=1 prints
// what was measured.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createApiKey, createOrganization } from '../../src/commands/organizations.ts';
import { openDatabase } from '../../src/database/client.ts';
import { openLedger } from './ledger.ts';
import { ask, type Seen, statusesOf, summaryOf } from './load.ts';
import { adminOf, figure, makeCategory, prepareFaults, type RunningHub } from './world.ts';

const { closers, aFolder, aPostgres, anIssuer, aHub } = prepareFaults();
const DISK = '192m';
const WRITES = 40;

/** A small disk of its own in a temporary folder; undefined where mounting isn't permitted. */
function aDisk(): string | undefined {
  const folder = aFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=0755`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    fs.rmdirSync(folder);
    return undefined;
  }
  closers.push(async () => execFileSync('umount', [folder]));
  return folder;
}

const disk = aDisk();
const tests = disk === undefined ? describe.skip : describe;
const title = disk === undefined ? 'a full disk (SKIPPED: mounting a tmpfs is not permitted here)' : 'a full disk';

/** Takes all the space that is left. @returns what gives it back */
function fill(folder: string): () => void {
  const ballast = path.join(folder, 'ballast');
  const file = fs.openSync(ballast, 'w');
  const block = Buffer.alloc(1024 * 1024);
  for (let size = block.length; size >= 512; ) {
    try {
      fs.writeSync(file, block, 0, size);
    } catch {
      size /= 2; // no room for a block of this size
    }
  }
  fs.closeSync(file);
  return () => fs.rmSync(ballast);
}

tests(title, () => {
  let hub: RunningHub;
  let admin: string;
  let key: string;
  let ledger: ReturnType<typeof openLedger>;

  beforeAll(async () => {
    const issuer = await anIssuer();
    const { databaseUrl } = await aPostgres(disk ?? '');
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
    const free = fill(disk ?? '');
    const written: Seen[] = [];
    const reads: Seen[] = [];
    for (let count = 1; count <= WRITES; count++) {
      written.push(await write());
      reads.push(await read('/api/v1/catalog/templates'));
      reads.push(await read('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z', key));
      reads.push(await read('/api/v1/catalog/organization', key));
    }
    free();
    figure(`disk full: writes ${summaryOf(written)}; reads ${summaryOf(reads)}`);
    expect(statusesOf(written)).toContain(503);
    expect([200, 201, 503]).toEqual(expect.arrayContaining(statusesOf(written)));
    expect(statusesOf(reads)).toEqual([200]);
    expect((await ledger.writer('after')()).status).toBe(201);
    expect(hub.child.exitCode).toBeNull();
    expect(await ledger.lost()).toEqual([]);
  }, 60_000);
});
