import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { type Kind, presentCommon, resourceRow } from './kind.ts';

const volumeRow = resourceRow.extend({
  size: z.string(),
  access_mode: z.enum(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany']),
  storage_class: z.string().nullable(),
  reclaim: z.enum(['retain', 'delete']),
  host_id: z.string().nullable(),
  cluster_id: z.string().nullable(),
  deployment_id: z.string().nullable(),
  phase: z.enum(['pending', 'bound', 'lost', 'deleting']),
  sent_to_engine: z.boolean(),
  attached_to: z.array(z.object({ deployment_id: z.string(), name: z.string() })),
});
export type VolumeRow = z.output<typeof volumeRow>;

export const volumes: Kind<VolumeRow> = {
  table: 'volumes',
  row: volumeRow,
  columns: Prisma.sql`r.size, r.access_mode::text, r.storage_class, r.reclaim::text, r.host_id, r.cluster_id, r.deployment_id,
    r.phase::text, r.sent_to_engine,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('deployment_id', d.id, 'name', d.name) ORDER BY d.name), '[]')
     FROM (SELECT DISTINCT deployment_id FROM attachments WHERE volume_id = r.id) a
     JOIN deployments d ON d.id = a.deployment_id) AS attached_to`,
};

/** The representation of a target in the API; null without a target. */
export const presentTarget = ({ host_id, cluster_id }: { host_id: string | null; cluster_id: string | null }) =>
  host_id === null && cluster_id === null ? null : { host_id, cluster_id };

/** The representation of a volume in the API. */
export const presentVolume = (row: VolumeRow) => ({
  ...presentCommon(row),
  size: row.size,
  access_mode: row.access_mode,
  storage_class: row.storage_class,
  reclaim: row.reclaim,
  target: presentTarget(row),
  deployment_id: row.deployment_id,
  phase: row.phase,
  attached_to: row.attached_to,
});
