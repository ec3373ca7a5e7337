import { z } from 'zod';
import {
  list,
  newTemplateFields,
  refuseConflicts,
  templateFields,
  templateReply,
  workloadPart,
} from '../template/fields.ts';
import { divideImage } from '../template/image-reference.ts';
import { refuseOldValues } from '../template/new-values.ts';

/** The maximum number of parts of an application. */
export const MAX_PARTS = 32;

/** The longest name of a part. The fleet adds the name of the application to it. */
const MAX_PART_NAME = 40;

/** A name of a host that must not mean a part. */
const RESERVED_NAME = 'localhost';

export const partName = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/,
    `must have 1 to ${MAX_PART_NAME} lower-case letters, digits and inner hyphens`,
  )
  .refine((name) => name !== RESERVED_NAME, `must not be ${RESERVED_NAME}`);

/** Until when a part waits for another one. */
export const needStates = ['started', 'ready', 'finished'] as const;

const need = z
  .strictObject({
    part: partName,
    until: z
      .enum(needStates, `must be one of: ${needStates.join(', ')}`)
      .default('ready')
      .meta({
        description: '`finished` is only for a part of the kind `job`',
      }),
  })
  .meta({ id: 'NewNeed' });

/** How often a job runs. */
export const jobRuns = ['once', 'each_version'] as const;

const PUBLISHED = 'Whether the port is reachable from outside of the application';
const SHARED = 'Mounts of all parts with the same name are one volume';

const partPort = templateFields.ports.element
  .safeExtend({ publish: z.boolean().default(false).meta({ description: PUBLISHED }) })
  .meta({ id: 'NewPartPort' });

const partMount = templateFields.volume_mounts.element
  .safeExtend({ shared: z.boolean().default(false).meta({ description: SHARED }) })
  .meta({ id: 'NewPartMount' });

/** A container of an application, as its publisher writes it. */
export const newPart = z
  .strictObject({
    name: partName,
    ...workloadPart(newTemplateFields),
    image_name: templateFields.image_name.min(1, 'is required').meta({ examples: ['library/server'] }),
    ports: list(partPort).default([]),
    volume_mounts: list(partMount).default([]),
    needs: z
      .array(need)
      .max(MAX_PARTS, `must have at most ${MAX_PARTS} entries`)
      .default([])
      .meta({ description: 'The parts without which this one does not start' }),
    scalable: z.boolean().default(false).meta({ description: 'Whether it can have several replicas' }),
    run: z
      .enum(jobRuns, `must be one of: ${jobRuns.join(', ')}`)
      .default('once')
      .meta({
        description:
          'Of a job: whether it runs once, or again for each version of the application, such as a migration, before the parts that need it',
      }),
    was: partName.nullable().default(null).meta({
      description: 'The earlier name of the part, with which an upgrade finds its volumes and values',
    }),
  })
  .check(divideImage)
  .check(refuseConflicts)
  .check(refuseOldValues)
  .meta({ id: 'NewPart' });

const { ports, volume_mounts, ...workloadReplies } = workloadPart(templateReply);

/** A container of an application in a response. */
export const partReply = z
  .object({
    name: z.string(),
    ...workloadReplies,
    ports: z
      .array(
        ports.unwrap().element.safeExtend({ publish: z.boolean().prefault(false).meta({ description: PUBLISHED }) }),
      )
      .prefault([]),
    volume_mounts: z
      .array(
        volume_mounts
          .unwrap()
          .element.safeExtend({ shared: z.boolean().prefault(false).meta({ description: SHARED }) }),
      )
      .prefault([]),
    needs: z.array(z.object({ part: z.string(), until: z.string().prefault('ready') })).prefault([]),
    scalable: z.boolean().prefault(false),
    run: z.string().prefault('once'),
    was: z.string().nullable().prefault(null),
  })
  .meta({ id: 'Part', description: 'A container of an application' });
export type Part = z.output<typeof partReply>;

/** The members of a part. */
export const partMembers: readonly string[] = Object.keys(partReply.shape);

/** The values of a part that states nothing but its name and its image. */
export const partDefaults: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(newPart.parse({ name: 'x', image_name: 'x' })).filter(
    ([member]) => member !== 'name' && member !== 'image_name',
  ),
);

export const newParts = z
  .array(newPart)
  .min(1, 'must have at least 1 entry')
  .max(MAX_PARTS, `must have at most ${MAX_PARTS} entries`);
