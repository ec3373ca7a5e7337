import { pruneHistory } from '../../../src/catalog/history.ts';
import { applications, templates } from '../../../src/catalog/kinds.ts';
import { type CatalogTransaction, writeCatalog } from '../../../src/database/catalog-write.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { apiOfKind, type ObjectKind, tablesOf } from '../../objects.ts';
import { ORGANIZATIONS } from '../../visibility/generated.ts';
import { anInstance, type InstanceOptions, startWorld, type TestOrganization } from '../../world.ts';
import { listingOf } from '../mirror.ts';
import type { Caller } from './catalog.ts';

const TABLES = [
  'categories',
  'templates',
  'template_downloads',
  'catalog_access',
  'catalog_clock',
  'catalog_commits',
  'template_scopes',
  'category_privacy',
  'catalog_access_periods',
  'template_texts',
  'template_revisions',
  'template_advisories',
  'applications',
  'application_downloads',
  'application_scopes',
  'application_texts',
  'application_revisions',
  'application_advisories',
];

const DUMP = `SELECT json_build_object(${TABLES.map(
  (table) => `'${table}', (SELECT coalesce(json_agg(r), '[]') FROM ${table} r)`,
).join(', ')})::text AS dump`;

/**
 * Restores a dump unchanged, as from a backup: triggers are disabled, so they do not stamp or
 * record rows.
 */
const RESTORE = `
  CREATE FUNCTION restore_dump(dump json) RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $$
  BEGIN
    ${TABLES.map(
      (table) => `DELETE FROM ${table};
        INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, dump->'${table}');`,
    ).join('\n')}
  END $$`;

interface Content {
  readonly id: string;
  readonly revision: number;
  readonly content: unknown;
  readonly text: string | null;
}

const kinds = { templates, applications };

const UPDATES = '/api/v1/catalog/templates/updates';

// A request does not update the row.
const RECENTLY_USED = { last_used_at: new Date(Date.now() + 24 * 3_600_000) };

/** A hub with three organizations and an empty catalog, with the operations of a history of one kind of objects. */
export async function aHub({ kind = 'templates', ...options }: InstanceOptions & { readonly kind?: ObjectKind } = {}) {
  const world = await startWorld(options);
  const { database } = world;
  const { client } = database;
  const organizations: TestOrganization[] = [];
  for (let n = 0; n < ORGANIZATIONS; n++) organizations.push(await world.anOrganization({}, RECENTLY_USED));
  const { issuer } = world.issuer;
  await client.user.create({ data: { iss: issuer, sub: 'administrator', role: 'admin', role_set: true } });
  let administrator: string | undefined;
  await client.$executeRawUnsafe(RESTORE);

  const authorizationOf = (caller: Caller): string | undefined => {
    if (typeof caller === 'number') return `Bearer ${organizations[caller]?.key}`;
    return caller === 'administrator' ? administrator : undefined;
  };
  const apiOf = (caller: Caller) => apiOfKind(kind, world.api(authorizationOf(caller)));
  const clock = async (tables: Pick<CatalogTransaction, 'catalogClock'>) => {
    const { at, floor } = await tables.catalogClock.findFirstOrThrow();
    return { at: at.getTime(), floor: floor?.getTime() };
  };
  const dump = async () => (await client.$queryRawUnsafe<{ dump: string }[]>(DUMP))[0]?.dump ?? '';
  const restore = (given: string) => client.$executeRaw`SELECT restore_dump(${given}::json)`;
  const empty = await dump();

  return {
    organizations: organizations.map(({ id }) => id),
    reader: database.reader,
    updates: (caller: Caller, query: string) => apiOf(caller).get(`${UPDATES}?${query}`),
    api: apiOf,
    /** Another replica, which has no index yet. */
    aReplica: (given: InstanceOptions = {}) => {
      const { api: apiFor, stop } = anInstance(world.databaseUrl, world.issuer, given);
      const api = (caller: Caller) => apiOfKind(kind, apiFor(authorizationOf(caller)));
      return { api, updates: (caller: Caller, query: string) => api(caller).get(`${UPDATES}?${query}`), stop };
    },
    listing: (caller: Caller) => listingOf(apiOf(caller).get),
    /** Runs `work` in one transaction. @returns its result and its stamp */
    write: <T>(work: (tables: CatalogTransaction) => Promise<T>) =>
      writeCatalog(database, async (tables) => ({
        done: await work(tablesOf(kind, tables)),
        at: (await clock(tables)).at,
      })),
    /**
     * Simulates that the wall clock is set back by an hour: the following stamps increase in steps
     * of a millisecond.
     */
    stepClockBack: async () => {
      await client.$executeRaw`UPDATE catalog_clock SET at = greatest(at, clock_timestamp()) + interval '1 hour'`;
      return (await clock(client)).at;
    },
    /** @returns the floor */
    prune: async (before: number) => {
      await pruneHistory(database, new Date(before));
      return (await clock(client)).floor;
    },
    /** The contents of all objects of the kind: those that a replay of all revisions gives, and those that are stored. */
    contents: async () => {
      const { id, revisions: history, texts, table, noun } = kinds[kind];
      const revisions = await client.$queryRaw<(Content & { deleted: boolean })[]>`
        SELECT ${id} AS id, revision, content, text, content IS NULL AS deleted FROM ${history}
        LEFT JOIN ${texts} ON sha256 = documentation ORDER BY at, revision`;
      const replayed = new Map<string, Content>();
      for (const { deleted, ...content } of revisions) {
        if (deleted) replayed.delete(content.id);
        else replayed.set(content.id, content);
      }
      const stored = await client.$queryRaw<Content[]>`
        SELECT id, revision, ${Prisma.raw(`${noun}_content`)}(t) AS content, documentation AS text FROM ${table} t`;
      return { replayed, stored: new Map(stored.map((content) => [content.id, content])) };
    },
    dump,
    restore,
    /**
     * Restores the empty catalog, and renews the token of the administrator, which expires during a
     * long run.
     */
    clear: async () => {
      administrator = `Bearer ${await world.issuer.sign('administrator')}`;
      await restore(empty);
      await client.organization.updateMany({ data: { status: 'active' } });
    },
    setStatus: (organization: number, status: 'active' | 'suspended') =>
      client.organization.update({ where: { id: organizations[organization]?.id ?? '' }, data: { status } }),
    stop: world.stop,
  };
}

export type Hub = Awaited<ReturnType<typeof aHub>>;
