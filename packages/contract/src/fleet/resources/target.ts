import { z } from 'zod';
import { id, uuid } from '../../shared/wire.ts';

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
  .meta({
    id: 'TargetInput',
    description: 'Exactly one of the two members must be set',
    examples: [{ host_id: '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10' }],
  });

export interface Target {
  readonly kind: 'cluster' | 'host';
  readonly id: string;
}

/** A target in a response. */
export const targetReply = z
  .object({ cluster_id: id.nullable(), host_id: id.nullable() })
  .meta({ id: 'Target', description: 'Exactly one of the two members is not null' });
