import { eventually } from '@svc/testing';
import type { Known, Ledger } from './ledger.ts';
import type { ChaosProcesses } from './processes.ts';

/** A deployment as it is stored. */
export interface Row {
  readonly id: string;
  readonly name: string;
  readonly replicas: number;
  readonly round: string | null;
  readonly generation: number;
  readonly desired_state: 'running' | 'stopped';
  readonly gpu_count: number;
}

type Query = ChaosProcesses['query'];

export const rowsIn = (query: Query): Promise<Row[]> =>
  query("SELECT id, name, replicas, env->>'ROUND' AS round, generation, desired_state, gpu_count FROM deployments");

interface WaitOptions {
  readonly query: Query;
  readonly withinMs: number;
  /** Expected phase of deployments with GPUs. */
  readonly withGpus: 'running' | 'failed';
}

/** Waits until every deployment is in its desired state. */
export async function waitForDesiredState({ query, withinMs, withGpus }: WaitOptions): Promise<void> {
  const unsettled = `
    SELECT name, phase, reason, message, generation, observed_generation, desired_state, rollout, failures, due_at - now() AS due
    FROM deployments
    WHERE deleting OR rollout->>'state' IN ('progressing', 'returning')
      OR (desired_state = 'running' AND (observed_generation IS DISTINCT FROM generation
      OR phase <> CASE WHEN gpu_count > 0 THEN '${withGpus}' ELSE 'running' END))
      OR (desired_state = 'stopped' AND phase <> 'stopped')`;
  await eventually('all deployments are in their desired state', () => query(unsettled), {
    until: ({ length }) => length === 0,
    withinMs,
  });
}

/**
 * Differences between the stored deployments and the ledger as text, including acknowledged
 * operations that are not stored.
 */
export async function differences(query: Query, ledger: Ledger): Promise<string[]> {
  const now = await rowsIn(query);
  const find = (id: string) => now.find((row) => row.id === id);
  const revisions = await query('SELECT deployment_id, generation, operation FROM deployment_revisions');
  const kept = new Set(revisions.map((row) => `${row.deployment_id} ${row.generation} ${row.operation}`));
  const acknowledged = ledger.all
    .filter(({ id }) => find(id))
    .flatMap(({ id, acknowledged }) => acknowledged.map((change) => `${id} ${change.generation} ${change.operation}`));
  const watched: { what: string }[] = await query('SELECT what FROM fire_wrong');
  return [
    ...ledger.wrong,
    ...watched.map(({ what }) => what),
    ...ledger.all.flatMap((known) => differencesOf(find(known.id), known)),
    ...now.filter(({ id }) => !ledger.all.some((known) => known.id === id)).map(({ name }) => `${name} is unknown`),
    ...acknowledged.filter((change) => !kept.has(change)).map((change) => `${change} is lost`),
  ];
}

function differencesOf(row: Row | undefined, { replicas, round, desired, gone, name }: Known): string[] {
  const seen = row && { replicas: row.replicas, round: row.round ?? '0', desired: row.desired_state };
  const isAsKnown =
    seen === undefined
      ? gone !== 'no'
      : gone !== 'yes' && replicas.has(seen.replicas) && round.has(seen.round) && desired.has(seen.desired);
  const values = { replicas: [...replicas], round: [...round], desired: [...desired], gone };
  return isAsKnown ? [] : [`${name} is ${JSON.stringify(seen)}, and should be ${JSON.stringify(values)}`];
}
