import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { jest } from '@jest/globals';
import { execute } from '@svc/http';
import { program } from '../../src/commands.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const folder = mkdtempSync(path.join(tmpdir(), 'command-line-'));
const { DATABASE_URL } = process.env;
beforeEach(() => {
  process.env.DATABASE_URL = world.databaseUrl;
});
afterEach(() => {
  jest.restoreAllMocks();
  if (DATABASE_URL === undefined) delete process.env.DATABASE_URL;
  else process.env.DATABASE_URL = DATABASE_URL;
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.stop();
});

/** Runs a command. @returns what it printed */
async function run(name: string, ...args: string[]): Promise<string> {
  const printed: unknown[] = [];
  jest.spyOn(console, 'log').mockImplementation((text: unknown) => void printed.push(text));
  await execute(program, [name, ...args]);
  return printed.join('\n');
}

/** A folder with a catalog of one template. */
function aCatalog(): string {
  const catalog = path.join(folder, 'catalog');
  mkdirSync(path.join(catalog, 'templates'), { recursive: true });
  writeFileSync(path.join(catalog, 'categories.yaml'), '- { slug: tools, name: Tools }\n');
  writeFileSync(path.join(catalog, 'templates', 'one.yaml'), 'name: One\ncategory: tools\n');
  return catalog;
}

test('import reports what it created, and with --dry-run what it would create', async () => {
  const catalog = aCatalog();
  expect(await run('import', catalog, '--dry-run')).toContain('dry run: 2 to create');
  expect(await run('import', catalog)).toContain('2 created');
  expect((await world.anonymous.get('/api/v1/catalog/templates/one')).status).toBe(200);
});

test('import --prune deletes what no file describes only with --yes, and at most --max-deletions', async () => {
  await world.aTemplate({ slug: 'without-a-file' });
  const catalog = aCatalog();
  await expect(run('import', catalog, '--prune')).rejects.toThrow(/would delete template without-a-file[\s\S]*--yes/);
  await expect(run('import', catalog, '--prune', '--yes', '--max-deletions', '1')).rejects.toThrow(
    /at most 1 are allowed/,
  );
  await expect(run('import', catalog, '--prune', '--max-deletions', 'many')).rejects.toThrow(
    '--max-deletions: must be an integer from 0 to 1000000',
  );
  expect(await run('import', catalog, '--prune', '--yes')).toContain('2 deleted');
  expect((await world.anonymous.get('/api/v1/catalog/templates/without-a-file')).status).toBe(404);
});

test('export writes the catalog to a folder', async () => {
  await run('import', aCatalog());
  const copy = path.join(folder, 'copy');
  await run('export', copy);
  expect(readdirSync(path.join(copy, 'templates'))).toEqual(['one.yaml']);
});

test('create-organization and create-api-key print what they created, and the key works', async () => {
  const organization = JSON.parse(
    await run('create-organization', '--name', 'Acme', '--slug', 'acme', '--tier', 'pro'),
  );
  expect(organization).toMatchObject({ slug: 'acme' });
  const { key } = JSON.parse(await run('create-api-key', '--organization', 'acme', '--name', 'first'));
  const { status, body } = await world.api(`Bearer ${key}`).get('/api/v1/catalog/organization');
  expect(status).toBe(200);
  expect(body.organization).toMatchObject({ slug: 'acme', tier: 'pro' });
});

test('create-organization leaves an organization unchanged, and fails if it has another tier than the given one', async () => {
  const create = (...tier: string[]) => run('create-organization', '--name', 'Globex', '--slug', 'globex', ...tier);
  const { id } = JSON.parse(await create('--tier', 'pro'));
  const found = { id, slug: 'globex', tier: 'pro', created: false };
  expect(JSON.parse(await create('--tier', 'pro'))).toEqual(found);
  expect(JSON.parse(await create())).toEqual(found);
  await expect(create('--tier', 'enterprise')).rejects.toThrow(
    'The organization globex exists with the tier pro, not enterprise, and was not changed.',
  );
});

test('migrate reports that there is nothing to apply', async () => {
  expect(await run('migrate')).toBe('nothing to apply');
});

test.each([
  ['import', []],
  ['import', ['a', 'b']],
  ['export', []],
  ['export', ['a', 'b']],
])('%s with the folders %j is refused with a reference to the help', async (name, args) => {
  await expect(run(name, ...args)).rejects.toThrow(/Specify exactly one <folder>\.\nRun .* --help/);
});

test('serve fails with one sentence without the password if the database is unreachable', async () => {
  process.env.DATABASE_URL = 'postgresql://hub:canary-password@127.0.0.1:1/hub';
  const settings = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'https://hub.example.test' };
  Object.assign(process.env, settings);
  try {
    const message: unknown = await run('serve').catch((error: unknown) => (error as Error).message);
    expect(message).toMatch(/is not reachable/);
    expect(String(message)).not.toMatch(/canary-password|\n/);
  } finally {
    for (const name of Object.keys(settings)) delete process.env[name];
  }
});
