import { rolloutStates, type Updates } from '@svc/contract/fleet';
import { z } from 'zod';

/** The rollout of a generation as the row of its deployment stores it. Times are those of the database. */
export const storedRollout = z.object({
  generation: z.int(),
  state: z.enum(rolloutStates),
  /** Of a return: the generation that has failed. */
  failed_generation: z.int().nullable(),
  /** The number of starts of current instances after the first one of each, since the rollout began. */
  restarts: z.int(),
  /** Whether a current instance has been started. */
  has_run: z.boolean(),
  /** Since when all current instances have been ready; null if one is not, or if there is none. */
  ready_since: z.iso.datetime().nullable(),
  /** The instances whose addresses are withdrawn because they are to end next, and since when. */
  leaving: z.record(z.string(), z.iso.datetime()).default({}),
  /** Why it has failed. */
  reason: z.string().nullable(),
  message: z.string(),
});
export type StoredRollout = z.output<typeof storedRollout>;

/** How the rollout of a generation has ended; null: it has not. */
export const storedOutcome = z.enum(['good', 'failed', 'superseded']).nullable();

/** A rollout that begins. `failed_generation`: the one that has failed, if it restores the last good one. */
export const newRollout = (generation: number, failed_generation: number | null = null): StoredRollout => ({
  generation,
  state: 'progressing',
  failed_generation,
  restarts: 0,
  has_run: false,
  ready_since: null,
  leaving: {},
  reason: null,
  message: '',
});

interface Row {
  readonly generation: number;
  readonly desired_state: string;
  readonly rollout: StoredRollout | null;
  readonly rollout_elapsed_ms: number;
  readonly rollout_observed_at: Date | null;
  readonly extra_instances: number;
  readonly good_generation: number | null;
  readonly instances: readonly {
    readonly phase: string;
    readonly ready?: boolean | undefined;
    readonly current?: boolean | undefined;
  }[];
}

/** The rollout of the present generation. Before its first pass, it is one that begins; null without one. */
export function presentRollout({ generation, desired_state, rollout }: Row): StoredRollout | null {
  if (rollout === null || rollout.generation === generation) return rollout;
  return desired_state === 'running' ? newRollout(generation) : null;
}

/** Whether a rollout still replaces instances, or waits for a person to decide. */
export const isOpen = ({ state }: StoredRollout): boolean => ['progressing', 'returning', 'held'].includes(state);

/** The representation of the rollout of a deployment in the API. */
export function rolloutReply(row: Row, { deadline_seconds }: Updates) {
  const rollout = presentRollout(row);
  if (!rollout) return null;
  const { state, failed_generation, reason, message } = rollout;
  const updated = rollout === row.rollout ? row.instances.filter(({ current = true }) => current) : [];
  const { rollout_observed_at, rollout_elapsed_ms } = row;
  const left = deadline_seconds * 1000 - rollout_elapsed_ms;
  const isTimed = state === 'progressing' && rollout === row.rollout && rollout_observed_at !== null;
  return {
    generation: row.generation,
    state,
    updated: updated.length,
    ready: updated.filter(({ ready, phase }) => ready ?? phase === 'running').length,
    extra: row.extra_instances > 0,
    deadline_at: isTimed ? new Date(rollout_observed_at.getTime() + left) : null,
    good_generation: row.good_generation,
    failed_generation,
    reason,
    message,
  };
}
