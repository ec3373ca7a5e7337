import { z } from 'zod';

/** The number of replicas of a deployment. */
export const replicas = z.int().min(1).max(1000);

const bounds = { min_replicas: replicas, max_replicas: replicas, cpu_percent: z.int().min(1).max(1000) };

/** The bounds within which an autoscaler of a cluster chooses the number of replicas, in a request. */
export const autoscaling = z
  .strictObject(bounds)
  .refine(({ min_replicas, max_replicas }) => min_replicas <= max_replicas, {
    path: ['max_replicas'],
    error: 'must not be less than the minimum',
  })
  .nullable()
  .meta({
    id: 'AutoscalingInput',
    description:
      'An autoscaler of the cluster keeps the replicas at `cpu_percent` percent of `cpu_request`. Only for services on a cluster, with a `cpu_request` and without ReadWriteOnce volumes. Placement counts `max_replicas`. null: none',
    examples: [{ min_replicas: 2, max_replicas: 6, cpu_percent: 80 }],
  });

/** The same in a response, and in the row of a deployment. */
export const autoscalingReply = z
  .object({ min_replicas: z.int(), max_replicas: z.int(), cpu_percent: z.int() })
  .nullable()
  .meta({ id: 'Autoscaling', description: 'null: the fleet, or with `scaled_by` the cluster, sets the number' });
export type Autoscaling = NonNullable<z.output<typeof autoscalingReply>>;

export const scalers = ['fleet', 'cluster'] as const;
export type Scaler = (typeof scalers)[number];

/** Who sets the number of replicas of a deployment that runs, if it has no autoscaling. */
export const scaledBy = z.enum(scalers).meta({
  description:
    '`cluster`: programs of the cluster set the number of replicas, such as `kubectl scale`. The fleet sets it only at the start. Not for jobs, hosts and ReadWriteOnce volumes',
});
