import { z } from 'zod';
import { shownAs } from './shown.ts';
import { dnsLabel, labelKey, labelValue } from './template-fields.ts';
import { timestamp } from './timestamp.ts';
import { flag, ignored, line, paging } from './wire.ts';

/** A resource keeps its name: engines know what it has by it. */
export const resourceName = dnsLabel;

export const labels = z
  .record(labelKey, labelValue)
  .refine((given) => Object.keys(given).length <= 64, 'must have at most 64 labels');

/** What every resource of the fleet has. */
export const resourceMembers = {
  id: z.string(),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  version: z.int().meta({ description: 'Counts changes by people and tokens; for If-Match' }),
  created_at: timestamp,
  updated_at: timestamp,
  created_by: z.string().meta({ description: 'Who made it, for people to read' }),
};

const readOnly = ignored('id', 'version', 'created_at', 'updated_at', 'created_by');

/** Of a new resource. */
export const newMembers = { name: resourceName, labels: labels.default({}), ...readOnly };

/** Of a change. `name` may be sent back as it was read. */
export const changedMembers = { name: resourceName.optional(), labels: labels.optional(), ...readOnly };

export const byId = z.strictObject({ id: z.string() });

/** One label that is asked for: by its key alone, or with its value. */
export interface LabelWish {
  readonly key: string;
  readonly value: string | undefined;
}

const labelWishes = line(2000)
  .transform((given) => given.split(',').map(labelWish))
  .refine((wishes) => wishes.every(isLabel), 'must be labels such as team=ml or gpu, comma-separated')
  .meta({ override: { type: 'string' } });

function labelWish(part: string): LabelWish {
  const [key = '', ...rest] = part.trim().split('=');
  return { key, value: rest.length === 0 ? undefined : rest.join('=') };
}

const isLabel = ({ key, value = '' }: LabelWish) =>
  labelKey.safeParse(key).success && labelValue.safeParse(value).success;

/** How lists of resources are narrowed and paged. */
export const resourceQuery = z.strictObject({
  ...paging,
  search: line(200).optional().meta({ description: 'Text that the name has, in any case, literally' }),
  label: labelWishes.optional().meta({ description: '`key` or `key=value`, comma-separated: all of them' }),
});
export type ResourceQuery = z.output<typeof resourceQuery>;

/** How a target is forgotten. */
export const targetEnd = z.strictObject({
  abandon: flag.default(false).meta(
    shownAs({
      type: 'boolean',
      default: false,
      description: 'Of one that is gone for good: forget what is on it as well, though nobody can look',
    }),
  ),
});

/** How a target stands. */
export const reachability = z
  .enum(['unknown', 'online', 'unreachable'])
  .meta({ description: '`unknown`: it was not asked yet' });

export const condition = z
  .object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string(), at: timestamp })
  .meta({ id: 'Condition' });

/** CPUs and bytes as Kubernetes quantities. */
export const capacity = z.object({ cpu: z.string(), memory: z.string(), gpu_count: z.int() }).meta({ id: 'Capacity' });

/** What a cluster calls a kind of storage; null: whatever its default is. */
export const storageClass = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be the name of a storage class')
  .nullable();
