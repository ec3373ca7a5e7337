import { z } from 'zod';
import { line, text } from '../shared/wire.ts';

/** The maximum number of inputs, of their choices, and of generated values. */
export const MAX_INPUTS = 64;
const MAX_CHOICES = 64;
export const MAX_GENERATED = 32;

const variableName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,62}$/,
    'must be a lower-case letter, followed by at most 62 lower-case letters, digits and _',
  );

export const inputTypes = ['text', 'number', 'boolean', 'choice', 'secret'] as const;

/** A value of an input. That of a secret has the forms of a secret variable instead. */
const inputValue = z.union([text(32_768), z.number(), z.boolean()], 'must be text, a number, true or false');
type InputValue = z.output<typeof inputValue>;

interface Typed {
  readonly type: string;
  readonly choices: readonly string[];
}

const TYPE_OF_VALUE: Readonly<Record<string, 'string' | 'number' | 'boolean'>> = {
  text: 'string',
  choice: 'string',
  number: 'number',
  boolean: 'boolean',
};
const RULE_OF_TYPE = {
  string: 'must be text, as the type of the input requires',
  number: 'must be a number, as the type of the input requires',
  boolean: 'must be true or false, as the type of the input requires',
} as const;

/** The problem of a value for a secret input that is not a reference. */
export const SECRET_INPUT = 'must be the name of a secret, because the input is secret';

/** What is wrong with a value of an input that is not secret; undefined if nothing is. */
export function inputProblem({ type, choices }: Typed, value: unknown): string | undefined {
  const expected = TYPE_OF_VALUE[type];
  if (expected === undefined) return SECRET_INPUT;
  if (typeof value !== expected) return RULE_OF_TYPE[expected];
  if (type === 'choice' && !choices.some((choice) => choice === value)) return `must be one of: ${choices.join(', ')}`;
  return undefined;
}

/** The text that stands for a value of an input in a variable. */
export const inputText = (value: InputValue): string => String(value);

const withReason = (problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `${problem}, as the type of the input requires`;

/** What a person enters when the application is deployed. */
const newInput = z
  .strictObject({
    name: variableName,
    label: line(200).default('').meta({ description: 'What the consoles call it. `""`: its name' }),
    type: z.enum(inputTypes, `must be one of: ${inputTypes.join(', ')}`).default('text'),
    choices: z
      .array(line(256))
      .max(MAX_CHOICES, `must have at most ${MAX_CHOICES} entries`)
      .default([])
      .meta({ description: 'The values of an input of the type `choice`' }),
    required: z.boolean().optional().meta({
      description: 'Whether a value must be given. Default: `true` without a default. Otherwise it can be empty',
    }),
    default: inputValue
      .nullable()
      .default(null)
      .meta({ description: 'Not of a secret. A value of the type of the input' }),
  })
  .check(({ value, issues }) => {
    const refuse = (path: string, message: string) =>
      issues.push({ code: 'custom', path: [path], message, input: value });
    if (value.type === 'choice' && value.choices.length === 0)
      refuse('choices', 'is required, because the type of the input is choice');
    if (value.type !== 'choice' && value.choices.length > 0)
      refuse('choices', 'must be empty unless the type is choice');
    if (new Set(value.choices).size < value.choices.length) refuse('choices', 'must not repeat a value');
    if (value.default === null) return;
    const message =
      value.type === 'secret'
        ? 'must not be given, because the input is secret: everybody who sees the application would know it'
        : withReason(inputProblem(value, value.default));
    if (message !== undefined) refuse('default', message);
  })
  .transform((input) => ({ ...input, required: input.required ?? input.default === null }))
  .meta({ id: 'NewApplicationInput' });

/** An input in a response. */
export const inputReply = z
  .object({
    name: z.string(),
    label: z.string().prefault(''),
    type: z
      .string()
      .prefault('text')
      .meta({ description: inputTypes.map((type) => `\`${type}\``).join(', ') }),
    choices: z.array(z.string()).prefault([]),
    required: z.boolean().prefault(true),
    default: z.union([z.string(), z.number(), z.boolean()]).nullable().prefault(null),
  })
  .meta({ id: 'ApplicationInput', description: 'What a person enters when the application is deployed' });
export type ApplicationInput = z.output<typeof inputReply>;

export const generatedFormats = ['text', 'hex', 'base64', 'uuid'] as const;

/** A secret value that the fleet generates once, when the application is created. */
const newGeneratedValue = z
  .strictObject({
    name: variableName,
    length: z.int().min(16).max(128).default(32).meta({
      description: 'The number of characters of `text` and `hex`, and of random bytes in `base64`. `uuid` has its own',
    }),
    format: z
      .enum(generatedFormats, `must be one of: ${generatedFormats.join(', ')}`)
      .default('text')
      .meta({
        description:
          '`text`: letters and digits; `hex`: hexadecimal digits in lower case; `base64`: base64 with padding; `uuid`: a random UUID',
      }),
  })
  .meta({ id: 'NewGeneratedValueOfApplication' });

/** The declaration of a generated value in a response. */
export const generatedValueReply = z
  .object({ name: z.string(), length: z.int().prefault(32), format: z.string().prefault('text') })
  .meta({ id: 'GeneratedValueOfApplication', description: 'A secret value that the fleet generates once' });
export type GeneratedDeclaration = z.output<typeof generatedValueReply>;

export const newInputs = z.array(newInput).max(MAX_INPUTS, `must have at most ${MAX_INPUTS} entries`);
export const newGenerated = z.array(newGeneratedValue).max(MAX_GENERATED, `must have at most ${MAX_GENERATED} entries`);
