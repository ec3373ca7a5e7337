import { readdirSync, readFileSync } from 'node:fs';
import { isSecretVariable, type Template, templateDefaults, templateFields } from '@svc/contract';
import { parse } from 'yaml';
import { z } from 'zod';
import { aTemplate } from '../../a-template.ts';

const folder = new URL('../../../../../infra/catalog/templates/', import.meta.url);
const templateFile = z.object({ ...templateFields, name: z.string(), slug: z.string() });

/** The templates of the starter catalog as a hub returns them after the import. */
export const starterTemplates: readonly Template[] = readdirSync(folder)
  .sort()
  .map((file) =>
    aTemplate(templateFile.parse({ ...templateDefaults, ...parse(readFileSync(new URL(file, folder), 'utf8')) })),
  );

/** The secrets that the templates need, with all keys that they refer to. */
export function secretsOf(templates: readonly Template[]): Record<string, Record<string, string>> {
  const all: Record<string, Record<string, string>> = {};
  for (const { name, key, env } of templates.flatMap(({ secret_refs }) => secret_refs)) {
    all[name] = { ...all[name], [key ?? env]: `value of ${key ?? env}` };
  }
  return all;
}

/** Values for the required variables without a default. */
export const requiredOf = ({ env_schema }: Template): Record<string, string | { readonly generate: number }> =>
  Object.fromEntries(
    env_schema
      .filter(({ required, default_value }) => required && default_value === '')
      .map((entry) => [entry.name, isSecretVariable(entry) ? { generate: 32 } : 'a given value']),
  );
