import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { categoryFields, templateDefaults, templateFieldNames } from '@svc/contract';
import { stringify } from 'yaml';
import type { Database } from '../database/client.ts';

/**
 * Writes the catalog to a folder of YAML files. `import` restores equal data from it. Fields with their default are omitted.
 * @throws if the folder exists and is not empty, before anything is written
 */
export async function exportCatalog({ client }: Database, folder: string): Promise<readonly string[]> {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new Error(`${folder} is not empty. Specify an empty or a new folder.`);
  }
  const [categories, templates] = await client.$transaction(
    [
      client.category.findMany({ orderBy: [{ sort_order: 'asc' }, { sort_name: 'asc' }, { id: 'asc' }] }),
      client.template.findMany({ include: { category: true, owner: true }, orderBy: { slug: 'asc' } }),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  mkdirSync(path.join(folder, 'templates'), { recursive: true });
  const members = ['slug', 'name', ...Object.keys(categoryFields)];
  writeYaml(
    path.join(folder, 'categories.yaml'),
    categories.map((row) => pick(row, members)),
  );
  for (const { category, owner, ...row } of templates) {
    const file = {
      ...pick(row, ['name', 'slug']),
      category: category.slug,
      ...nonDefaultFields(row),
      ...(owner && { owner: owner.slug }),
    };
    writeYaml(path.join(folder, 'templates', `${row.slug}.yaml`), file);
  }
  return [`${categories.length} categories and ${templates.length} templates written to ${folder}`];
}

const writeYaml = (file: string, content: unknown) => writeFileSync(file, stringify(content, { lineWidth: 120 }));

const pick = (row: object, members: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([member]) => members.includes(member)));

type Fields = Readonly<Record<(typeof templateFieldNames)[number], unknown>>;

/** The fields of a template that differ from their defaults. */
const nonDefaultFields = (row: Fields) =>
  Object.fromEntries(
    templateFieldNames
      .filter((field) => !isDeepStrictEqual(row[field], templateDefaults[field]))
      .map((field) => [field, row[field]]),
  );
