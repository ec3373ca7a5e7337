import { z } from 'zod';
import { codedMessages } from '../../shared/field-codes.ts';
import type { Piece } from '../../shared/placeholders.ts';
import { line, record, text } from '../../shared/wire.ts';
import { dnsLabel, variable } from '../../template/fields.ts';
import { composedPieces, PLACEHOLDER_NAME } from './composed.ts';

const plain = z.strictObject({ value: text(32_768), plain: z.literal(true) });

/** How the address of a port is written. A `url` has the scheme `https` if `SVC_HTTP_PORTS` says so, otherwise `http`. */
export const addressForms = ['host:port', 'host', 'port', 'url'] as const;

/** References to a value, which the API accepts and returns in the same form. */
export const reference = {
  secret: z.strictObject({ secret: dnsLabel, key: line(253).optional() }),
  generated: z.strictObject({ generate: z.int().min(16).max(128) }),
  ofDeployment: z.strictObject({ deployment: dnsLabel, variable }),
  address: z.strictObject({
    deployment: dnsLabel,
    port: z.int().min(1).max(65_535),
    as: z.enum(addressForms).default('host:port'),
  }),
  sealed: z.strictObject({ sealed: z.literal(true) }),
};

/** The maximum number of references in a composed value. */
const MAX_COMPOSED = 16;

const composed = z
  .strictObject({
    compose: text(4096),
    // A union reports only errors that do not end the validation of a member, so the number is checked below.
    with: z
      .record(
        line(63).regex(PLACEHOLDER_NAME, 'must be a lower-case letter, followed by lower-case letters, digits and _'),
        z.union([reference.secret, reference.ofDeployment, reference.address], codedMessages.composed_value),
      )
      .meta({ maxProperties: MAX_COMPOSED }),
  })
  .check(({ value, issues }) => {
    for (const { path, message } of composedProblems(value, MAX_COMPOSED)) {
      issues.push({ code: 'custom', path, message, input: value, continue: true }); // so that the union reports it
    }
  });

/** A value that a request gives: nothing is generated for it, and none is kept. */
const given = [text(32_768), reference.secret, reference.ofDeployment, reference.address, composed, plain] as const;

/** The members of the largest form of a value. */
const MAX_MEMBERS = 3;

/** A union of forms. An object with more members is none of them, and is not compared with each one. */
const oneForm = <S extends z.ZodType>(forms: S, message: string) =>
  z.preprocess((value: z.input<S>, context) => {
    const isTooLarge = typeof value === 'object' && value !== null && Object.keys(value).length > MAX_MEMBERS;
    if (isTooLarge) context.addIssue({ code: 'custom', message });
    return value;
  }, forms);

/** The value of a variable for which nothing is generated. */
export const boundValue = oneForm(
  z.union(given, codedMessages.bound_value).meta({
    id: 'BoundValue',
    description:
      'Text; a key of a secret; the generated value, or the address of a port, of a deployment; a text composed of such values',
  }),
  codedMessages.bound_value,
);

/** The values of variables in a request. */
export const env = record(
  variable,
  oneForm(
    z.union([...given, reference.generated, reference.sealed], codedMessages.env_value).meta({
      id: 'EnvValue',
      description:
        'The value of a variable: text; a key of a secret; a random text of this length, which the fleet generates; the generated value, or the address of a port, of another deployment; a text composed of such values. A secret variable accepts text only as `value` with `plain`. `sealed` keeps a value that an earlier version stored as text',
    }),
    codedMessages.env_value,
  ),
).meta({ description: 'Values of variables that the workload declares' });

const referenceReply = [
  z.object({ secret: z.string(), key: z.string().optional() }),
  z.object({ deployment: z.string(), variable: z.string() }),
  z.object({ deployment: z.string(), port: z.int(), as: z.enum(addressForms) }),
] as const;

const shownValues = [
  z.string(),
  ...referenceReply,
  z.object({ compose: z.string(), with: z.record(z.string(), z.union(referenceReply)) }),
  z.object({ value: z.string(), plain: z.literal(true) }),
] as const;

/** The value of a variable for which nothing was generated, in a response. */
export const shownBoundValue = z.union(shownValues).meta({ id: 'ShownBoundValue' });

/** The values of variables of a deployment in a response. Secret values are not shown. */
export const envReply = z
  .record(
    z.string(),
    z
      .union([...shownValues, z.object({ generate: z.int() }), z.object({ sealed: z.literal(true) })])
      .meta({ id: 'ShownEnvValue' }),
  )
  .meta({ description: 'Values of variables, in the form in which a request gives them. Secret values are not shown' });

/** A value that the fleet generated for a variable of a deployment, as text. */
export const generatedValue = z
  .object({ name: z.string().meta({ description: 'The variable' }), value: z.string() })
  .meta({ id: 'GeneratedValue' });

/** The values that a request generated. A repeated request generates none. */
export const generatedValues = z.array(generatedValue).meta({
  description:
    'The values that this request generated, without those of internal variables. Only this response contains them; they can be revealed later',
});

export type GeneratedValue = z.output<typeof generatedValue>;
export type AddressForm = (typeof addressForms)[number];
export type EnvRequest = z.output<typeof env>;
export type EnvReply = z.output<typeof envReply>;

const namesIn = (pieces: readonly Piece[]): ReadonlySet<string> =>
  new Set(pieces.flatMap((piece) => (typeof piece === 'string' ? [] : piece.name)));

interface ComposedText {
  readonly compose: string;
  readonly with: Readonly<Record<string, unknown>>;
}

/** What is wrong with the placeholders of a composed value, by the path of the member. */
function composedProblems({ compose, with: references }: ComposedText, maxReferences: number) {
  if (Object.keys(references).length > maxReferences)
    return [{ path: ['with'], message: `must have at most ${maxReferences} members` }];
  const pieces = composedPieces(compose);
  if (!pieces) return [{ path: ['compose'], message: codedMessages.composed_syntax }];
  const used = namesIn(pieces);
  return [
    ...[...used]
      .filter((name) => !Object.hasOwn(references, name))
      .map((name) => ({
        path: ['compose'],
        message: `must not contain the placeholder ${name}, which is not defined`,
      })),
    ...Object.keys(references)
      .filter((name) => !used.has(name))
      .map((name) => ({ path: ['with', name], message: `must be used in the text as the placeholder ${name}` })),
  ];
}
