import { pruneHistory } from '../../src/catalog/prune.ts';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { ORGANIZATIONS } from '../visibility/generated.ts';
import { startWorld, type TestOrganization } from '../world.ts';
import { listingOf } from './mirror.ts';
import type { Caller } from './model-catalog.ts';

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
];

const DUMP = `SELECT json_build_object(${TABLES.map(
  (table) => `'${table}', (SELECT coalesce(json_agg(r), '[]') FROM ${table} r)`,
).join(', ')})::text AS dump`;

/** What is put back is put back word for word, as from a backup: no trigger stamps or records it. */
const PUT_BACK = `
  CREATE FUNCTION put_back(dump json) RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $$
  BEGIN
    ${TABLES.map(
      (table) => `DELETE FROM ${table};
        INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, dump->'${table}');`,
    ).join('\n')}
  END $$`;

const USED = { last_used_at: new Date(Date.now() + 24 * 3_600_000) }; // as if just used: using the key writes nothing

/** A hub with three organizations and an empty catalog, and what a history does to it. */
export async function aHub() {
  const world = await startWorld();
  const { database } = world;
  const { client } = database;
  const organizations: TestOrganization[] = [];
  for (let n = 0; n < ORGANIZATIONS; n++) organizations.push(await world.anOrganization({}, USED));
  const { issuer } = world.issuer;
  await client.user.create({ data: { iss: issuer, sub: 'administrator', role: 'admin', role_set: true } });
  let administrator = world.nobody;
  const keys = organizations.map(world.as);
  await client.$executeRawUnsafe(PUT_BACK);

  const apiOf = (caller: Caller) => {
    if (typeof caller !== 'number') return caller === 'administrator' ? administrator : world.nobody;
    return keys[caller] ?? world.nobody;
  };
  const clock = async (tables: Pick<CatalogTransaction, 'catalogClock'>) => {
    const { at, floor } = await tables.catalogClock.findFirstOrThrow();
    return { at: at.getTime(), floor: floor?.getTime() };
  };
  const dump = async () => (await client.$queryRawUnsafe<{ dump: string }[]>(DUMP))[0]?.dump ?? '';
  const restore = (given: string) => client.$executeRaw`SELECT put_back(${given}::json)`;
  const empty = await dump();

  return {
    organizations: organizations.map(({ id }) => id),
    updates: (caller: Caller, query: string) => apiOf(caller).get(`/api/v1/catalog/templates/updates?${query}`),
    listing: (caller: Caller) => listingOf(apiOf(caller).get),
    /** One stamp for all of the work. */
    write: <T>(work: (tables: CatalogTransaction) => Promise<T>) =>
      writeCatalog(database, async (tables) => ({ done: await work(tables), at: (await clock(tables)).at })),
    /** The wall clock steps back by an hour: until it has caught up, stamps follow each other by milliseconds. */
    stepClockBack: async () => {
      await client.$executeRaw`UPDATE catalog_clock SET at = greatest(at, clock_timestamp()) + interval '1 hour'`;
      return (await clock(client)).at;
    },
    /** @returns the floor */
    prune: async (before: number) => {
      await pruneHistory(database, new Date(before));
      return (await clock(client)).floor;
    },
    dump,
    restore,
    /** As it was before the first write, with a new token for the administrator: they don't last as long as all of this. */
    clear: async () => {
      administrator = world.api(`Bearer ${await world.issuer.sign('administrator')}`);
      await restore(empty);
      await client.organization.updateMany({ data: { status: 'active' } });
    },
    setStatus: (organization: number, status: 'active' | 'suspended') =>
      client.organization.update({ where: { id: organizations[organization]?.id ?? '' }, data: { status } }),
    stop: world.stop,
  };
}

export type Hub = Awaited<ReturnType<typeof aHub>>;
