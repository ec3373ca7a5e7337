import { ask, type LoadResult, queryOn, type RequestOptions } from '@svc/testing/faults';
import { createApiKey, createOrganization } from '../../src/commands/organizations.ts';
import { openDatabase } from '../../src/database/client.ts';
import { adminOf, createCategory, type prepareHubFaults } from './world.ts';

const CATALOG = '/api/v1/catalog';
const TEMPLATE = `${CATALOG}/templates/watched`;

/** A hub with its own PostgreSQL server, one template, and the key of an organization. */
export async function startOutageWorld({ aPostgres, anIssuer, aHub }: ReturnType<typeof prepareHubFaults>) {
  const postgres = await aPostgres();
  const issuer = await anIssuer();
  const { databaseUrl } = postgres;
  const hub = await aHub({ databaseUrl, issuer: issuer.issuer });
  const authorization = await adminOf(issuer);
  const categoryId = await createCategory(hub, authorization);
  const createTemplate = async (slug: string) => {
    const body = { name: slug, slug, category_id: categoryId };
    const created = await ask(`${hub.url}/api/v1/admin/templates`, { method: 'POST', authorization, body });
    expect(created.status).toBe(201);
  };
  await createTemplate('watched');
  const database = openDatabase(databaseUrl, () => undefined);
  await createOrganization({ name: 'Acme', slug: 'acme' })(database);
  const { key } = await createApiKey({ organization: 'acme', name: 'key' })(database);
  await database.close();
  const query = queryOn(databaseUrl);
  return {
    postgres,
    hub,
    list: `${hub.url}${CATALOG}/templates`,
    key: `Bearer ${key}`,
    query,
    createTemplate,
    /** The stored downloads of a template. */
    stored: async (slug: string) => {
      const [row] = await query(
        'SELECT d.count::int FROM template_downloads d JOIN templates t ON t.id = d.template_id WHERE t.slug = $1',
        [slug],
      );
      return Number(row?.count ?? 0);
    },
    /** Changes all templates and their category with SQL, so that they contain the version. */
    change: (version: string) =>
      query(`BEGIN;
        UPDATE catalog_clock SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 ms');
        UPDATE categories SET name = '${version}'; UPDATE templates SET description = '${version}'; COMMIT`),
  };
}
export type OutageWorld = Awaited<ReturnType<typeof startOutageWorld>>;

/** A read of the catalog, for a caller who has the version before the outage. */
interface Reader {
  readonly path: string;
  readonly options?: RequestOptions;
  /**
   * Whether a response with status 200 shows a version, or at least another one than before the
   * outage.
   */
  readonly shows: (version: string, seen: LoadResult) => boolean;
}

/** Reads of all kinds that the hub usually answers from memory. */
export async function readersOf({ hub, key: authorization }: OutageWorld): Promise<readonly Reader[]> {
  const headers = { 'If-None-Match': (await fetch(`${hub.url}${TEMPLATE}`)).headers.get('etag') ?? '' };
  const { checked_at, cursor } = (await ask(`${hub.url}${CATALOG}/templates/updates?cursor=start`)).body;
  const list = {
    shows: (version: string, { body }: LoadResult) => body.templates[0]?.description === version,
  };
  const template = {
    path: TEMPLATE,
    shows: (version: string, { body }: LoadResult) => body.description === version,
  };
  return [
    { ...list, path: `${CATALOG}/templates` },
    { ...list, path: `${CATALOG}/templates?page=1&limit=10`, options: { authorization } },
    { ...list, path: `${CATALOG}/templates/updates?since=1970-01-01T00:00:00Z` },
    { ...list, path: `${CATALOG}/templates/updates?since=${checked_at}` },
    { ...list, path: `${CATALOG}/templates/updates?cursor=${cursor}` },
    { ...template, options: { authorization } },
    { ...template, options: { headers } },
    // Otherwise, the status is 304.
    { ...template, options: { headers, method: 'HEAD' }, shows: () => true },
    {
      path: `${CATALOG}/categories`,
      options: { authorization },
      shows: (version, { body }) => body.categories[0].name === version,
    },
  ];
}
