import { z } from 'zod';
import { labelValue, quantity } from '../../template/fields.ts';

const amount = quantity.min(1, 'must not be empty');

/** The GPUs of one model that all nodes of an elastic cluster can have together. */
const gpuLimit = z
  .strictObject({
    model: labelValue.min(1, 'must not be empty').meta({
      description: 'The label `nvidia.com/gpu.product` of its nodes, such as `NVIDIA-L4`',
    }),
    vram: quantity.meta({
      description: 'The memory of each GPU; `""`: not known, so that a request for GPU memory fails',
    }),
    count: z.int().min(1).max(100_000),
  })
  .meta({ id: 'GpuLimit' });

/** The limits of a cluster that adds nodes when pods need them. */
export const elastic = z
  .strictObject({
    max_nodes: z
      .int()
      .min(1)
      .max(100_000)
      .meta({ description: 'The number of nodes that the cluster can have, with the present ones' }),
    per_replica: z
      .strictObject({ cpu: amount, memory: amount, gpu_count: z.int().min(0).max(64) })
      .meta({ description: 'The largest replica: what pods can request of the largest node while it is empty' }),
    gpus: z
      .array(gpuLimit)
      .max(64, 'must have at most 64 entries')
      .refine(
        (given) => new Set(given.map(({ model }) => model)).size === given.length,
        'must not contain a model twice',
      )
      .meta({ description: 'The number of GPUs of each model that the cluster can have, with the present ones' }),
  })
  .meta({
    id: 'Elastic',
    examples: [
      {
        max_nodes: 10,
        per_replica: { cpu: '8', memory: '32Gi', gpu_count: 1 },
        gpus: [{ model: 'NVIDIA-L4', vram: '24Gi', count: 4 }],
      },
    ],
  });
export type Elastic = z.output<typeof elastic>;
