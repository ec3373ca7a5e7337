import { pruneHistory } from '../../src/catalog/history.ts';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import type { World } from '../world.ts';

export const DAY_MS = 86_400_000;

/** The time `ms` milliseconds later. */
export const after = (moment: Date, ms = 1): Date => new Date(moment.getTime() + ms);

interface Row {
  readonly id: string;
}

/** Functions to write and prune the catalog of a test hub. Writes return their stamp. */
export function historyOf({ database }: World) {
  const { client } = database;
  const clock = () => client.catalogClock.findFirstOrThrow();
  const write = async (work: (catalog: CatalogTransaction) => Promise<unknown>): Promise<Date> => {
    await writeCatalog(database, work);
    return (await clock()).at;
  };
  return {
    write,
    remove: ({ id }: Row) => write(({ template }) => template.delete({ where: { id } })),
    edit: ({ id }: Row) =>
      write(({ template }) => template.update({ where: { id }, data: { description: `${Math.random()}` } })),
    prune: (before: Date) => pruneHistory(database, before),
    now: async () => (await clock()).at,
    floor: async () => (await clock()).floor,
    /** The ends of the ended intervals of the history, and the number of open intervals. */
    ends: async () => {
      const rows = [
        ...(await client.templateScope.findMany()),
        ...(await client.categoryPrivacy.findMany()),
        ...(await client.catalogAccessPeriod.findMany()),
      ];
      const ended = rows.flatMap(({ valid_to }) => valid_to ?? []);
      return { ended: ended.sort((a, b) => a.getTime() - b.getTime()), open: rows.length - ended.length };
    },
    commits: async () => (await client.catalogCommit.findMany({ orderBy: { at: 'asc' } })).map(({ at }) => at),
  };
}
