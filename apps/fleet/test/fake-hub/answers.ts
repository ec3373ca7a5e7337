import { randomUUID } from 'node:crypto';
import { hubCatalogEndpoints, hubEndpoints } from '@svc/contract/hub';
import type { Catalog } from './catalog.ts';
import { readApplicationPage, readPage } from './pages.ts';

const { getOwnOrganization, listApplicationUpdates, listTemplateUpdates, listCategories } = hubCatalogEndpoints;

const paths = {
  organization: getOwnOrganization.path,
  updates: listTemplateUpdates.path,
  categories: listCategories.path,
} as const;

/** The calls of each sync of a fleet to a hub. */
export type Call = keyof typeof paths;
export const calls = Object.keys(paths) as Call[];

/** Also those of a fleet that trusts publishers, and those after changes of the catalog. */
const allPaths = {
  ...paths,
  publishers: hubEndpoints.listPublishers.path,
  applications: listApplicationUpdates.path,
} as const;
export type AnyCall = keyof typeof allPaths;
const allCalls = Object.keys(allPaths) as AnyCall[];

export const callOf = (method: string | undefined, path: string): AnyCall | undefined =>
  method === 'GET' ? allCalls.find((call) => allPaths[call] === path) : undefined;

const anOrganization = () => ({
  id: randomUUID() as string,
  name: 'Acme',
  slug: 'acme',
  tier: 'free',
  status: 'active' as const,
});

/** The path of the changelog of a template or an application, which an earlier hub does not have. */
const CHANGELOG = /^\/api\/v1\/catalog\/(?:templates|applications)\/([^/]+)\/changelog$/;
export const slugOfChangelog = (path: string): string | undefined => CHANGELOG.exec(path)?.[1];

/** The successful responses for the key of one organization. */
export function createAnswers(now: () => Catalog) {
  let organization = anOrganization();
  let pageSize = Number.POSITIVE_INFINITY;
  let publishers: readonly object[] = [];
  const page =
    <T>(read: (catalog: Catalog, request: Parameters<typeof readPage>[1]) => T) =>
    (query: URLSearchParams) => {
      const { success, data } = listTemplateUpdates.query.safeParse(Object.fromEntries(query));
      if (!success || !data.cursor) return undefined;
      const limit = Math.min(data.limit ?? 500, pageSize);
      return read(now(), { caller: organization.id, cursor: data.cursor, limit });
    };
  const answers: Record<AnyCall, (query: URLSearchParams) => object | undefined> = {
    organization: () => ({ organization }),
    updates: page(readPage),
    applications: page(readApplicationPage),
    categories: () => ({ categories: now().categories }),
    publishers: () => ({ publishers }),
  };
  return {
    /** @returns undefined for a query that the hub rejects */
    answerTo: (call: AnyCall, query: URLSearchParams) => answers[call](query),
    organization: () => organization,
    /**
     * Changes the organization as an administrator would. With another ID, the key belongs to that
     * organization from then on.
     */
    changeOrganization: (change: Partial<typeof organization>) => {
      organization = { ...organization, ...change };
    },
    setPublishers: (...given: readonly object[]) => {
      publishers = given;
    },
    /** The maximum length of pages. */
    setPageSize: (size: number) => {
      pageSize = size;
    },
    forget: () => {
      organization = anOrganization();
      publishers = [];
      pageSize = Number.POSITIVE_INFINITY;
    },
  };
}
