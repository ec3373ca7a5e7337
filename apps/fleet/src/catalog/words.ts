import { createWordIndex, type SearchedObject, type WordIndex } from '@svc/database';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { templateTrust } from './verdicts.ts';

/** A part of the mirror: what the hub lists of one kind of objects. */
export interface Mirror {
  readonly table: Prisma.Sql;
  /** A text that changes with each sync that stores something. */
  readonly state: Prisma.Sql;
  /** The images that words find. */
  readonly images: Prisma.Sql;
  /** What was verified of the signatures of an object `t`. */
  readonly trust: Prisma.Sql;
}

export const templates: Mirror = {
  table: Prisma.sql`catalog_templates`,
  state: Prisma.sql`SELECT concat_ws(' ', generation, checked_at, cursor) AS state FROM catalog_sync`,
  images: Prisma.sql`concat_ws(':', summary->>'image_name', summary->>'image_tag')`,
  trust: templateTrust,
};

export const applications: Mirror = {
  table: Prisma.sql`catalog_applications`,
  state: Prisma.sql`
    SELECT concat_ws(' ', generation, checked_at, cursor) AS state FROM catalog_cursors WHERE kind = 'application'`,
  images: Prisma.sql`(
    SELECT string_agg(concat_ws(':', p->>'image_name', p->>'image_tag'), ' ') FROM jsonb_array_elements(document->'parts') p)`,
  trust: Prisma.sql`NULL::jsonb`,
};

/** The words of each mirror. They are read at the first search. */
const indexes = new Map(
  [templates, applications].map((mirror) => [mirror, new WeakMap<Database['client'], WordIndex>()]),
);

/**
 * The ids of the objects of a mirror that have words, with their ranks. A search reads the objects that
 * changed since the last one; those that a sync changes meanwhile are read by the next one.
 */
export async function objectsWithWords(
  { client }: Database,
  mirror: Mirror,
  query: string,
): Promise<ReadonlyMap<string, number>> {
  const { table, state, images } = mirror;
  const index = indexes.get(mirror)?.get(client) ?? createWordIndex();
  indexes.get(mirror)?.set(client, index);
  const [sync] = await client.$queryRaw<{ state: string }[]>(state);
  await index.update({
    state: sync?.state ?? '',
    versions: async () => {
      const rows = await client.$queryRaw<{ id: string; version: number }[]>`
        SELECT id, (extract(epoch FROM updated_at) * 1000)::float8 AS version FROM ${table}`;
      return rows.map(({ id, version }) => [id, version] as const);
    },
    read: (ids) => client.$queryRaw<SearchedObject[]>`
      SELECT id, summary->>'name' AS name, slug, array_to_string(tags, ' ') AS tags,
        ${images} AS image, summary->>'description' AS description,
        (extract(epoch FROM updated_at) * 1000)::float8 AS version
      FROM ${table} WHERE id = ANY (${[...ids]}::uuid[])`,
  });
  return index.find(query);
}
