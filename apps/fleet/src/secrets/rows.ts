import { Prisma } from '../generated/prisma/client.ts';
import { type Kind, presentCommon, type ResourceRow } from '../resources/rows.ts';

export interface SecretRow extends ResourceRow {
  readonly kind: 'opaque' | 'registry' | 'tls';
  readonly keys: string[];
  readonly values_version: number;
  readonly last_rotated_at: Date;
  readonly used_by: { readonly kind: 'workload' | 'deployment'; readonly id: string; readonly name: string }[];
}

/** A workload uses what its latest revision names, a deployment what its own does. */
export const secrets: Kind = {
  table: 'secrets',
  columns: Prisma.sql`r.kind::text, r.keys, r.values_version, r.last_rotated_at,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', u.kind, 'id', u.id, 'name', u.name) ORDER BY u.kind, u.name), '[]') FROM (
      SELECT 'workload' AS kind, w.id, w.name FROM workload_revisions v
        JOIN workloads w ON w.id = v.workload_id AND w.revision = v.revision WHERE v.secret_names @> ARRAY[r.name]
      UNION ALL
      SELECT 'deployment', d.id, d.name FROM workload_revisions v
        JOIN deployments d ON d.workload_id = v.workload_id AND d.revision = v.revision WHERE v.secret_names @> ARRAY[r.name]
    ) u) AS used_by`,
};

/** A secret as the API shows it: never its values. */
export const presentSecret = (row: SecretRow) => ({
  ...presentCommon(row),
  kind: row.kind,
  keys: row.keys,
  values_version: row.values_version,
  last_rotated_at: row.last_rotated_at,
  used_by: row.used_by,
});
