import { z } from 'zod';
import { availableUpdate, updates, updatesReply } from '../deployments/updates.ts';

const from = z.enum(['manual', 'application']).meta({
  description:
    '`application`: the fleet upgrades the application as a whole when that of the catalog changes. The administrators of the hub can then replace what its parts run, with the same image names from the same registries, and without other parts, and new secrets, ports, volumes and networks. `manual`: only on request',
});

const asForDeployments = { window: true, ready_seconds: true, deadline_seconds: true } as const;

/** How upgrades of an application begin, and when its parts are proven. */
export const applicationUpdatesReply = z
  .object({ from, ...updatesReply.pick(asForDeployments).shape })
  .meta({ id: 'ApplicationUpdates' });
export type ApplicationUpdates = z.output<typeof applicationUpdatesReply>;

/** The same in a request. A member that is left out does not change. */
export const applicationUpdates = z
  .strictObject({ from: from.optional(), ...updates.pick(asForDeployments).shape })
  .meta({
    id: 'ApplicationUpdatesInput',
    description:
      'How upgrades begin, and when parts are proven. Default: `manual`, at any time, 10 and 1800 seconds. `on_failure` states what follows a failure',
    examples: [{ from: 'application', ready_seconds: 10 }],
  });
export type ApplicationUpdatesInput = z.output<typeof applicationUpdates>;

const { to_version, held } = availableUpdate.unwrap().shape;

/** An upgrade that is available to an application. */
export const availableUpgrade = z
  .object({ to_version: to_version.meta({ description: 'The version of the application of the catalog' }), held })
  .nullable()
  .meta({
    id: 'AvailableUpgrade',
    description: 'null: the application of the catalog has not changed since the copy, or is no longer in the mirror',
  });
