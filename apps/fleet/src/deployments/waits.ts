import { Prisma } from '../generated/prisma/client.ts';

/** For what a part of an application waits: for another part that starts, or that ends. */
export type WaitsUntil = 'started' | 'ready' | 'finished' | 'stopped' | 'gone';

/** What the column `waits_for` of a deployment has. A deployment that does not exist is not waited for. */
export interface WaitsFor {
  /** Since when, as ISO 8601. */
  readonly since: string;
  readonly for: readonly { readonly id: string; readonly until: WaitsUntil }[];
}

/**
 * The deployments `s` for which a deployment with a column `waits_for` still waits, and until when (`w.until`). A job that has
 * completed is stopped, although it is desired to run. The limit makes the planner read each by its id.
 */
export const unmetWaits = (
  waitsFor: Prisma.Sql,
): Prisma.Sql => Prisma.sql`jsonb_to_recordset(${waitsFor}->'for') w(id uuid, until text)
  JOIN LATERAL (SELECT id, part, phase, reason, generation, observed_generation, desired_state FROM deployments WHERE id = w.id LIMIT 1) s ON (CASE w.until
    WHEN 'started' THEN s.observed_generation = s.generation AND s.phase IN ('starting', 'running', 'degraded', 'stopped')
    WHEN 'ready' THEN s.observed_generation = s.generation AND (s.phase = 'running' OR s.phase = 'stopped' AND s.desired_state = 'running')
    WHEN 'finished' THEN s.observed_generation = s.generation AND s.phase = 'stopped'
    WHEN 'stopped' THEN s.phase = 'stopped'
    ELSE false END) IS NOT TRUE`;
