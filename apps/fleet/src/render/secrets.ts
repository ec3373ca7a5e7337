import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Rendering, Secrets } from './rendering.ts';

/** What stands for a value that nobody may see. */
export const PLACEHOLDER = '(secret)';

/** Secrets with their values. What is rendered with them goes to an engine and nowhere else. */
export function revealed(
  rows: readonly {
    readonly name: string;
    readonly version: number;
    readonly values: Readonly<Record<string, string>>;
  }[],
): Secrets<'values'> {
  const known = new Map(rows.map((row) => [row.name, row]));
  return {
    secrecy: 'values',
    describe: (name) => {
      const row = known.get(name);
      return row && { version: row.version, keys: Object.keys(row.values) };
    },
    value: (name, key) => {
      const values = known.get(name)?.values ?? {};
      const value = Object.hasOwn(values, key) ? values[key] : undefined;
      if (value === undefined) throw new Error(`the secret "${name}" has no key "${key}"`);
      return value;
    },
  };
}

/** Secrets of which only names, versions and keys are known: no value can come out, since none goes in. */
export function redacted(
  rows: readonly { readonly name: string; readonly version: number; readonly keys: readonly string[] }[],
): Secrets<'placeholders'> {
  const known = new Map(rows.map(({ name, version, keys }) => [name, { version, keys }]));
  return { secrecy: 'placeholders', describe: (name) => known.get(name), value: () => PLACEHOLDER };
}

/** The same rendering as people may see it. */
export const withoutValues = (rendering: Rendering): Rendering<'placeholders'> => ({
  ...rendering,
  secrets: { ...rendering.secrets, secrecy: 'placeholders', value: () => PLACEHOLDER },
});

/** The key that a reference takes: the one that it names, one that is named like its variable, or the only one. */
export function keyOf(ref: WorkloadSpec['secret_refs'][number], keys: readonly string[]): string | undefined {
  if (ref.key !== undefined) return keys.includes(ref.key) ? ref.key : undefined;
  if (keys.includes(ref.env)) return ref.env;
  return keys.length === 1 ? keys[0] : undefined;
}

/** A variable that a secret fills. */
export interface SecretVariable {
  readonly env: string;
  readonly value: string;
}

/** The variables that secrets fill. @throws Error where a secret or its key is missing: deployments are refused before */
export const secretVariables = ({ spec, secrets }: Rendering): SecretVariable[] =>
  spec.secret_refs.map((ref) => {
    const key = keyOf(ref, secrets.describe(ref.name)?.keys ?? []);
    if (key === undefined) throw new Error(`the secret "${ref.name}" has nothing for ${ref.env}`);
    return { env: ref.env, value: secrets.value(ref.name, key) };
  });

/** The versions of the secrets that fill variables, such as `database=3,mail=1`; '' without any. Another version: restart. */
export const secretVersions = ({ spec, secrets }: Rendering): string =>
  [...new Set(spec.secret_refs.map(({ name }) => name))]
    .map((name) => `${name}=${secrets.describe(name)?.version}`)
    .join();
