import type { WorkloadSpec } from '@svc/contract/fleet';

/** What is wrong with what was said, and where. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

export interface ResolvedEnv {
  /** In the order of the workload, whatever the order of what was given: the same variables are the same text. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly problems: readonly Problem[];
}

type Variables = Pick<WorkloadSpec, 'env' | 'env_schema' | 'secret_refs'>;

/**
 * The variables of a deployment: what it gives, else what the workload has, else the default of the schema. A default of
 * '' is none: such a variable is left out. Those that secrets fill are not among them.
 */
export function resolveEnv(spec: Variables, given: Readonly<Record<string, string>>): ResolvedEnv {
  const secrets = new Map(spec.secret_refs.map(({ env, name }) => [env, name]));
  const values = new Map([
    ...spec.env_schema.map(({ name, default_value }) => [name, default_value || undefined] as const),
    ...spec.env.map(({ name, value }) => [name, value] as const),
  ]);
  for (const name of secrets.keys()) values.delete(name);
  const problems = problemsOf(given, { secrets, known: [...values.keys()] });
  for (const name of values.keys()) if (Object.hasOwn(given, name)) values.set(name, given[name]);
  const required = spec.env_schema.filter(({ name, required }) => required && values.has(name) && !values.get(name));
  return {
    env: [...values].flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
    problems: [...problems, ...distinct(required.map(({ name }) => name)).map(missing)],
  };
}

/** What a deployment may not give. */
function problemsOf(
  given: Readonly<Record<string, string>>,
  { secrets, known }: { readonly secrets: ReadonlyMap<string, string>; readonly known: readonly string[] },
): Problem[] {
  return Object.keys(given)
    .sort()
    .filter((name) => !known.includes(name))
    .map((name) => {
      const secret = secrets.get(name);
      return { path: `env.${name}`, message: secret === undefined ? unknown(known) : filledBy(secret) };
    });
}

const unknown = (known: readonly string[]): string =>
  known.length === 0
    ? 'is no variable of this workload, which takes none'
    : `is no variable of this workload, which takes ${known.join(', ')}`;
const filledBy = (secret: string): string => `is filled by the secret "${secret}" and can't be given`;
const missing = (name: string): Problem => ({ path: `env.${name}`, message: 'is required and has no value' });
const distinct = (names: readonly string[]): string[] => [...new Set(names)];
