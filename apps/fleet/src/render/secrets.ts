import { createHash } from 'node:crypto';
import { grantsDevices } from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { DEVICES_ARE_REQUESTED } from './defaults.ts';
import { encoded } from './references.ts';
import type { BoundValue, Rendering, Secrets } from './rendering.ts';

/** The placeholder for a secret value. */
export const PLACEHOLDER = '(secret)';

/** Secrets with their values. A manifest that is rendered with them must go to an engine only. */
export function secretsWithValues(
  rows: readonly {
    readonly name: string;
    readonly version: number;
    readonly values: Readonly<Record<string, string>>;
  }[],
): Secrets<'values'> {
  const known = new Map(rows.map((row) => [row.name, row]));
  return {
    secrecy: 'values',
    metadataOf: (name) => {
      const row = known.get(name);
      return row && { version: row.version, keys: Object.keys(row.values) };
    },
    value: (name, key) => {
      const values = known.get(name)?.values ?? {};
      const value = Object.hasOwn(values, key) ? values[key] : undefined;
      if (value === undefined) throw new Error(`the secret "${name}" has no key "${key}"`);
      return value;
    },
    text: (value) => value,
  };
}

/**
 * Secrets without values: only names, versions and keys are read, so a manifest cannot contain a
 * value.
 */
export function secretsWithPlaceholders(
  rows: readonly { readonly name: string; readonly version: number; readonly keys: readonly string[] }[],
): Secrets<'placeholders'> {
  const known = new Map(rows.map(({ name, version, keys }) => [name, { version, keys }]));
  const metadataOf = (name: string) => known.get(name) ?? (isSealedName(name) ? SEALED : undefined);
  return { secrecy: 'placeholders', metadataOf, value: () => PLACEHOLDER, text: () => PLACEHOLDER };
}

/**
 * Secrets with placeholders that have the lengths of their values, for dry runs: an engine can refuse
 * objects because of their size. `lengthOf` is the length of a sealed value that does not exist yet.
 */
export function secretsWithLengths(
  rows: Parameters<typeof secretsWithValues>[0],
  lengthOf: (sealedId: string) => number,
): Secrets<'placeholders'> {
  const { metadataOf, value } = secretsWithValues(rows);
  const masked = (text: string) => 'x'.repeat(Buffer.byteLength(text));
  const isNew = (name: string) => isSealedName(name) && metadataOf(name) === undefined;
  return {
    secrecy: 'placeholders',
    metadataOf: (name) => (isNew(name) ? SEALED : metadataOf(name)),
    value: (name, key) => (isNew(name) ? 'x'.repeat(lengthOf(idOfSealedName(name) ?? '')) : masked(value(name, key))),
    text: masked,
  };
}

const SEALED_PREFIX = 'value/';

/** The key of a sealed value among the secrets of a rendering. */
export const SEALED_KEY = 'value';

/** A sealed value never changes: a new value has another id. */
const SEALED = { version: 1, keys: [SEALED_KEY] } as const;

/** The name of a sealed value among the secrets of a rendering. A secret cannot have it. */
export const sealedName = (id: string): string => `${SEALED_PREFIX}${id}`;

/** The id of a sealed value by its name; undefined for the name of a secret. */
export const idOfSealedName = (name: string): string | undefined =>
  name.startsWith(SEALED_PREFIX) ? name.slice(SEALED_PREFIX.length) : undefined;

export const isSealedName = (name: string): boolean => idOfSealedName(name) !== undefined;

/** The same rendering with placeholders instead of secret values. */
export const withoutValues = (rendering: Rendering): Rendering<'placeholders'> => ({
  ...rendering,
  secrets: { ...rendering.secrets, secrecy: 'placeholders', value: () => PLACEHOLDER, text: () => PLACEHOLDER },
});

/**
 * The key that a reference uses: the key that it names, else the key with the name of its variable,
 * else the only key.
 */
export function keyOf(ref: WorkloadSpec['secret_refs'][number], keys: readonly string[]): string | undefined {
  if (ref.key !== undefined) return keys.includes(ref.key) ? ref.key : undefined;
  if (keys.includes(ref.env)) return ref.env;
  return keys.length === 1 ? keys[0] : undefined;
}

/** A variable whose value comes from a secret. */
export interface SecretVariable {
  readonly env: string;
  readonly value: string;
}

/** The references to secrets: those of the workload, then those of the deployment. */
export const secretRefs = ({
  spec,
  bound,
  defaults,
}: Pick<Rendering, 'spec' | 'bound' | 'defaults'>): Rendering['bound'] =>
  [...spec.secret_refs, ...bound].filter((ref) => isPassedOn(ref, defaults));

const isPassedOn = ({ env }: { readonly env: string }, defaults: number): boolean =>
  defaults < DEVICES_ARE_REQUESTED || !grantsDevices(env);

/**
 * The variables whose values come from secrets.
 *
 * @throws Error if a secret or its key does not exist; validation refuses such deployments earlier
 */
export function secretVariables(rendering: Rendering): SecretVariable[] {
  const { secrets, composed = [], defaults } = rendering;
  const refs = secretRefs(rendering);
  const valueAt = (ref: BoundValue): string => {
    const key = keyOf(ref, secrets.metadataOf(ref.name)?.keys ?? []);
    if (key === undefined) throw new Error(`the secret "${ref.name}" has no key for ${ref.env}`);
    return secrets.value(ref.name, key);
  };
  const ingredient = (env: string, placeholder: string): string => {
    const ref = refs.find((each) => each.env === env && each.placeholder === placeholder);
    if (!ref) throw new Error(`the variable ${env} has no value for the placeholder ${placeholder}`);
    return valueAt(ref);
  };
  return [
    ...refs
      .filter(({ placeholder }) => placeholder === undefined)
      .map((ref) => ({ env: ref.env, value: valueAt(ref) })),
    ...composed
      .filter((variable) => isPassedOn(variable, defaults))
      .map(({ env, pieces }) => ({
        env,
        value: pieces
          .map((piece) =>
            typeof piece === 'string' ? piece : encoded(ingredient(env, piece.placeholder), piece.isEncoded),
          )
          .join(''),
      })),
  ];
}

/**
 * The versions of the secrets of variables, such as `database=3,mail=1`; '' without secrets. A
 * change of it restarts instances. Composed variables are in it with a digest of their composition,
 * because their text without values can stay the same.
 */
export function secretVersions(rendering: Rendering): string {
  const refs = secretRefs(rendering);
  const versions = [...new Set(refs.map(({ name }) => name))].map(
    (name) => `${name}=${rendering.secrets.metadataOf(name)?.version}`,
  );
  const compositions = (rendering.composed ?? []).map(({ env, pieces }) => {
    const own = refs.filter((ref) => ref.env === env).map(({ placeholder, name, key }) => [placeholder, name, key]);
    const digest = createHash('sha256')
      .update(JSON.stringify([pieces, own]))
      .digest('hex')
      .slice(0, 12);
    return `${env}=${digest}`;
  });
  return [...versions, ...compositions].join();
}
