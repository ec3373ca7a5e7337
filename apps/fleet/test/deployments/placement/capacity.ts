import type { Database } from '../../../src/database/client.ts';

/**
 * Violations of the allocation rules, as text: resources beyond the capacity, resources that are
 * assigned twice, and inconsistent counts. The list is empty if there are none.
 */
export async function overcommitted({ client }: Pick<Database, 'client'>): Promise<string[]> {
  const rows = await client.$queryRaw<{ wrong: string }[]>`
    SELECT 'host ' || h.name || ' allocates more than its capacity' AS wrong FROM hosts h JOIN deployments d ON d.host_id = h.id
      GROUP BY h.id HAVING sum(d.cpu_millis) > h.cpu_millis OR sum(d.memory_bytes) > h.memory_bytes
        OR sum(d.gpu_count) > jsonb_array_length(h.gpus)
    UNION ALL
    SELECT 'deployment ' || d.name || ' counts ' || d.gpu_count || ' GPUs and has ' || count(g.gpu_id)
      FROM deployments d LEFT JOIN allocated_gpus g ON g.deployment_id = d.id WHERE d.host_id IS NOT NULL
      GROUP BY d.id HAVING count(g.gpu_id) <> d.gpu_count
    UNION ALL
    SELECT 'deployment ' || d.name || ' has a GPU of another host' FROM allocated_gpus g
      JOIN deployments d ON d.id = g.deployment_id WHERE d.host_id IS DISTINCT FROM g.host_id
    UNION ALL
    SELECT 'GPU ' || g.gpu_id || ' does not exist on its host' FROM allocated_gpus g JOIN hosts h ON h.id = g.host_id
      WHERE NOT h.gpus @> jsonb_build_array(jsonb_build_object('id', g.gpu_id))
    UNION ALL
    SELECT 'deployment ' || d.name || ' is stopped and has allocated resources' FROM deployments d
      WHERE d.desired_state = 'stopped' AND (d.cpu_millis, d.memory_bytes, d.gpu_count) <> (0, 0, 0)
    UNION ALL
    SELECT 'deployment ' || d.name || ' does not have one revision for each generation' FROM deployments d
      LEFT JOIN deployment_revisions r ON r.deployment_id = d.id GROUP BY d.id HAVING count(r.generation) <> d.generation
    UNION ALL
    SELECT 'volume ' || v.name || ' is ReadWriteOnce and has two deployments' FROM volumes v
      JOIN attachments a ON a.volume_id = v.id WHERE v.access_mode = 'ReadWriteOnce'
      GROUP BY v.id HAVING count(DISTINCT a.deployment_id) > 1`;
  return rows.map(({ wrong }) => wrong);
}
