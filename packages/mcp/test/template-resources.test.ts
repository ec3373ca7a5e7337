import { expect, test } from '@jest/globals';
import { endpoint, pagination, paginationOf } from '@svc/contract';
import { Problem } from '@svc/http';
import { z } from 'zod';
import type { Ask } from '../src/operations.ts';
import { readSummaries } from '../src/template-resources.ts';

const list = endpoint({
  operationId: 'list',
  method: 'get',
  path: '/templates',
  access: 'any',
  tag: 'test',
  summary: 'Lists',
  reply: z.object({ templates: z.array(z.any()), pagination }),
});

/** A service with 12 templates, which refuses pages of more than `most` of them. */
function service(most: number) {
  const all = Array.from({ length: 12 }, (_, index) => ({ slug: `t${index + 1}` }));
  const queries: Record<string, unknown>[] = [];
  const ask = async (_: unknown, { query }: { query: Record<string, unknown> }) => {
    queries.push(query);
    const page = { page: Number(query.page ?? 1), limit: Number(query.limit) };
    const templates = all.slice((page.page - 1) * page.limit, page.page * page.limit);
    if (templates.length > most) throw new Problem('payload_too_large', 'too large');
    return { templates, pagination: paginationOf(page, all.length) };
  };
  // Only the function itself is used.
  return { ask: ask as unknown as Ask, queries };
}

const slugs = ({ templates }: { templates: { slug: string }[] }) => templates.map(({ slug }) => slug);

test('summaries are read without documentation, also if a caller asks for it', async () => {
  const { ask, queries } = service(12);
  const read = await readSummaries(ask, list, { limit: 5, page: 2, view: 'full' });
  expect(slugs(read)).toEqual(['t6', 't7', 't8', 't9', 't10']);
  expect(queries).toEqual([{ limit: 5, page: 2, view: 'summary' }]);
});

test('a page that is too large is read one by one, with the same templates and the same pagination', async () => {
  const small = await readSummaries(service(12).ask, list, { limit: 5, page: 3 });
  const { ask, queries } = service(1);
  expect(await readSummaries(ask, list, { limit: 5, page: 3 })).toEqual(small);
  expect(slugs(small)).toEqual(['t11', 't12']);
  expect(queries).toHaveLength(3);
});

test('a single template that is too large is refused', async () => {
  await expect(readSummaries(service(0).ask, list, { limit: 5 })).rejects.toMatchObject({ code: 'payload_too_large' });
});
