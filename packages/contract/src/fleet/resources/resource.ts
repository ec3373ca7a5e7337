import { z } from 'zod';
import { anyName, exactText, sortBy } from '../../shared/list-query.ts';
import { documentedAs } from '../../shared/openapi-schema.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { flag, id, ignored, line, paging, record, searchIn } from '../../shared/wire.ts';
import { dnsLabel, labelKey, labelValue } from '../../template/fields.ts';

/** The name of a resource. It is immutable, because objects on engines are named after it. */
export const resourceName = dnsLabel;

export const labels = record(labelKey, labelValue, 64);

/** The common members of all resources of the fleet. */
export const resourceMembers = {
  id,
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  version: z.int().meta({ description: 'Number of changes by users and tokens, for If-Match' }),
  created_at: timestamp,
  updated_at: timestamp,
  created_by: z.string().meta({ description: 'Name of the caller who created the resource' }),
};

const readOnly = ignored('id', 'version', 'created_at', 'updated_at', 'created_by');

/** The common members of a new resource. */
export const newMembers = { name: resourceName, labels: labels.default({}), ...readOnly };

/**
 * The common members of a change. `name` is accepted, but must not differ from the current name.
 */
export const changedMembers = { name: resourceName.optional(), labels: labels.optional(), ...readOnly };

export const byId = z.strictObject({ id });

/** A requirement of a label selector: the label exists, or it has a value. */
export interface LabelRequirement {
  readonly key: string;
  readonly value: string | undefined;
}

export const labelSelector = line(2000)
  .transform((given) => given.split(',').map(parseRequirement))
  .refine(
    (requirements) => requirements.every(isLabel),
    'must be comma-separated labels, each with or without a value, such as team=ml,gpu',
  )
  .meta({ override: { type: 'string' } });

function parseRequirement(part: string): LabelRequirement {
  const [key = '', ...rest] = part.trim().split('=');
  return { key, value: rest.length === 0 ? undefined : rest.join('=') };
}

const isLabel = ({ key, value = '' }: LabelRequirement) =>
  labelKey.safeParse(key).success && labelValue.safeParse(value).success;

/** The paging and filters of all lists of resources. A resource must match all filters. */
const resourceFilters = {
  ...paging,
  search: searchIn('name'),
  label: labelSelector.optional().meta({
    description: 'Comma-separated `key` or `key=value`; resources that have all of them match',
  }),
  name: anyName('Exact name'),
  created_by: exactText('Name of the caller who created the resource'),
};

/**
 * The query of a list of resources with its own filters and sort fields, in addition to those of
 * all lists.
 */
export const resourceQuery = <F extends z.ZodRawShape, S extends string = never>(filters: F, ...sorts: readonly S[]) =>
  z.strictObject({
    ...resourceFilters,
    ...filters,
    sort: sortBy<'updated_at' | 'name' | S>('updated_at', 'name', ...sorts),
  });

/** How much of each resource a list contains. */
export const resourceView = (omitted: string) => ({
  view: z
    .enum(['full', 'summary'], 'must be full or summary')
    .optional()
    .meta({ description: `\`summary\`: ${omitted}. Default: \`full\`` }),
});

/** The query of a request that removes a target. */
export const targetDeletion = z.strictObject({
  abandon: flag.default(false).meta(
    documentedAs({
      type: 'boolean',
      default: false,
      description:
        'For a target that no longer exists: also delete the records of everything on it, without connecting to it',
    }),
  ),
});

/** The result of the last check of a target. */
export const reachability = z
  .enum(['unknown', 'online', 'unreachable'])
  .meta({ description: '`unknown`: not checked yet' });

/** Which engine or cluster a target is. */
export const identity = z.string().nullable().meta({
  description:
    'The same for each registration of the same engine: the id of a Docker engine, the id that the fleet stored on a Podman engine, the UID of the namespace kube-system of a cluster, the UID of a node. null: not known',
});

export const acceptEngine = z
  .boolean()
  .optional()
  .meta({ description: 'true: accept that another engine than before responds at the address' });

export const condition = z
  .object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string(), at: timestamp })
  .meta({ id: 'Condition' });

/** CPUs and bytes as Kubernetes quantities. */
export const capacity = z.object({ cpu: z.string(), memory: z.string(), gpu_count: z.int() }).meta({ id: 'Capacity' });

/** The name of a storage class of a cluster; null: the default of the cluster. */
export const storageClass = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be the name of a storage class')
  .nullable();
