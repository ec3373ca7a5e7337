import type { WorkloadSpec } from '@svc/contract/fleet';

/** An error in a specification, with the path of the member. */
export interface SpecProblem {
  readonly path: string;
  readonly message: string;
}

export interface ResolvedEnv {
  /**
   * In the order of the workload, regardless of the order in the deployment, so that equal variables render equally.
   */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly problems: readonly SpecProblem[];
}

type Variables = Pick<WorkloadSpec, 'env' | 'env_schema' | 'secret_refs'>;

/**
 * The environment variables of a deployment. A value comes from the deployment, else from the workload, else from the
 * default in the schema. A default of '' counts as no default, and a variable without a value is omitted. Variables
 * whose value comes from a secret are not included.
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

/** The variables that a deployment must not set. */
function problemsOf(
  given: Readonly<Record<string, string>>,
  { secrets, known }: { readonly secrets: ReadonlyMap<string, string>; readonly known: readonly string[] },
): SpecProblem[] {
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
    ? 'is not a variable of this workload, which has none'
    : `is not a variable of this workload, which has ${known.join(', ')}`;
const filledBy = (secret: string): string => `is set by the secret "${secret}" and cannot be overridden`;
const missing = (name: string): SpecProblem => ({ path: `env.${name}`, message: 'is required and has no value' });
const distinct = (names: readonly string[]): string[] => [...new Set(names)];
