import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseFields, text as textRule } from '@svc/contract';
import { readYamlText } from '@svc/documents';
import { byDepth, LONG_TEST_MS, seed } from '@svc/testing';
import fc from 'fast-check';
import { derivedColumns } from '../../src/catalog/derived.ts';
import { exportCatalog } from '../../src/commands/export.ts';
import { importCatalog } from '../../src/commands/import.ts';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld, type World } from '../world.ts';
import { HARDEST } from './hardest-texts.ts';

const TEMPLATES = byDepth({ short: 60, full: 1000, long: 1000 });
const READ_WITH_PYYAML = `
import json, sys, yaml
print(json.dumps([yaml.safe_load(open(name, encoding="utf-8")) for name in json.load(sys.stdin)]))`;

const python = (script: string, input = '') =>
  spawnSync('python3', ['-c', script], { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
const isRequired = process.env.TEST_PYYAML === 'required';
const testWithPyYaml = isRequired || python('import yaml').status === 0 ? test : test.skip;

const rule = textRule(4000);
/** Texts that the API accepts. */
const text = fc
  .oneof(
    fc.constantFrom(...HARDEST),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(' ', '\n', '\t', 'a', '#', ':', '-', 'word ', '\u0085', '\u2028') }),
  )
  .filter((value) => parseFields(rule, value).success);
const members = fc.record({
  description: text,
  documentation: text,
  env: fc.array(fc.record({ name: fc.constantFrom('A', 'y', 'NO'), value: text }), { maxLength: 1 }),
  command: fc.array(text, { maxLength: 3 }),
});

const generated = () =>
  fc.sample(members, { seed, numRuns: TEMPLATES }).map((given, index) => {
    const slug = `template-${index}`;
    return { ...given, name: slug, slug, image_name: 'library/server' };
  });

describe(`generated templates (seed ${seed})`, () => {
  let world: World;
  const folder = mkdtempSync(path.join(tmpdir(), 'round-trip-'));
  const files = () => [
    path.join(folder, 'categories.yaml'),
    ...readdirSync(path.join(folder, 'templates')).map((name) => path.join(folder, 'templates', name)),
  ];

  beforeAll(async () => {
    world = await startWorld();
    const { id: category_id } = await world.aCategory();
    const data = generated().map((row) => ({ ...row, category_id, ...derivedColumns(row) }));
    await writeCatalog(world.database, ({ template }) => template.createMany({ data }));
    await exportCatalog(world.database, { folder });
  }, LONG_TEST_MS);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await world.stop();
  });

  test('are all exported', () => {
    expect(files()).toHaveLength(TEMPLATES + 1);
  });

  test('an import of the export changes nothing, and a second export changes no file', async () => {
    expect(await importCatalog(world.database, { folder, dryRun: true })).toEqual([
      `dry run: 0 to create, 0 to update, ${TEMPLATES + 1} unchanged`,
    ]);
    expect(await exportCatalog(world.database, { folder })).toEqual([
      `1 categories, ${TEMPLATES} templates and 0 applications: 0 files changed in ${folder}`,
    ]);
  });

  testWithPyYaml('PyYAML reads the same values (needs python3-yaml)', () => {
    const { stdout, stderr } = python(READ_WITH_PYYAML, JSON.stringify(files()));
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(files().map((name) => readYamlText(readFileSync(name, 'utf8')).value));
  });
});
