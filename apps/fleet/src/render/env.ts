import { isSecretVariable } from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { z } from 'zod';
import {
  addressText,
  isSecretComposition,
  piecesOf,
  type StoredComposition,
  type StoredReference,
  storedComposition,
  storedReferences,
} from './references.ts';
import { PLACEHOLDER } from './secrets.ts';

/** An error in a specification, with the path of the member. */
export interface SpecProblem {
  readonly path: string;
  readonly message: string;
}

/**
 * The value of a variable as a deployment stores it. `id` and `sealed` are ids of sealed values.
 * With `inline`, the value was stored as text when its instances were started: they keep it in
 * their environment until a change replaces them.
 */
const storedValue = z.union([
  z.string(),
  z.object({ generate: z.int(), id: z.string() }),
  ...storedReferences,
  storedComposition,
  z.object({ value: z.string(), plain: z.literal(true) }),
  z.object({ sealed: z.string(), inline: z.boolean().optional() }),
]);
export type StoredValue = z.output<typeof storedValue>;

export const storedEnv = z.record(z.string(), storedValue);
export type StoredEnv = Readonly<Record<string, StoredValue>>;

/** The source of a value that is not in the environment. */
type Source = Exclude<StoredValue, string | { readonly value: string } | { readonly port: number }>;

const isReference = (value: Exclude<StoredValue, string>): value is StoredReference =>
  'secret' in value || 'deployment' in value || 'application' in value;

/** The references of a value, by the names of their placeholders in a composed one. */
export function referencesOf(value: StoredValue): [placeholder: string | undefined, StoredReference][] {
  if (typeof value === 'string') return [];
  if ('compose' in value) return Object.entries(value.with);
  return isReference(value) ? [[undefined, value]] : [];
}

/** An environment whose references are replaced. */
export const withReferences = (
  env: StoredEnv,
  replace: (reference: StoredReference, variable: string) => StoredReference,
): StoredEnv =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]): [string, StoredValue] => {
      if (typeof value === 'string') return [name, value];
      if (isReference(value)) return [name, replace(value, name)];
      return [name, 'compose' in value ? withIngredients(value, (reference) => replace(reference, name)) : value];
    }),
  );

const withIngredients = (
  { compose, with: references }: StoredComposition,
  replace: (reference: StoredReference) => StoredReference,
): StoredComposition => ({
  compose,
  with: Object.fromEntries(Object.entries(references).map(([name, reference]) => [name, replace(reference)])),
});

/** A variable in the environment of the instances. */
interface ResolvedVariable {
  readonly name: string;
  /** The text; a placeholder if it is sealed. */
  readonly value: string;
  /** The id of the sealed value. */
  readonly sealed?: string;
  /** Whether the text belongs to a secret variable, so that it must not be shown. */
  readonly isSecret?: true;
}

export interface ResolvedEnv {
  /**
   * In the order of the workload, regardless of the order in the deployment, so that equal
   * variables render equally.
   */
  readonly env: readonly ResolvedVariable[];
  /** The variables whose values come from a secret or are sealed, in the same order. */
  readonly bindings: readonly { readonly env: string; readonly source: Source }[];
  readonly problems: readonly SpecProblem[];
}

/** A variable of a workload. A sealed value has a placeholder as its text. */
export interface WorkloadVariable {
  readonly name: string;
  readonly value: string;
  readonly sealed?: string | undefined;
}

type Variables = Pick<WorkloadSpec, 'env_schema' | 'secret_refs'> & { readonly env: readonly WorkloadVariable[] };

/**
 * The environment variables of a deployment. A value comes from the deployment, else from the
 * workload, else from the default in the schema. A default of '' counts as no default, and a
 * variable without a value is omitted. Variables whose value comes from a secret of the workload
 * are not included. `secretVariables` are the names of secret variables.
 */
export function resolveEnv(spec: Variables, given: StoredEnv, secretVariables: readonly string[] = []): ResolvedEnv {
  const secrets = new Map(spec.secret_refs.map(({ env, name }) => [env, name]));
  const values = new Map<string, StoredValue | undefined>([
    ...spec.env_schema.map(({ name, default_value }) => [name, default_value || undefined] as const),
    ...spec.env.map((variable) => [variable.name, storedFormOf(variable)] as const),
  ]);
  for (const name of secrets.keys()) values.delete(name);
  const problems = problemsOf(given, { secrets, known: [...values.keys()] });
  for (const name of values.keys()) if (Object.hasOwn(given, name)) values.set(name, given[name]);
  const required = spec.env_schema.filter(
    (entry) => entry.required && values.has(entry.name) && isEmpty(values.get(entry.name)),
  );
  const resolved = [...values].flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  return {
    env: resolved.flatMap(({ name, value }) => inEnvironment(name, value, secretVariables.includes(name))),
    bindings: resolved.flatMap(({ name, value }) => (isSource(value) ? [{ env: name, source: value }] : [])),
    problems: [...problems, ...distinct(required.map(missing))],
  };
}

/** The values of a workload stay in the environment of its instances. */
const storedFormOf = ({ value, sealed }: WorkloadVariable): StoredValue =>
  sealed === undefined ? value : { sealed, inline: true };

const isEmpty = (value: StoredValue | undefined): boolean =>
  value === undefined || value === '' || (typeof value === 'object' && 'value' in value && value.value === '');

function isInline(value: StoredValue): boolean {
  if (typeof value === 'string' || 'value' in value || 'port' in value) return true;
  return 'compose' in value ? !isSecretComposition(value) : 'sealed' in value && value.inline === true;
}

const isSource = (value: StoredValue): value is Source => !isInline(value);

function inEnvironment(name: string, value: StoredValue, isSecret: boolean): ResolvedVariable[] {
  const text = (shown: string): ResolvedVariable[] => [
    isSecret ? { name, value: shown, isSecret } : { name, value: shown },
  ];
  if (typeof value === 'string') return text(value);
  if ('value' in value) return [{ name, value: value.value }];
  if ('port' in value) return text(addressText(value));
  if ('compose' in value) return isSecretComposition(value) ? [] : text(piecesOf(value).join(''));
  return 'sealed' in value && value.inline === true ? [{ name, value: PLACEHOLDER, sealed: value.sealed }] : [];
}

/** The variables that a deployment must not set. */
function problemsOf(
  given: StoredEnv,
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

const missing = (entry: WorkloadSpec['env_schema'][number]): SpecProblem => ({
  path: `env.${entry.name}`,
  message: isSecretVariable(entry)
    ? 'is required and has no value: generate it, or take it from a secret'
    : 'is required and has no value',
});
const distinct = (problems: readonly SpecProblem[]): SpecProblem[] => [
  ...new Map(problems.map((problem) => [problem.path, problem])).values(),
];
