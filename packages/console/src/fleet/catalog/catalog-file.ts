import type { TemplateControl } from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { isSecretVariableText } from '../../shared/catalog/secret-variable.ts';

/** What a catalog file states beside what runs. */
export interface CatalogEntry {
  readonly name: string;
  readonly slug: string;
  /** The slug of a category of the hub. */
  readonly category: string;
  readonly version: string;
  readonly description: string;
}

/**
 * A workload as a catalog file, which `import` of a hub reads. Members with their default are left
 * out. The values of secrets are not in a workload, and therefore not in the file.
 */
export function catalogFileOf(controls: readonly TemplateControl[], entry: CatalogEntry, spec: WorkloadSpec): string {
  const written = new Map<string, unknown>(Object.entries({ ...spec, ...declaredOnce(spec) }));
  const members = controls
    .filter(
      ({ name, topic, default: unset }) =>
        topic !== 'catalog' && written.has(name) && JSON.stringify(written.get(name)) !== JSON.stringify(unset),
    )
    .map(({ name }) => [name, written.get(name)] as const);
  return Object.entries({ ...entry, ...Object.fromEntries(members) })
    .map(([member, value]) => `${member}:${yamlOf(value, '')}\n`)
    .join('');
}

/** What the API shows instead of the text of a secret variable. */
const MASKED = '(secret)';

/**
 * The variables of a workload, each declared once, as a catalog requires. A workload can set a value
 * for a variable of its schema, which becomes the default. That of a secret variable is left out.
 */
function declaredOnce({ secret_refs, env_schema, ...spec }: WorkloadSpec): Pick<WorkloadSpec, 'env' | 'env_schema'> {
  const env = spec.env.filter(({ value }) => value !== MASKED);
  const filled = new Set(secret_refs.map((reference) => reference.env));
  const values = new Map(env.map(({ name, value }) => [name, value]));
  const declared = new Set(env_schema.map(({ name }) => name));
  return {
    env: env.filter(({ name }) => !filled.has(name) && !declared.has(name)),
    env_schema: env_schema
      .filter(({ name }) => !filled.has(name))
      .map((variable) =>
        isSecretVariableText(variable.description)
          ? variable
          : { ...variable, default_value: values.get(variable.name) ?? variable.default_value },
      ),
  };
}

/** Characters in which parsers of YAML and JSON differ. */
const SPECIAL = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * A value as YAML, with the space before it. Texts and names are quoted as in JSON, so that all
 * parsers read them identically. A library for YAML would be most of the page.
 */
function yamlOf(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map((item: unknown) => `\n${inner}-${itemOf(item, inner)}`).join('');
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return ' {}';
    return entries.map(([name, one]) => `\n${inner}${scalarOf(name)}:${yamlOf(one, inner)}`).join('');
  }
  return ` ${scalarOf(value)}`;
}

/** An item of a list. The members of an object begin on the line of the hyphen. */
const itemOf = (item: unknown, indent: string): string => {
  const text = yamlOf(item, indent);
  return text.startsWith('\n') ? ` ${text.trimStart()}` : text;
};

const scalarOf = (value: unknown): string =>
  JSON.stringify(value).replace(SPECIAL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
