import type { FakeHub } from '../fake-hub.ts';

/** Rows of a fleet's database. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a row, and fails where it is otherwise
export type Query = (sql: string) => Promise<any[]>;

/** The mirror as it is stored, in the words of the tests. */
export function mirrorIn(query: Query) {
  const documents = async (table: 'catalog_templates' | 'catalog_categories') =>
    (await query(`SELECT document FROM ${table} ORDER BY id`)).map(({ document }) => document);
  const names = async (): Promise<string[]> => (await documents('catalog_templates')).map(({ name }) => name).sort();
  return {
    names,
    /** As before the first sync. */
    forget: async (): Promise<void> => {
      await query('TRUNCATE catalog_templates, catalog_categories');
      await query('DELETE FROM catalog_sync');
      await query('INSERT INTO catalog_sync DEFAULT VALUES');
    },
    ids: async (): Promise<string[]> => (await documents('catalog_templates')).map(({ id }) => id),
    /** Every row with its version (a row that was written again has another one), and how far the mirror is. */
    rows: async () => ({
      templates: await query('SELECT xmin::text, t::text FROM catalog_templates t ORDER BY id'),
      categories: await query('SELECT xmin::text, c::text FROM catalog_categories c ORDER BY id'),
      standing: await query(
        `SELECT cursor, checked_at, generation, in_full_walk, found_empty, organization::text,
                last_success_at, last_full, last_updated, last_removed FROM catalog_sync`,
      ),
    }),
    /** It is what the hub shows, no more and no less. */
    expectLike: async (hub: FakeHub): Promise<void> => {
      expect(await names()).toEqual(
        hub
          .shown()
          .map(({ name }) => name)
          .sort(),
      ); // is short where it fails
      expect(await documents('catalog_templates')).toEqual(hub.shown());
      const shown = [...hub.now().categories].sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(await documents('catalog_categories')).toEqual(shown);
    },
  };
}
