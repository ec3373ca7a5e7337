import type { ListResourcesResult, ReadResourceResult, ResourceTemplateType } from '@modelcontextprotocol/server';
import {
  DEFAULT_PAGE_SIZE,
  documentationOf,
  type Endpoint,
  type pagination,
  paginationOf,
  type template,
} from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/http';
import type { z } from 'zod';
import type { Ask } from './operations.ts';

const PAGE = 50;
const MIME_TYPE = 'text/markdown';

type ListOfTemplates = Endpoint & {
  readonly reply: z.ZodType<{
    readonly templates: readonly z.output<typeof template>[];
    readonly pagination: z.output<typeof pagination>;
  }>;
};
type Templates<List extends ListOfTemplates> = z.output<List['reply']>;
type OneTemplate = Endpoint & { readonly reply: z.ZodType<z.output<typeof template>> };

/**
 * A page of templates without their documentation. If the page is too large to be read at once, its
 * templates are read one by one.
 */
export async function readSummaries<List extends ListOfTemplates>(
  ask: Ask,
  list: List,
  given: Readonly<Record<string, unknown>>,
): Promise<Templates<List>> {
  const query = { ...given, view: 'summary' };
  try {
    return await ask(list, { query });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'payload_too_large') throw error;
    return readOneByOne(ask, list, query);
  }
}

async function readOneByOne<List extends ListOfTemplates>(
  ask: Ask,
  list: List,
  query: Readonly<Record<string, unknown>>,
): Promise<Templates<List>> {
  const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? DEFAULT_PAGE_SIZE)];
  const start = (page - 1) * limit;
  const { templates, ...first } = await ask(list, { query: { ...query, page: start + 1, limit: 1 } });
  const { total } = first.pagination;
  const found = [...templates];
  for (let at = start + 2; at <= Math.min(start + limit, total); at++) {
    const next = await ask(list, { query: { ...query, page: at, limit: 1 } });
    found.push(...next.templates);
  }
  const all = { ...first, templates: found, pagination: paginationOf({ page, limit }, total) };
  return all as Templates<List>; // a reply of the list, with the templates of further replies
}

/** The documentation of the templates of a service as resources. */
export function createTemplateResources(scheme: string, list: ListOfTemplates, get: OneTemplate) {
  const declaration: ResourceTemplateType = {
    uriTemplate: `${scheme}://templates/{slug}`,
    name: 'template',
    title: 'Documentation of a template',
    mimeType: MIME_TYPE,
  };
  return {
    declaration,
    list: async (ask: Ask, cursor: string | undefined): Promise<ListResourcesResult> => {
      const page = pageOf(cursor);
      const { templates, pagination } = await readSummaries(ask, list, { page, limit: PAGE });
      return {
        resources: templates.map(({ slug, name, description }) => ({
          uri: `${scheme}://templates/${slug}`,
          name: slug,
          title: name,
          description,
          mimeType: MIME_TYPE,
        })),
        ...(page < pagination.totalPages ? { nextCursor: cursorOf(page + 1) } : {}),
      };
    },
    read: async (ask: Ask, uri: string, slug: string): Promise<ReadResourceResult> => {
      const found = await ask(get, { params: { slug } });
      return { contents: [{ uri, mimeType: MIME_TYPE, text: documentationOf(found) }] };
    },
  };
}

const cursorOf = (page: number) => Buffer.from(`page ${page}`).toString('base64url');

function pageOf(cursor: string | undefined): number {
  if (cursor === undefined) return 1;
  const [, page] = /^page (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (page === undefined || Number(page) < 1) {
    throw invalid([{ path: 'cursor', message: 'must be the nextCursor of the last response' }]);
  }
  return Number(page);
}

/** Decodes a part of the URI of a resource. @throws 404 if its encoding is invalid */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw notFound();
  }
}
