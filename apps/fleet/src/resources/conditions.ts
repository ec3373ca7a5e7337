import { z } from 'zod';

/** A condition of a resource as its JSON column stores it. `at` is the time of the last transition (RFC 3339). */
export const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
  at: z.string(),
});
export type Condition = z.output<typeof condition>;

/** Conditions as the API shows them. */
export const presentConditions = (conditions: readonly Condition[]) =>
  conditions.map(({ at, ...rest }) => ({ ...rest, at: new Date(at) }));
