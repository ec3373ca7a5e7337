import { z } from 'zod';
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

const FORMS =
  'must be a string, {"generate": 16 to 128}, {"secret": name, "key": key}, {"deployment": name, "variable": name}, {"value": text, "plain": true}, or {"sealed": true} for a value that is already sealed';

/** The values of variables in a request. */
export const env = record(
  variable,
  z
    .union(
      [text(32_768), reference.secret, reference.generated, reference.ofDeployment, plain, reference.sealed],
      FORMS,
    )
    .meta({
      id: 'EnvValue',
      description:
        'The value of a variable: text; a key of a secret; a random text of this length, which the fleet generates and never shows; the generated value of another deployment. A secret variable accepts text only as `value` with `plain`. `sealed` keeps a value that an earlier version stored as text',
    }),
).meta({ description: 'Values of variables that the workload declares' });

/** The values of variables in a response. A secret value is never shown. */
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

export type EnvRequest = z.output<typeof env>;
export type EnvReply = z.output<typeof envReply>;
