import type { ApplicationPart } from '../application.ts';
import { isSecretName } from '../secret-names.ts';
import { type Conversion, Refused } from './context.ts';
import { sentence } from './rules.ts';
import { escaped } from './variables.ts';

/** Shorter texts are also names and words, so that another place with the same text can mean something else. */
const MIN_DISTINCT = 8;

/** The maximum number of different secrets, which is that of inputs. */
const MAX_SECRETS = 64;

/**
 * The parts with an input instead of each secret that the file contains. The same secret in other variables and in URLs is the
 * same input. Where else it may be, a person must look.
 */
export function withSecretInputs(
  conversion: Conversion,
  parts: readonly ApplicationPart[],
): readonly ApplicationPart[] {
  const inputs = new Map<string, string>();
  for (const { key, name, value } of conversion.literals) {
    if (inputs.has(value)) continue;
    try {
      if (inputs.size >= MAX_SECRETS)
        throw new Refused(`is more than the ${MAX_SECRETS} secrets that an application can have`);
      inputs.set(value, conversion.secretInput(name, key.part));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      conversion.refuse(key, sentence(error));
    }
  }
  const replaced = parts.map((part) => withInputs(part, inputs));
  const places = new Map([...inputs].map(([secret, input]) => [secret, placeWith(secret, input, replaced)]));
  for (const { key, value } of conversion.literals) {
    const place = places.get(value);
    if (place === undefined) conversion.harmless(key, 'default_of_secret');
    else
      conversion.note(
        key,
        `The secret is the input ${inputs.get(value)}. ${place} may contain it as well: replace it there.`,
      );
  }
  return replaced;
}

function withInputs(part: ApplicationPart, inputs: ReadonlyMap<string, string>): ApplicationPart {
  if (!part.env || inputs.size === 0) return part;
  return { ...part, env: part.env.map(({ name, value }) => ({ name, value: withInput(name, value, inputs) })) };
}

function withInput(name: string, value: string, inputs: ReadonlyMap<string, string>): string {
  if (isSecretName(name))
    for (const [secret, input] of inputs) if (value === escaped(secret)) return `\${inputs.${input}}`;
  if (!value.includes('://')) return value;
  let url = value;
  for (const [secret, input] of inputs) url = url.split(`:${escaped(secret)}@`).join(`:\${inputs.${input}|url}@`);
  return url;
}

/**
 * A place that still contains the secret, in words; undefined: there is none. A part or a URL that has the input can have the
 * same text for something else, such as the name of a user.
 */
function placeWith(secret: string, input: string, parts: readonly ApplicationPart[]): string | undefined {
  const text = escaped(secret);
  const isDistinct = secret.length >= MIN_DISTINCT;
  for (const { name: part, env = [], command = [], entrypoint = [] } of parts) {
    if ([...command, ...entrypoint].some((word) => word.includes(text))) return `The command of ${part}`;
    const hasInput = env.some(({ value }) => value === `\${inputs.${input}}`);
    for (const { name, value } of env) {
      const isReplaced = value.includes(`\${inputs.${input}|url}`);
      const isPlace = value === text ? !hasInput : isDistinct && !isReplaced && value.includes(text);
      if (name === 'SVC_HEALTH_CHECK' ? value.includes(text) : isPlace) return `The variable ${name} of ${part}`;
    }
  }
  return undefined;
}
