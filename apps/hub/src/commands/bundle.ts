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
import { applications as applicationKind, type Kind, templates as templateKind } from '../catalog/kinds.ts';
import { categoriesWithCounts } from '../catalog/memory/category-lists.ts';
import { createDocuments } from '../catalog/memory/documents.ts';
import type { Database } from '../database/client.ts';
import type { Viewer } from '../identity/principal.ts';
import { presentOrganization, withTier } from '../organizations/present.ts';

const bundleOptions = z.strictObject({ organization: z.string().optional() });

/** The maximum number of templates and removals of a page, as fleets request it. */
const PAGE_LIMIT = 250;

const { registry_url, image_name, image_tag, image_digest } = templateReply;
const image = z.object({ registry_url, image_name, image_tag, image_digest });
type Image = z.output<typeof image>;
const pageOfTemplates = z.object({ templates: z.array(image), cursor: z.string(), has_more: z.boolean() });
const pageOfApplications = z.object({
  applications: z.array(z.object({ parts: z.array(image) })),
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
    const counts = { templates: 0, applications: 0 };
    const count = (kind: Kind['member'], found: readonly Image[], objects: number) => {
      counts[kind] += objects;
      for (const each of found) images.add(referenceOf(each));
    };
    const partial = `${file}.partial`;
    try {
      await database.reader.inSnapshot(async (reader) => {
        const snapshot = { reader, viewer, state: await readState(reader) };
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
    const contents = `${counts.templates} templates and ${counts.applications} applications`;
    return `${file}: ${contents} as ${slug ?? 'everybody'} sees them. ${file}.images: ${images.size} images`;
  };

interface Content {
  readonly header: object;
  readonly publishers: readonly object[];
  readonly count: (kind: Kind['member'], images: readonly Image[], objects: number) => void;
}

type Moment = Omit<Snapshot, 'documents'>;

/** The header, and the responses to a full walk, each in one line. */
async function* linesOf(moment: Moment, { header, publishers, count }: Content): AsyncGenerator<string | Buffer> {
  yield `${JSON.stringify(header)}\n`;
  yield* pagesOf(moment, { kind: templateKind, line: 'page' }, (body) => {
    const page = pageOfTemplates.parse(body);
    count('templates', page.templates, page.templates.length);
    return page;
  });
  yield `${JSON.stringify({ categories: await categoriesOf(moment) })}\n`;
  yield `${JSON.stringify(hubEndpoints.listPublishers.reply.parse({ publishers }))}\n`;
  yield* pagesOf(moment, { kind: applicationKind, line: 'application_page' }, (body) => {
    const page = pageOfApplications.parse(body);
    const parts = page.applications.flatMap((each) => each.parts);
    count('applications', parts, page.applications.length);
    return page;
  });
  yield '{"end":true}\n';
}

/** The pages of a full walk of a kind of objects. */
async function* pagesOf(
  moment: Moment,
  { kind, line }: { readonly kind: Kind; readonly line: string },
  read: (body: unknown) => { readonly cursor: string; readonly has_more: boolean },
): AsyncGenerator<string | Buffer> {
  const snapshot = { ...moment, documents: createDocuments(moment.reader, kind) };
  for (let cursor: Parameters<typeof readPage>[1]['cursor'] | undefined = 'start'; cursor !== undefined; ) {
    const body = await readPage(snapshot, { cursor, limit: PAGE_LIMIT });
    const page = read(JSON.parse(body.toString('utf8')));
    yield `{"${line}":`;
    yield body;
    yield '}\n';
    cursor = page.has_more ? cursorInput.parse(page.cursor) : undefined;
  }
}

async function categoriesOf({ reader, viewer }: { readonly reader: Reader; readonly viewer: Viewer }) {
  const rows = await reader.read<{ id: string | null }>(categoriesWithCounts(viewer));
  const categories = rows.filter(({ id }) => id !== null);
  return hubEndpoints.listCategories.reply.parse({ categories }).categories;
}

/** As an engine pulls it: by digest, if the template names one. */
const referenceOf = (named: Image): string =>
  `${repositoryOf(named)}${named.image_digest === null ? `:${named.image_tag}` : `@${named.image_digest}`}`;
