import { isDeepStrictEqual } from 'node:util';
import { codedMessages, type FieldError, GRANTS_DEVICES, grantsDevices } from '@svc/contract';
import type { EnvReply, EnvRequest, Overrides } from '@svc/contract/fleet';
import { invalid } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { type StoredEnv, type StoredValue, withReferences } from '../render/env.ts';
import { isAddress, isSecretComposition, type StoredReference } from '../render/references.ts';
import { refuse } from './refusals.ts';

type GivenValue = EnvRequest[string];
/** A value for which nothing is generated. */
type BoundValue = NonNullable<Overrides[string]['env']>[string];

interface Known {
  /** The names of the secret variables. */
  readonly secretVariables: readonly string[];
  /** The current variables of the deployment. */
  readonly before: StoredEnv;
}

/**
 * The stored form of the variables in a request. A variable that is sent back as it was read keeps
 * its value.
 * @throws 400 for text of a secret variable, and for a sealed value that does not exist; 422 for a
 * new value of a variable by which engines give devices
 */
export function acceptEnv(given: EnvRequest, { secretVariables, before }: Known): StoredEnv {
  const entries = Object.entries(given).map(([name, value]) => ({
    name,
    value,
    isSecret: secretVariables.includes(name),
    stored: Object.hasOwn(before, name) ? before[name] : undefined,
  }));
  const errors = entries.flatMap(({ name, value, isSecret, stored }): FieldError[] => {
    const path = `env.${name}`;
    if (isSecret && isText(value)) return [{ path, message: messageOfText(value) }];
    const isLost = typeof value === 'object' && 'sealed' in value && !isSealed(stored, isSecret);
    return isLost ? [{ path, message: codedMessages.not_sealed }] : [];
  });
  if (errors.length > 0) throw invalid(errors);
  const accepted = entries.map(({ name, value, stored }) => ({ name, stored, value: acceptValue(value, stored) }));
  const granting = accepted.filter(
    ({ name, value, stored }) => grantsDevices(name) && (stored === undefined || !isSameValue(value, stored)),
  );
  refuse(granting.map(({ name }) => ({ code: 'invalid_env', path: `env.${name}`, message: GRANTS_DEVICES })));
  return Object.fromEntries(accepted.map(({ name, value }) => [name, value]));
}

/** Whether a value of a secret variable would be text that everybody can read. */
const isText = (value: GivenValue): boolean =>
  typeof value === 'string' ? value !== '' : 'compose' in value && !isSecretComposition(value);

const messageOfText = (value: GivenValue): string =>
  typeof value === 'string' ? codedMessages.secret_text : codedMessages.composed_text;

/** What is wrong with values that are given for variables, with the names of these as paths. */
export const boundValueErrors = (
  given: Readonly<Record<string, BoundValue>>,
  secretVariables: readonly string[],
): FieldError[] =>
  Object.entries(given).flatMap(([name, value]) => {
    if (grantsDevices(name)) return [{ path: name, message: GRANTS_DEVICES }];
    return secretVariables.includes(name) && isText(value) ? [{ path: name, message: messageOfText(value) }] : [];
  });

/** Whether the API shows a stored value as sealed. */
const isSealed = (stored: StoredValue | undefined, isSecret: boolean): boolean =>
  typeof stored === 'string' ? isSecret && stored !== '' : stored !== undefined && 'sealed' in stored;

function acceptValue(value: GivenValue, stored: StoredValue | undefined): StoredValue {
  if (typeof value === 'string') return value;
  if ('sealed' in value) return stored ?? '';
  if (!('generate' in value)) return value;
  const isSame = typeof stored === 'object' && 'generate' in stored && stored.generate === value.generate;
  return isSame ? stored : { generate: value.generate, id: uuidv7() };
}

/** A reference without what the last change has found out about it. */
const withoutAddress = (reference: StoredReference): StoredReference => {
  if (!isAddress(reference)) return reference;
  const { at: _, ...requested } = reference;
  return requested;
};

/** The variables as the API returns them, without secret values. */
export const presentEnv = (env: StoredEnv, secretVariables: readonly string[]): EnvReply =>
  Object.fromEntries(
    Object.entries(withReferences(env, withoutAddress)).map(([name, value]) => [
      name,
      isSealed(value, secretVariables.includes(name)) ? SEALED : presentValue(value),
    ]),
  );

const SEALED: EnvReply[string] = { sealed: true };

/** A value that is not sealed. A value of an application is shown by the application. */
function presentValue(value: StoredValue): EnvReply[string] {
  if (typeof value === 'string') return value;
  if ('sealed' in value || 'application' in value) return SEALED;
  if ('generate' in value) return { generate: value.generate };
  if (!('compose' in value)) return value;
  const shown = Object.entries(value.with).flatMap(([name, reference]) =>
    'application' in reference ? [] : [[name, reference] as const],
  );
  const isWhole = shown.length === Object.keys(value.with).length;
  return isWhole ? { compose: value.compose, with: Object.fromEntries(shown) } : SEALED;
}

/** The variables of a deployment whose instances are replaced: all sealed values become secrets. */
export const withoutInlineValues = (env: StoredEnv): StoredEnv =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, isInlineValue(value) ? { sealed: value.sealed } : value]),
  );

const isInlineValue = (value: StoredValue): value is { sealed: string; inline: true } =>
  typeof value === 'object' && 'sealed' in value && value.inline === true;

/** Whether two environments have the same values, whatever the addresses of the deployments that they name. */
export const isSameEnv = (one: StoredEnv, other: StoredEnv): boolean =>
  isDeepStrictEqual(asRequested(one), asRequested(other));

const isSameValue = (one: StoredValue, other: StoredValue): boolean => isSameEnv({ value: one }, { value: other });

const asRequested = (env: StoredEnv): StoredEnv => withReferences(withoutInlineValues(env), withoutAddress);

/** Whether instances have values in their environment that a restart would pass as a secret. */
export const hasInlineValues = (env: StoredEnv): boolean => Object.values(env).some(isInlineValue);
