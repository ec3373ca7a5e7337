import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { type Kind, presentCommon, resourceRow } from '../resources/rows.ts';

const secretRow = resourceRow.extend({
  kind: z.enum(['opaque', 'registry', 'tls']),
  keys: z.array(z.string()),
  values_version: z.int(),
  last_rotated_at: z.date(),
  used_by: z.array(z.object({ kind: z.enum(['workload', 'deployment']), id: z.string(), name: z.string() })),
});
export type SecretRow = z.output<typeof secretRow>;

/** A workload uses what its latest revision names, a deployment what its own does. */
export const secrets: Kind<SecretRow> = {
  table: 'secrets',
  row: secretRow,
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
