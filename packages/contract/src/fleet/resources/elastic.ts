import { z } from 'zod';
import { labelValue, quantity } from '../../template/fields.ts';

const amount = quantity.min(1, 'must not be empty');

const maxNodes = z.int().meta({ description: 'The number of nodes that the cluster can have, with the present ones' });
const PER_REPLICA = 'The largest replica: what pods can request of the largest node while it is empty';
const GPUS = 'The number of GPUs of each model that the cluster can have, with the present ones';

/** The limits of a cluster that adds nodes when pods need them, as responses and rows contain them. */
export const elastic = z
  .object({
    max_nodes: maxNodes,
    per_replica: z
      .object({ cpu: z.string(), memory: z.string(), gpu_count: z.int() })
      .meta({ description: PER_REPLICA }),
    gpus: z.array(z.object({ model: z.string(), vram: z.string(), count: z.int() })).meta({ description: GPUS }),
  })
  .meta({ id: 'Elastic' });
export type Elastic = z.output<typeof elastic>;

const gpuLimit = z
  .strictObject({
    model: labelValue.min(1, 'must not be empty').meta({
      description: 'The label `nvidia.com/gpu.product` of its nodes, such as `NVIDIA-L4`',
    }),
    vram: quantity.meta({
      description: 'The memory of each GPU; `""`: not known, so that a request for GPU memory does not fit',
    }),
    count: z.int().min(1).max(100_000),
  })
  .meta({ id: 'GpuLimit' });

/** The same in requests. */
export const newElastic = z
  .strictObject({
    max_nodes: maxNodes.min(1).max(100_000),
    per_replica: z
      .strictObject({ cpu: amount, memory: amount, gpu_count: z.int().min(0).max(64) })
      .meta({ description: PER_REPLICA }),
    gpus: z
      .array(gpuLimit)
      .max(64, 'must have at most 64 entries')
      .refine(
        (given) => new Set(given.map(({ model }) => model)).size === given.length,
        'must not contain a model twice',
      )
      .meta({ description: GPUS }),
  })
  .meta({
    id: 'NewElastic',
    examples: [
      {
        max_nodes: 10,
        per_replica: { cpu: '8', memory: '32Gi', gpu_count: 1 },
        gpus: [{ model: 'NVIDIA-L4', vram: '24Gi', count: 4 }],
      },
    ],
  });
