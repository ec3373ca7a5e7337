import type { TemplateUpdates } from '@svc/contract';

const TEMPLATES = '/api/v1/catalog/templates';
const NEVER = '1970-01-01T00:00:00.000Z';
const LIST_LIMIT = 100;

/** A GET request of a caller. */
export type Get = (path: string) => Promise<{
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test expects its own JSON
  readonly body: any;
}>;

type SyncedTemplate = TemplateUpdates['templates'][number];

/**
 * A client's copy of the catalog. At the end of a full walk, it removes templates that no page
 * contained.
 */
export function aMirror() {
  const held = new Map<string, SyncedTemplate>();
  const unconfirmed = new Set<string>();
  return {
    held: held as ReadonlyMap<string, SyncedTemplate>,
    apply: ({ templates, removed, reset, has_more }: TemplateUpdates): void => {
      if (reset) for (const id of held.keys()) unconfirmed.add(id);
      for (const template of templates) {
        held.set(template.id, template);
        unconfirmed.delete(template.id);
      }
      for (const { id } of removed) held.delete(id);
      if (has_more) return;
      for (const id of unconfirmed) held.delete(id);
      unconfirmed.clear();
    },
  };
}

export const sinceQuery = (since: string): string => `since=${encodeURIComponent(since)}`;

/** The response to a request for updates. @throws if the status is not 200 */
export async function updatesOf(get: Get, query: string): Promise<TemplateUpdates> {
  const { status, body } = await get(`${TEMPLATES}/updates?${query}`);
  if (status !== 200) throw new Error(`updates?${query} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** A client that syncs by `since`. Each sync is one request. */
export function clientBySince(get: Get) {
  const { held, apply } = aMirror();
  let since = NEVER;
  return {
    held,
    sync: async (): Promise<TemplateUpdates> => {
      const answer = await updatesOf(get, sinceQuery(since));
      apply(answer);
      since = answer.checked_at;
      return answer;
    },
  };
}

/** A client that syncs by `cursor`: one page, or all pages to the end of a walk. */
export function clientByCursor(get: Get, limit?: number) {
  const { held, apply } = aMirror();
  let cursor = 'start';
  /** Requests a page, by default from the last cursor. */
  const page = async (from = cursor): Promise<TemplateUpdates> => {
    const answer = await updatesOf(get, `cursor=${from}${limit === undefined ? '' : `&limit=${limit}`}`);
    if (answer.has_more && answer.cursor === from) throw new Error('the walk makes no progress');
    apply(answer);
    cursor = answer.cursor;
    return answer;
  };
  return {
    held,
    page,
    /** @returns the pages of the walk */
    sync: async (): Promise<TemplateUpdates[]> => {
      const pages = [await page()];
      while (pages.at(-1)?.has_more) pages.push(await page());
      return pages;
    },
  };
}

/** All templates that a caller sees in the list. */
export async function listingOf(get: Get): Promise<Map<string, SyncedTemplate>> {
  const listed = new Map<string, SyncedTemplate>();
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await get(`${TEMPLATES}?limit=${LIST_LIMIT}&page=${page}`);
    for (const template of body.templates) listed.set(template.id, template);
    pages = body.pagination.totalPages;
  }
  return listed;
}

/** The differences between a mirror and the list, as text. Download counts are not compared. */
export function lostIn(
  held: ReadonlyMap<string, SyncedTemplate>,
  listed: ReadonlyMap<string, SyncedTemplate>,
): string[] {
  const content = (template: SyncedTemplate | undefined) => JSON.stringify({ ...template, download_count: 0 });
  const missing = [...listed.values()].flatMap(({ id, slug }) => {
    if (!held.has(id)) return [`${slug} is missing`];
    return content(held.get(id)) === content(listed.get(id)) ? [] : [`${slug} is stale`];
  });
  const extra = [...held.values()]
    .filter(({ id }) => !listed.has(id))
    .map(({ slug }) => `${slug} is not visible any more`);
  return [...missing, ...extra];
}
