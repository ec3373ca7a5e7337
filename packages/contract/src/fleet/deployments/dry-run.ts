import { z } from 'zod';

/** Why a cluster was not asked about an object, or did not answer. */
const dryRunReasons = [
  'role',
  'forbidden',
  'unreachable',
  'namespace_missing',
  'webhook',
  'secrets',
  'timeout',
] as const;

/** What the cluster of a plan says about an object, without storing it. */
export const dryRun = z
  .object({
    object: z.string().meta({
      description:
        '`<kind>/<name>` of an object of the manifest, `Pod/…` for one pod from its template, or `ResourceQuota/…` for all its pods together',
    }),
    result: z.enum(['passed', 'refused', 'not_checked']),
    reason: z.enum(dryRunReasons).nullable().meta({
      description:
        'Of `not_checked`. `role`: the caller can deploy nothing; `forbidden`: the credentials of the fleet lack a permission; `unreachable`: the cluster did not answer; `namespace_missing`: the first deployment creates the namespace; `webhook`: a webhook of the cluster does not support dry runs; `secrets`: a value cannot be decrypted; `timeout`: not within 5 seconds',
    }),
    message: z.string().meta({
      description: 'The sentence of the cluster, or why it was not asked; empty if it accepts the object',
    }),
  })
  .meta({ id: 'DryRun' });
export type DryRun = z.output<typeof dryRun>;
