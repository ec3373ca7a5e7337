import { phases, type rolloutStates, sourceStates } from '@svc/contract/fleet';
import { type Metrics, observe, type Sample, sharedRead } from '@svc/http';
import type { Database } from '../database/client.ts';
import { isReason } from '../engines/errors.ts';
import { sourceState } from '../plans/sources/rows.ts';
import { isClaimable } from './queue.ts';

interface Count {
  readonly count: number;
}

interface Figures {
  readonly deployments: readonly (Count & { readonly phase: string; readonly reason: string | null })[];
  readonly hosts: readonly (Count & { readonly reachability: string })[];
  readonly clusters: readonly (Count & { readonly reachability: string })[];
  readonly rollouts: readonly (Count & { readonly state: string })[];
  readonly sources: readonly (Count & { readonly state: string })[];
  readonly update_runs: number;
  readonly due: number;
  readonly claimed: number;
  /** The age of the deployment that has been due for the longest time, in seconds. */
  readonly oldest: number;
}

/** The figures are read at most once in this time, whatever the number of scrapes. */
const READ_MS = 2000;

const rolloutLabels = [
  'progressing',
  'returning',
  'held',
  'failed',
] as const satisfies readonly (typeof rolloutStates)[number][];

const reachabilities = ['unknown', 'online', 'unreachable'] as const;

/** A metric with one label, whose values are a fixed set. */
interface Counted<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly label: L;
  readonly values: readonly string[];
}

/**
 * Registers the metrics of the state of the fleet. They are read from the database, so that all
 * replicas report the same values.
 */
export const observeFleet =
  (database: Database, readMs = READ_MS) =>
  (metrics: Metrics): void => {
    const read = sharedRead(readMs, () => readFigures(database));
    const samples = (of: (figures: Figures) => readonly Sample[]) => async () => {
      const figures = await read();
      return figures && of(figures);
    };
    observe(
      metrics,
      { name: 'fleet_deployments', help: 'Deployments by phase and reason', labelNames: ['phase', 'reason'] },
      samples(({ deployments }) =>
        deployments.map(({ phase, reason, count }) => ({
          value: count,
          labels: { phase: phaseLabel(phase), reason: reasonLabel(reason) },
        })),
      ),
    );
    /** Counts by the values of one label, also of those without any. */
    const counts = <L extends string>(
      { name, help, label, values }: Counted<L>,
      rowsOf: (figures: Figures) => readonly (Count & Readonly<Record<L, string>>)[],
    ) =>
      observe(
        metrics,
        { name, help, labelNames: [label] },
        samples((figures) =>
          values.map((value) => ({
            value: rowsOf(figures).find((row) => row[label] === value)?.count ?? 0,
            labels: { [label]: value },
          })),
        ),
      );
    const rollouts = 'Rollouts that have not ended well, by their state';
    counts(
      { name: 'fleet_rollouts', help: rollouts, label: 'state', values: rolloutLabels },
      (figures) => figures.rollouts,
    );
    for (const targets of ['hosts', 'clusters'] as const) {
      const help = `Registered ${targets} by the result of their last check`;
      counts(
        { name: `fleet_${targets}`, help, label: 'reachability', values: reachabilities },
        (figures) => figures[targets],
      );
    }
    counts(
      { name: 'fleet_sources', help: 'Sources of files by their state', label: 'state', values: sourceStates },
      (figures) => figures.sources,
    );
    const gauge = (name: string, help: string, figure: (figures: Figures) => number) =>
      observe(
        metrics,
        { name, help },
        samples((figures) => [{ value: figure(figures) }]),
      );
    gauge('fleet_update_runs', 'Update runs that have not ended', ({ update_runs }) => update_runs);
    gauge('reconciler_due_deployments', 'Deployments on reachable targets that wait for a worker', ({ due }) => due);
    gauge('reconciler_claimed_deployments', 'Deployments that a worker reconciles', ({ claimed }) => claimed);
    gauge(
      'reconciler_oldest_due_seconds',
      'Time for which a deployment on a reachable target has waited for a worker; the longest one',
      ({ oldest }) => oldest,
    );
  };

const phaseLabel = (phase: string): string => (phases.some((known) => known === phase) ? phase : 'other');

const reasonLabel = (reason: string | null): string => {
  if (reason === null) return 'none';
  return isReason(reason) ? reason : 'other';
};

async function readFigures({ client }: Database): Promise<Figures | undefined> {
  const [figures] = await client.$queryRaw<Figures[]>`
    WITH due AS (
      SELECT count(*)::int AS due, coalesce(extract(epoch FROM now() - min(d.due_at)), 0)::float8 AS oldest FROM deployments d
      WHERE ${isClaimable} AND (EXISTS (SELECT FROM hosts t WHERE t.id = d.host_id AND t.reachability = 'online')
        OR EXISTS (SELECT FROM clusters t WHERE t.id = d.cluster_id AND t.reachability = 'online')))
    SELECT due.due, due.oldest,
      (SELECT count(*)::int FROM deployments WHERE lease_until > now()) AS claimed,
      (SELECT count(*)::int FROM update_runs WHERE state = 'running') AS update_runs,
      (SELECT coalesce(json_agg(c), '[]') FROM (SELECT phase, reason, count(*)::int FROM deployments GROUP BY 1, 2) c) AS deployments,
      (SELECT coalesce(json_agg(c), '[]') FROM (SELECT rollout->>'state' AS state, count(*)::int FROM deployments
         WHERE (rollout->>'generation')::int = generation GROUP BY 1) c) AS rollouts,
      (SELECT coalesce(json_agg(c), '[]') FROM (
         SELECT ${sourceState} AS state, count(*)::int FROM sources r GROUP BY 1) c) AS sources,
      (SELECT coalesce(json_agg(c), '[]') FROM (SELECT reachability, count(*)::int FROM hosts GROUP BY 1) c) AS hosts,
      (SELECT coalesce(json_agg(c), '[]') FROM (SELECT reachability, count(*)::int FROM clusters GROUP BY 1) c) AS clusters
    FROM due`;
  return figures;
}
