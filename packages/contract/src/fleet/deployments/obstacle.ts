import { z } from 'zod';

const values = z.array(z.string()).meta({
  description:
    'What the field lacks: network types, labels as `key=value`, the number of GPUs or of replicas (for `autoscaling`, of `max_replicas`), mounts, or the name of a target. For `taints`, what to remove; for `elastic`, its member. Can be empty',
});

/** Where a reason against a candidate is removed: a field of an object, or an operation. */
const remedy = z
  .discriminatedUnion('object', [
    z.object({
      object: z.literal('target').meta({ description: 'The candidate' }),
      field: z
        .enum([
          'network_types',
          'labels',
          'taints',
          'schedulable',
          'gpus',
          'endpoint',
          'server',
          'gpu_resource_name',
          'allow_service_account_tokens',
          'elastic',
          'check',
        ])
        .meta({ description: '`check`: check it again, after its engine or its nodes were changed' }),
      values,
    }),
    z.object({
      object: z.literal('request').meta({ description: 'The deployment that is planned' }),
      field: z.enum(['target', 'replicas', 'autoscaling', 'scaled_by', 'volumes']),
      values,
    }),
    z.object({
      object: z.literal('workload').meta({ description: 'A new revision of the workload' }),
      field: z.enum([
        'cpu_request',
        'memory_request',
        'gpu_count',
        'vram_request',
        'node_selector',
        'tolerations',
        'service_account_token',
      ]),
      values,
    }),
    z.object({
      object: z.literal('deployments').meta({ description: 'Other deployments on the candidate' }),
      field: z.literal('desired_state'),
      values,
    }),
  ])
  .meta({ id: 'Remedy' });
export type Remedy = z.output<typeof remedy>;

/** The kinds of reasons why a deployment does not fit on a candidate. */
export const obstacleCodes = [
  'same_engine',
  'not_checked',
  'unreachable',
  'capacity_unknown',
  'network_type_missing',
  'cpu_insufficient',
  'memory_insufficient',
  'gpu_insufficient',
  'engine_too_old',
  'scheduling_disabled',
  'label_missing',
  'taint_not_tolerated',
  'no_suitable_node',
  'nodes_too_small',
  'elastic_limit',
  'volume_bound_elsewhere',
  'volume_in_use',
  'address_not_reached',
  'token_not_allowed',
  'scaled_in_cluster',
  'permission_missing',
  'unknown_target',
] as const;

/** A reason why a deployment does not fit on a candidate. */
export const obstacle = z
  .object({
    code: z.enum(obstacleCodes),
    message: z.string().meta({ description: 'The same as in `reasons`' }),
    remedies: z.array(remedy).meta({ description: 'Together they remove the reason' }),
  })
  .meta({ id: 'Obstacle' });
export type Obstacle = z.output<typeof obstacle>;
