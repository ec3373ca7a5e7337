import { deletionOf } from '@svc/testing';
import type { FakeHub } from '../fake-hub.ts';

const TABLES = [
  'catalog_templates',
  'catalog_changelogs',
  'catalog_categories',
  'catalog_skipped',
  'catalog_advice',
  'catalog_applications',
  'catalog_application_changelogs',
  'catalog_application_advice',
  'catalog_cursors',
  'catalog_sync',
];

/** Rows of the database of a fleet. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts the members of a row
export type Query = (sql: string) => Promise<any[]>;

/** The stored mirror, with helpers for tests. */
export function mirrorIn(query: Query) {
  const documents = async (table: 'catalog_templates' | 'catalog_categories' | 'catalog_applications') =>
    (await query(`SELECT document FROM ${table} ORDER BY id`)).map(({ document }) => document);
  const names = async (): Promise<string[]> => (await documents('catalog_templates')).map(({ name }) => name).sort();
  return {
    names,
    /** Resets to the state before the first sync. */
    forget: async (): Promise<void> => {
      await query(deletionOf(TABLES));
      await query('INSERT INTO catalog_sync DEFAULT VALUES');
      await query(`INSERT INTO catalog_cursors (kind) VALUES ('application')`);
    },
    templates: () => documents('catalog_templates'),
    categories: () => documents('catalog_categories'),
    applications: () => documents('catalog_applications'),
    ids: async (): Promise<string[]> => (await documents('catalog_templates')).map(({ id }) => id),
    /**
     * Each row with its version (a row that was written again has another version), and the cursor
     * of the mirror.
     */
    rows: async () => ({
      templates: await query('SELECT xmin::text, t::text FROM catalog_templates t ORDER BY id'),
      categories: await query('SELECT xmin::text, c::text FROM catalog_categories c ORDER BY id'),
      standing: await query(
        `SELECT cursor, checked_at, generation, in_full_walk, found_empty, organization::text,
                last_success_at, last_full, last_updated, last_removed, cursor_reader, full_walk_due FROM catalog_sync`,
      ),
      skipped: await query('SELECT xmin::text, s::text FROM catalog_skipped s ORDER BY id'),
    }),
    /** Asserts that the mirror is equal to what the hub shows. */
    expectLike: async (hub: FakeHub): Promise<void> => {
      expect(await names()).toEqual(
        hub
          .shown()
          .map(({ name }) => name)
          .sort(),
      ); // so that the output of a failure is short
      expect(await documents('catalog_templates')).toEqual(hub.shown());
      const shown = [...hub.now().categories].sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(await documents('catalog_categories')).toEqual(shown);
    },
  };
}
