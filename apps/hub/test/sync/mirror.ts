import type { TemplateUpdates } from '@svc/contract';

const TEMPLATES = '/api/v1/catalog/templates';
const NEVER = '1970-01-01T00:00:00.000Z';
const LISTED_AT_ONCE = 100;

/** One GET of a caller. */
export type Get = (path: string) => Promise<{
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON, which each test reads by its own expectation
  readonly body: any;
}>;

type Sent = TemplateUpdates['templates'][number];

/** A client's copy of what it may see, kept up to date as the protocol asks: rows that no answer confirms go last. */
export function aMirror() {
  const held = new Map<string, Sent>();
  const unconfirmed = new Set<string>();
  return {
    held: held as ReadonlyMap<string, Sent>,
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

/** One answer of the catalog's updates. @throws unless it is a 200 */
export async function updatesOf(get: Get, query: string): Promise<TemplateUpdates> {
  const { status, body } = await get(`${TEMPLATES}/updates?${query}`);
  if (status !== 200) throw new Error(`updates?${query} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** A client that syncs by `since`: each call asks once, and everything is there. */
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

/** A client that syncs by `cursor`: page by page, or to the last page of a walk. */
export function clientByCursor(get: Get, limit?: number) {
  const { held, apply } = aMirror();
  let cursor = 'start';
  /** One page, from where the last one ended unless told otherwise. */
  const page = async (from = cursor): Promise<TemplateUpdates> => {
    const answer = await updatesOf(get, `cursor=${from}${limit === undefined ? '' : `&limit=${limit}`}`);
    if (answer.has_more && answer.cursor === from) throw new Error('the walk does not get on');
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

/** Everything that a caller finds in the list. */
export async function listingOf(get: Get): Promise<Map<string, Sent>> {
  const listed = new Map<string, Sent>();
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await get(`${TEMPLATES}?limit=${LISTED_AT_ONCE}&page=${page}`);
    for (const template of body.templates) listed.set(template.id, template);
    pages = body.pagination.totalPages;
  }
  return listed;
}

/** Where a mirror is not what the list is, in words: an empty list, or something was lost. Downloads may lag behind. */
export function lostIn(held: ReadonlyMap<string, Sent>, listed: ReadonlyMap<string, Sent>): string[] {
  const content = (template: Sent | undefined) => JSON.stringify({ ...template, download_count: 0 });
  const missing = [...listed.values()].flatMap(({ id, slug }) => {
    if (!held.has(id)) return [`${slug} is not there`];
    return content(held.get(id)) === content(listed.get(id)) ? [] : [`${slug} is stale`];
  });
  const ghosts = [...held.values()].filter(({ id }) => !listed.has(id)).map(({ slug }) => `${slug} is gone`);
  return [...missing, ...ghosts];
}
