import { z } from 'zod';
import { timestamp } from '../../shared/timestamp.ts';
import { line } from '../../shared/wire.ts';

/** When the instance that replaces another one is started. */
const order = z.enum(['auto', 'start_first', 'stop_first']).meta({
  description:
    '`start_first`: on a host, one instance more than `replicas` runs during an update, and an old one ends when the new ones are ready; refused where this is not possible. `stop_first`: an old instance ends before its successor starts. `auto`: `start_first` where it is possible',
});

/** What happens when a rollout fails. */
const onFailure = z.enum(['auto', 'roll_back', 'stop']).meta({
  description:
    '`roll_back`: the fleet restores the last good generation; `stop`: the rollout is held. `auto`: `roll_back`, unless an instance of the new generation has run with a volume to which it can write',
});

/** The days of a window. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const timeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time from 00:00 to 23:59, such as 02:00');

const windowMembers = {
  days: z
    .array(z.enum(weekdays))
    .min(1, 'must have at least 1 entry')
    .max(weekdays.length, `must have at most ${weekdays.length} entries`)
    .meta({ description: 'The days on which it begins' }),
  start: timeOfDay.meta({ examples: ['02:00'] }),
  end: timeOfDay.meta({ examples: ['05:00'], description: 'Before `start`: on the next day' }),
  time_zone: line(64).meta({ description: 'Name of the IANA time zone database, such as `Europe/Berlin`' }),
};

const window = z.object(windowMembers).meta({
  id: 'UpdateWindow',
  description: 'When automatic updates begin. A rollout that has begun continues after it',
});
export type UpdateWindow = z.output<typeof window>;

const from = z.enum(['manual', 'template', 'image', 'all']).meta({
  description:
    '`template`: the fleet updates the deployment when its template changes. The administrators of the hub can then replace what runs, with the same image name from the same registry, and without new secrets, ports, volumes and networks. `image`: when the tag of its image names another image, which whoever can write the tag in the registry decides. `all`: both. `manual`: only on request',
});

const members = {
  from,
  order,
  ready_seconds: z.int().min(0).max(3600).meta({
    description: 'How long instances must have been ready before the next step of a rollout, and at its end',
  }),
  deadline_seconds: z.int().min(10).max(86_400).meta({
    description: 'When a rollout fails that is not complete. Time in which the target is not reachable does not count',
  }),
  on_failure: onFailure,
};

/** How updates of a deployment begin, and how they replace its instances. */
export const updatesReply = z
  .object({ ...members, window: window.nullable().meta({ description: 'null: automatic updates begin at any time' }) })
  .meta({ id: 'Updates' });
export type Updates = z.output<typeof updatesReply>;

/** The policy of a new deployment. */
export const NEW_UPDATES: Updates = {
  from: 'manual',
  window: null,
  order: 'auto',
  ready_seconds: 10,
  deadline_seconds: 1800,
  on_failure: 'auto',
};

/** The same in a request. A member that is left out does not change. */
export const updates = z
  .strictObject({
    ...members,
    window: z
      .strictObject(windowMembers)
      .meta({
        id: 'UpdateWindowInput',
        examples: [{ days: ['sat', 'sun'], start: '02:00', end: '05:00', time_zone: 'Europe/Berlin' }],
      })
      .nullable(),
  })
  .partial()
  .meta({
    id: 'UpdatesInput',
    description:
      'How updates begin, and how they replace the instances. Default: `manual`, at any time, `auto`, 10 and 1800 seconds, `auto`',
    examples: [{ order: 'auto', ready_seconds: 10, deadline_seconds: 1800, on_failure: 'auto' }],
  });
export type UpdatesInput = z.output<typeof updates>;

/** The states of a rollout. */
export const rolloutStates = ['progressing', 'returning', 'held', 'succeeded', 'failed', 'rolled_back'] as const;

/** The replacement of the instances after a change. */
export const rollout = z
  .object({
    generation: z.int(),
    state: z.enum(rolloutStates).meta({
      description:
        '`returning`: it has failed, and the last good generation is about to be restored; `held`: it has failed, and waits for a person; `rolled_back`: it has restored the last good generation; `failed`: it should have, and has failed',
    }),
    updated: z.int().meta({ description: 'The number of instances of this generation' }),
    ready: z.int().meta({ description: 'How many of them are ready' }),
    extra: z.boolean().meta({ description: 'Whether one instance more than `replicas` can run' }),
    deadline_at: timestamp.nullable().meta({
      description: 'When it fails if its target stays reachable; null if it does not progress',
    }),
    good_generation: z.int().nullable().meta({ description: 'The last generation whose rollout succeeded' }),
    failed_generation: z.int().nullable().meta({ description: 'Of a return: the generation that has failed' }),
    reason: z.string().nullable(),
    message: z.string(),
  })
  .nullable()
  .meta({ id: 'Rollout', description: 'The last rollout; null: none since version 0.2.0, or a job' });

/** Whether something prevents that an available update starts. */
export const updateStates = z.enum(['available', 'held']);
export type UpdateState = z.output<typeof updateStates>;

/** An update that is available to a deployment. */
export const availableUpdate = z
  .object({
    kinds: z.array(z.enum(['template', 'image'])).meta({
      description: 'What has changed: the template since it was copied, or the image that the tag names',
    }),
    to_version: z
      .string()
      .nullable()
      .meta({ description: 'The version of the present template; null without `template` in `kinds`' }),
    to_digest: z
      .string()
      .nullable()
      .meta({ description: 'The digest of the image that the tag names; null without `image` in `kinds`' }),
    held: z
      .object({
        reason: z.string(),
        message: z.string(),
        at: timestamp.nullable(),
        generation: z.int().nullable().meta({ description: 'The generation that has failed with this configuration' }),
      })
      .nullable()
      .meta({
        description:
          'Why it is not made automatically; with `generation`, an upgrade needs `force`. null: nothing holds it',
      }),
  })
  .nullable()
  .meta({
    id: 'AvailableUpdate',
    description:
      'null: nothing has changed as far as it is known. A template that is no longer in the mirror is no update, and a tag only since it was checked',
  });
