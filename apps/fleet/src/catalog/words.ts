import { createWordIndex, type SearchedObject, type WordIndex } from '@svc/database';
import type { Database } from '../database/client.ts';

/** The words of each mirror. They are read at the first search. */
const indexes = new WeakMap<Database['client'], WordIndex>();

/**
 * The ids of the templates of the mirror that have words, with their ranks. A search reads the templates that
 * changed since the last one; those that a sync changes meanwhile are read by the next one.
 */
export async function templatesWithWords({ client }: Database, query: string): Promise<ReadonlyMap<string, number>> {
  const index = indexes.get(client) ?? createWordIndex();
  indexes.set(client, index);
  const [sync] = await client.$queryRaw<{ state: string }[]>`
    SELECT concat_ws(' ', generation, checked_at, cursor) AS state FROM catalog_sync`;
  await index.update({
    state: sync?.state ?? '',
    versions: async () => {
      const rows = await client.$queryRaw<{ id: string; version: number }[]>`
        SELECT id, (extract(epoch FROM updated_at) * 1000)::float8 AS version FROM catalog_templates`;
      return rows.map(({ id, version }) => [id, version] as const);
    },
    read: (ids) => client.$queryRaw<SearchedObject[]>`
      SELECT id, summary->>'name' AS name, slug, array_to_string(tags, ' ') AS tags,
        concat_ws(':', summary->>'image_name', summary->>'image_tag') AS image, summary->>'description' AS description,
        (extract(epoch FROM updated_at) * 1000)::float8 AS version
      FROM catalog_templates WHERE id = ANY (${[...ids]}::uuid[])`,
  });
  return index.find(query);
}
