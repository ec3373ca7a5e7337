import type { TemplateControl } from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { isSecretVariableText } from '../../shared/catalog/secret-variable.ts';
import { yamlText } from '../../shared/ui/display/yaml-text.ts';

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
  return yamlText({ ...entry, ...Object.fromEntries(members) });
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
