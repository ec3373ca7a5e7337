import { z } from 'zod';
import { uuid } from './wire.ts';

/** A target in a request: a cluster or a host. */
export const target = z
  .strictObject({ cluster_id: uuid.nullish(), host_id: uuid.nullish() })
  .refine(
    ({ cluster_id, host_id }) => (cluster_id == null) !== (host_id == null),
    'must have either cluster_id or host_id',
  )
  .transform(
    ({ cluster_id, host_id }): Target =>
      cluster_id == null ? { kind: 'host', id: host_id ?? '' } : { kind: 'cluster', id: cluster_id },
  )
  .meta({ id: 'TargetInput', description: 'Exactly one of the two members must be set' });

export interface Target {
  readonly kind: 'cluster' | 'host';
  readonly id: string;
}

/** A target in a response. */
export const targetReply = z
  .object({ cluster_id: z.string().nullable(), host_id: z.string().nullable() })
  .meta({ id: 'Target', description: 'Exactly one of the two members is not null' });
