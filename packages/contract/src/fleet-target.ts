import { z } from 'zod';
import { uuid } from './wire.ts';

/** Where something is to be: a cluster or a host. */
export const target = z
  .strictObject({ cluster_id: uuid.nullish(), host_id: uuid.nullish() })
  .refine(({ cluster_id, host_id }) => (cluster_id == null) !== (host_id == null), 'must name cluster_id or host_id')
  .transform(
    ({ cluster_id, host_id }): Target =>
      cluster_id == null ? { kind: 'host', id: host_id ?? '' } : { kind: 'cluster', id: cluster_id },
  )
  .meta({ id: 'TargetWish' });

export interface Target {
  readonly kind: 'cluster' | 'host';
  readonly id: string;
}

/** A target as it is shown. */
export const shownTarget = z
  .object({ cluster_id: z.string().nullable(), host_id: z.string().nullable() })
  .meta({ id: 'Target', description: 'One of the two' });
