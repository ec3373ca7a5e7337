import { createWriteStream, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { cursorInput, repositoryOf, templateReply } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import type { Reader } from '@svc/database';
import { parseOptions } from '@svc/http';
import { z } from 'zod';
import { readPage } from '../catalog/changes/page.ts';
import { readState, type Snapshot } from '../catalog/changes/state.ts';
import { templates as templateKind } from '../catalog/kinds.ts';
import { categoriesWithCounts } from '../catalog/memory/category-lists.ts';
import { createDocuments } from '../catalog/memory/documents.ts';
import type { Database } from '../database/client.ts';
import type { Viewer } from '../identity/principal.ts';
import { presentOrganization, withTier } from '../organizations/present.ts';

const bundleOptions = z.strictObject({ organization: z.string().optional() });

/** The maximum number of templates and removals of a page, as fleets request it. */
const PAGE_LIMIT = 250;

const { registry_url, image_name, image_tag, image_digest } = templateReply;
const pageOfTemplates = z.object({
  templates: z.array(z.object({ registry_url, image_name, image_tag, image_digest })),
  cursor: z.string(),
  has_more: z.boolean(),
});

/**
 * Writes the catalog as an organization sees it to a file that a fleet without a connection imports, and the references of its images
 * to `<file>.images`. Without an organization, it is the catalog that everybody sees. All lines are of one moment.
 * @returns a summary. @throws if the organization does not exist
 */
export const bundleCatalog =
  (file: string, given: unknown) =>
  async (database: Database): Promise<string> => {
    const { organization: slug } = parseOptions(bundleOptions, given);
    const row =
      slug === undefined ? null : await database.client.organization.findUnique({ where: { slug }, include: withTier });
    if (slug !== undefined && row === null) throw new Error(`No organization has the slug ${slug}.`);
    const viewer: Viewer = row === null ? { kind: 'anonymous' } : { kind: 'organization', orgId: row.id };
    const organization = row && hubEndpoints.getOwnOrganization.reply.parse({ organization: presentOrganization(row) });
    const images = new Set<string>();
    let templates = 0;
    const count = (page: z.output<typeof pageOfTemplates>) => {
      templates += page.templates.length;
      for (const image of page.templates) images.add(referenceOf(image));
    };
    const partial = `${file}.partial`;
    try {
      await database.reader.inSnapshot(async (reader) => {
        const snapshot = {
          reader,
          documents: createDocuments(reader, templateKind),
          viewer,
          state: await readState(reader),
        };
        const header = { format: 'svc-catalog-bundle', version: 1, organization: organization?.organization ?? null };
        const publishers = await database.client.publisher.findMany({ orderBy: { slug: 'asc' } });
        await pipeline(
          Readable.from(linesOf(snapshot, { header, publishers, count })),
          createGzip(),
          createWriteStream(partial),
        );
      });
      renameSync(partial, file);
    } finally {
      rmSync(partial, { force: true });
    }
    writeFileSync(
      `${file}.images`,
      [...images]
        .sort()
        .map((image) => `${image}\n`)
        .join(''),
    );
    return `${file}: ${templates} templates as ${slug ?? 'everybody'} sees them. ${file}.images: ${images.size} images`;
  };

interface Content {
  readonly header: object;
  readonly publishers: readonly object[];
  readonly count: (page: z.output<typeof pageOfTemplates>) => void;
}

/** The header, and the responses to a full walk, each in one line. */
async function* linesOf(snapshot: Snapshot, { header, publishers, count }: Content): AsyncGenerator<string | Buffer> {
  yield `${JSON.stringify(header)}\n`;
  for (let cursor: Parameters<typeof readPage>[1]['cursor'] | undefined = 'start'; cursor !== undefined; ) {
    const body = await readPage(snapshot, { cursor, limit: PAGE_LIMIT });
    const page = pageOfTemplates.parse(JSON.parse(body.toString('utf8')));
    count(page);
    yield '{"page":';
    yield body;
    yield '}\n';
    cursor = page.has_more ? cursorInput.parse(page.cursor) : undefined;
  }
  yield `${JSON.stringify({ categories: await categoriesOf(snapshot) })}\n`;
  yield `${JSON.stringify(hubEndpoints.listPublishers.reply.parse({ publishers }))}\n`;
  yield '{"end":true}\n';
}

async function categoriesOf({ reader, viewer }: { readonly reader: Reader; readonly viewer: Viewer }) {
  const rows = await reader.read<{ id: string | null }>(categoriesWithCounts(viewer));
  const categories = rows.filter(({ id }) => id !== null);
  return hubEndpoints.listCategories.reply.parse({ categories }).categories;
}

/** As an engine pulls it: by digest, if the template names one. */
const referenceOf = (image: z.output<typeof pageOfTemplates>['templates'][number]): string =>
  `${repositoryOf(image)}${image.image_digest === null ? `:${image.image_tag}` : `@${image.image_digest}`}`;
