import type { Reader } from '@svc/database';
import { createWordIndex, type SearchedObject } from '@svc/database';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Kind } from '../kinds.ts';
import { type IndexedView, OUTDATED } from './catalog-index.ts';
import type { Entries, Entry } from './entries.ts';
import { compareTemplates } from './order.ts';

/** Finds templates by words of their contents, whoever sees them. */
export interface WordSearch {
  /** The templates with all words, the best match first; OUTDATED if the catalog changed meanwhile. */
  of(indexed: IndexedView, words: string): Promise<readonly Entry[] | typeof OUTDATED>;
}

/** The words are read at the first search. Later searches read those of the templates that changed. */
export function createWordSearch(reader: Reader, kind: Kind): WordSearch {
  let words = createWordIndex();
  let of: Entries | undefined;
  const read = (ids: readonly string[]) => reader.read<SearchedObject>(searchedTexts(kind, ids));
  return {
    async of({ entries, state, isCurrent }, query) {
      // Other entries: the database was restored from a backup.
      if (of !== entries) words = createWordIndex();
      of = entries;
      const index = words;
      const versions = () => entries.ordered.map(({ id, updatedAt }) => [id, updatedAt] as const);
      const isUpdated = await index.update({ state: state.commit.commit, versions, read });
      if (!isUpdated || !isCurrent()) return OUTDATED;
      const ranks = await index.find(query);
      if (!isCurrent()) return OUTDATED;
      const found = [...ranks].flatMap(([id, rank]) => {
        const entry = entries.byId(id);
        return entry ? [{ entry, rank }] : [];
      });
      found.sort((one, other) => other.rank - one.rank || compareTemplates(one.entry, other.entry));
      return found.map(({ entry }) => entry);
    },
  };
}

const searchedTexts = ({ table, imageOf }: Kind, ids: readonly string[]): Prisma.Sql => Prisma.sql`
  SELECT t.id, t.name, t.slug, array_to_string(t.tags, ' ') AS tags, ${imageOf} AS image, t.description,
    (extract(epoch FROM t.updated_at) * 1000)::float8 AS version
  FROM ${table} t WHERE t.id = ANY (${[...ids]}::uuid[])`;
