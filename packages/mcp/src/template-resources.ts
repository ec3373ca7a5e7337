import type { ListResourcesResult, ReadResourceResult, ResourceTemplateType } from '@modelcontextprotocol/server';
import { documentationOf, type Endpoint, type template } from '@svc/contract';
import { invalid, notFound } from '@svc/http';
import type { z } from 'zod';
import type { Ask } from './operations.ts';

const PAGE = 50;
const MIME_TYPE = 'text/markdown';

type ListOfTemplates = Endpoint & {
  readonly reply: z.ZodType<{
    readonly templates: readonly z.output<typeof template>[];
    readonly pagination: { readonly totalPages: number };
  }>;
};
type OneTemplate = Endpoint & { readonly reply: z.ZodType<z.output<typeof template>> };

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
      const { templates, pagination } = await ask(list, { query: { page, limit: PAGE } });
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
