import type { Database } from '../../database/client.ts';
import type { ManagedObject } from '../../engines/managed.ts';
import { TARGET_TABLES, type TargetRow } from '../targets.ts';

interface Listed {
  /** All managed objects of the target. */
  readonly managed: readonly ManagedObject[];
  /** The time of the request for the list, by the clock of `performance`. */
  readonly requestedAt: number;
}

/** What a check must do because of the objects of a target. */
interface Difference {
  /** The number of deployments that were made due. */
  readonly due: number;
  /** Listed ids of deployments and volumes that were deleted. */
  readonly deleted: readonly string[];
  /** Whether objects of unknown deployments or volumes are listed, or were listed before. */
  readonly has_orphans: boolean;
  /** The networks of a host in which no deployment has an address. */
  readonly unused_networks: readonly { readonly id: string; readonly application_id: string | null }[];
}

/**
 * Compares the managed objects of a target with the database, with one statement that writes
 * nothing if they agree.
 *
 * Makes the deployments of a host due whose containers are not those that the last reconciliation
 * has found: the names, the states and the generation as the list shows them. A deployment whose
 * volume is missing becomes due as well. Only deployments that are as desired are compared; the
 * others are reconciled soon anyway. A deployment that was reconciled after the list was requested
 * is not compared, because the list can be older.
 */
export async function compareWithRows(
  { client }: Database,
  { kind, row }: TargetRow,
  { managed, requestedAt }: Listed,
): Promise<Difference> {
  const ids = [...new Set(managed.map(({ id }) => id))];
  const volumeIds = managed.flatMap((object) => (object.kind === 'volume' ? [object.id] : []));
  const containers = managed.flatMap(({ id, instance, generation }) =>
    instance ? [{ id, instance, generation }] : [],
  );
  const { column } = TARGET_TABLES[kind];
  const hostId = kind === 'host' ? row.id : null;
  const age = (performance.now() - requestedAt) / 1000;
  const [difference] = await client.$queryRaw<[Difference]>`
    WITH containers AS (
      SELECT id, array_agg(instance ORDER BY instance) AS instances, max(generation) AS generation
      FROM jsonb_to_recordset(${JSON.stringify(containers)}::jsonb) AS c (id uuid, instance text, generation int) GROUP BY id),
    changed AS (
      SELECT d.id FROM deployments d LEFT JOIN containers c ON c.id = d.id
      WHERE d.host_id = ${hostId}::uuid AND d.due_at > now() AND d.lease_owner IS NULL AND d.failures = 0 AND NOT d.deleting
        AND d.phase = d.desired_state::text AND d.observed_generation = d.generation
        AND d.observed_at < now() - make_interval(secs => ${age})
        AND (coalesce(c.instances, '{}') <> ARRAY(
               SELECT concat_ws(' ', i ->> 'name', i ->> 'phase') AS instance FROM jsonb_array_elements(d.instances) i ORDER BY instance)
             OR c.generation > d.generation
             OR d.phase = 'running' AND EXISTS (
               SELECT FROM attachments a JOIN volumes v ON v.id = a.volume_id
               WHERE a.deployment_id = d.id AND v.phase = 'bound' AND v.id <> ALL (${volumeIds}::uuid[])))
      FOR UPDATE OF d SKIP LOCKED),
    due AS (UPDATE deployments d SET due_at = now() FROM changed WHERE d.id = changed.id RETURNING d.id),
    deleted AS (SELECT id FROM tombstones WHERE ${column} = ${row.id}::uuid AND id = ANY (${ids}::uuid[]))
    SELECT (SELECT count(*) FROM due)::int AS due,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'application_id', n.application_id)), '[]') FROM networks n
       WHERE n.host_id = ${hostId}::uuid AND NOT EXISTS (SELECT FROM network_addresses a WHERE a.network_id = n.id)) AS unused_networks,
      ARRAY(SELECT id::text FROM deleted) AS deleted,
      EXISTS (SELECT FROM orphans WHERE target_id = ${row.id}::uuid)
        OR EXISTS (
          SELECT FROM unnest(${ids}::uuid[]) AS listed (id)
          WHERE NOT EXISTS (SELECT FROM deleted d WHERE d.id = listed.id)
            AND NOT EXISTS (SELECT FROM deployments d WHERE d.id = listed.id AND d.sent_to_engine)
            AND NOT EXISTS (SELECT FROM volumes v WHERE v.id = listed.id AND v.sent_to_engine)) AS has_orphans`;
  return difference;
}
