import { z } from 'zod';
import { codedMessages } from '../../shared/field-codes.ts';
import { line, record, text } from '../../shared/wire.ts';
import { dnsLabel, variable } from '../../template/fields.ts';

const plain = z.strictObject({ value: text(32_768), plain: z.literal(true) });

/** References to a value, which the API accepts and returns in the same form. */
const reference = {
  secret: z.strictObject({ secret: dnsLabel, key: line(253).optional() }),
  generated: z.strictObject({ generate: z.int().min(16).max(128) }),
  ofDeployment: z.strictObject({ deployment: dnsLabel, variable }),
  sealed: z.strictObject({ sealed: z.literal(true) }),
};

/** The values of variables in a request. */
export const env = record(
  variable,
  z
    .union(
      [text(32_768), reference.secret, reference.generated, reference.ofDeployment, plain, reference.sealed],
      codedMessages.env_value,
    )
    .meta({
      id: 'EnvValue',
      description:
        'The value of a variable: text; a key of a secret; a random text of this length, which the fleet generates; the generated value of another deployment. A secret variable accepts text only as `value` with `plain`. `sealed` keeps a value that an earlier version stored as text',
    }),
).meta({ description: 'Values of variables that the workload declares' });

/** The values of variables of a deployment in a response. Secret values are not shown. */
export const envReply = z
  .record(
    z.string(),
    z.union([
      z.string(),
      z.object({ secret: z.string(), key: z.string().optional() }),
      z.object({ generate: z.int() }),
      z.object({ deployment: z.string(), variable: z.string() }),
      z.object({ value: z.string(), plain: z.literal(true) }),
      z.object({ sealed: z.literal(true) }),
    ]),
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
export type EnvRequest = z.output<typeof env>;
export type EnvReply = z.output<typeof envReply>;
