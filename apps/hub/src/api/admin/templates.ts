import {
  DEFAULT_PAGE_SIZE,
  type Input,
  offsetOf,
  type ownedTemplate,
  paginationOf,
  storedValueProblems,
  template,
  templateConflicts,
  templateFieldNames,
  withoutOldDigest,
} from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfVersion, invalid, notFound, pickDefined, requireVersion, withEtag } from '@svc/http';
import type { z } from 'zod';
import { defaultSlug, derivedColumns } from '../../catalog/derived.ts';
import { registerTags } from '../../catalog/tags.ts';
import { kinds, refuseBrokenSignatures } from '../../catalog/trust/signatures.ts';
import { containsSearched } from '../../database/search.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { requestIcons } from '../../icons/store.ts';
import { catalogChangeRoute } from '../request/change.ts';
import { type RequestContext, route } from '../request/context.ts';
import { isComplete, PART_ROWS, pageOf, readComplete, rowsAfter } from '../request/lists.ts';
import { readManagedPage, replyWithObjects } from '../request/managed-page.ts';
import { refuseStatus } from '../request/refuse-status.ts';
import { resourceId } from '../request/resource-id.ts';

const WRITABLE = [
  'name',
  'slug',
  'category_id',
  'owner_org_id',
  ...templateFieldNames,
  'status',
  'status_message',
  'replacement',
  'signatures',
] as const;

/** The relations that administrators receive with a template. */
export const withCategory = {
  category: { select: { name: true, slug: true, icon: true } },
  downloads: { select: { count: true } },
} satisfies Prisma.TemplateInclude;

type Row = Prisma.TemplateGetPayload<{ include: typeof withCategory }>;
type JsonColumn = { [C in keyof Row]: Prisma.JsonValue extends Row[C] ? C : never }[keyof Row];
type Reply = z.input<typeof ownedTemplate>;

/**
 * Columns have the names of API members. The reply schema removes columns that are not API members.
 */
export function presentTemplate({ category, downloads, ...template }: Row): Reply {
  const presented: Omit<Reply, JsonColumn | 'warnings'> = {
    ...template,
    category_name: category.name,
    category_slug: category.slug,
    category_icon: category.icon,
    download_count: Number(downloads?.count ?? 0),
  };
  // JSON columns contain only values that the contract's schemas accepted.
  const stored = presented as Omit<Reply, 'warnings'> & Parameters<typeof storedValueProblems>[0];
  return { ...stored, warnings: storedValueProblems(stored) };
}

/** A template in a list. Only a full list contains documentation and files. */
const presentListed =
  (view: 'full' | 'summary') =>
  (row: Row): Reply => {
    const presented = presentTemplate(row);
    return view === 'summary' ? { ...presented, documentation: '', signatures: [], files: [] } : presented;
  };

/** The sort order of the list. */
const ORDER = [{ sort_name: 'asc' }, { id: 'asc' }] satisfies Prisma.TemplateOrderByWithRelationInput[];

/**
 * What is read of the rows of a list before the rows themselves, because some templates have a
 * megabyte.
 */
const keyColumns = { id: true, sort_name: true, weight: true } as const;
type Key = Prisma.TemplateGetPayload<{ select: typeof keyColumns }>;

/** The maximum size of a part of a list, in bytes. A part has at least one template. */
const MAX_PART_BYTES = 4 * 1024 * 1024;

/** The first rows that fit in a part. */
function firstPart(keys: readonly Key[]): readonly Key[] {
  let bytes = 0;
  for (const [index, { weight }] of keys.entries()) {
    bytes += weight;
    if (bytes > MAX_PART_BYTES && index > 0) return keys.slice(0, index);
  }
  return keys;
}

export const listAllTemplates = route(hubEndpoints.listAllTemplates, async (context, { query }) => {
  const { client } = context.database;
  if (query.as !== undefined || query.q) return listPage(context, query);
  const where: Prisma.TemplateWhereInput = {};
  if (query.search !== undefined) where.search_text = containsSearched(query.search);
  if (query.org_id !== undefined) where.owner_org_id = query.org_id;
  if (!isComplete(query)) {
    const page = pageOf(query);
    const range = { skip: offsetOf(page), take: page.limit };
    const [keys, total] = await client.$transaction(
      [
        client.template.findMany({ where, select: keyColumns, orderBy: ORDER, ...range }),
        client.template.count({ where }),
      ],
      { isolationLevel: 'RepeatableRead' },
    );
    return replyWithTemplates(context, { keys, view: query.view, pagination: paginationOf(page, total) });
  }
  const present = presentListed(query.view);
  return readComplete({
    member: 'templates',
    schema: hubEndpoints.listAllTemplates.reply.shape.templates.element,
    readPart: async (after: Key | undefined) => {
      const found = await client.template.findMany({
        where: { AND: [where, rowsAfter(after, ORDER)] },
        select: keyColumns,
        orderBy: ORDER,
        take: PART_ROWS,
      });
      const keys = firstPart(found);
      const [rows] = await client.$transaction(
        [
          client.template.findMany({
            where: { AND: [where, { id: { in: keys.map(({ id }) => id) } }] },
            include: withCategory,
            orderBy: ORDER,
          }),
        ],
        { isolationLevel: 'RepeatableRead' },
      );
      const isLast = keys.length === found.length && found.length < PART_ROWS;
      return { items: rows.map(present), next: isLast ? undefined : keys.at(-1) };
    },
  });
});

type ListQuery = Input<typeof hubEndpoints.listAllTemplates>['query'];

/** A page of the templates that have words, or that an organization sees. @throws 400, 422 */
async function listPage(context: RequestContext, query: ListQuery) {
  const { client } = context.database;
  const { view, page = 1, limit = DEFAULT_PAGE_SIZE } = query;
  const paging = { page, limit };
  const { ids, total } = await readManagedPage(context, context.catalog, { ...query, ...paging });
  const found = await client.template.findMany({ where: { id: { in: [...ids] } }, select: keyColumns });
  const keys = new Map(found.map((key) => [key.id, key]));
  return replyWithTemplates(context, {
    keys: ids.flatMap((id) => keys.get(id) ?? []),
    view,
    pagination: paginationOf(paging, total),
  });
}

interface TemplatePage {
  /** The templates, in the order of the page. */
  readonly keys: readonly Key[];
  readonly view: 'full' | 'summary';
  readonly pagination: ReturnType<typeof paginationOf>;
}

/** The reply with a page of templates. @throws 503 */
function replyWithTemplates(context: RequestContext, { keys, view, pagination }: TemplatePage) {
  const { client } = context.database;
  return replyWithObjects(context, {
    keys,
    find: async (ids) => {
      const [rows] = await client.$transaction(
        [client.template.findMany({ where: { id: { in: ids } }, include: withCategory })],
        { isolationLevel: 'RepeatableRead' },
      );
      return rows;
    },
    present: presentListed(view),
    element: hubEndpoints.listAllTemplates.reply.shape.templates.element,
    compose: (templates) => ({ templates, pagination }),
  });
}

export const getManagedTemplate = route(
  hubEndpoints.getManagedTemplate,
  async ({ database: { client } }, { params: { id } }) => {
    const [row] = await client.$transaction([client.template.findUnique({ where: { id }, include: withCategory })], {
      isolationLevel: 'RepeatableRead',
    });
    if (!row) throw notFound();
    const template = presentTemplate(row);
    return withEtag({ template }, etagOfVersion(row.resource_version, template));
  },
);

export const createTemplate = catalogChangeRoute(
  hubEndpoints.createTemplate,
  (_context, { body }) => {
    const { name, category_id } = body;
    const slug = body.slug ?? defaultSlug(name);
    refuseStatus({ ...body, slug });
    refuseBrokenSignatures(undefined, { ...body, slug }, { given: body.signatures, kind: kinds.template });
    const data = { ...pickDefined(body, WRITABLE), name, slug, category_id, ...derivedColumns(body) };
    return async (transaction) => {
      const created = await transaction.template.create({ data, include: withCategory });
      await registerTags(transaction, created.tags);
      if (created.icon_url !== null) await requestIcons(transaction, [slug]);
      return { id: created.id, reply: { template: presentTemplate(created) } };
    };
  },
  ({ body }) => body.message,
);

const compared = template.pick({
  image_name: true,
  registry_url: true,
  env: true,
  env_schema: true,
  secret_refs: true,
  volume_mounts: true,
  tmpfs: true,
  files: true,
  cpu_request: true,
  cpu_limit: true,
  memory_request: true,
  memory_limit: true,
  security_profile: true,
  run_as: true,
});

/**
 * Rejects a change that has a conflict. A template of an earlier version can have one that the
 * change does not affect.
 * @throws 400
 */
function refuseConflicts(existing: object, changes: object): void {
  const conflicts = templateConflicts(compared.parse({ ...existing, ...changes }));
  const caused = conflicts.filter(({ members }) => members.some((member) => Object.hasOwn(changes, member)));
  if (caused.length > 0) throw invalid(caused.map(({ path, message }) => ({ path, message })));
}

export const updateTemplate = catalogChangeRoute(
  hubEndpoints.updateTemplate,
  ({ ifMatch }, { query, body }) => {
    const id = resourceId({ query, body });
    const matches = ifMatch();
    const changes = pickDefined(body, WRITABLE);
    return async (transaction) => {
      const existing = await transaction.template.findUnique({ where: { id } });
      if (!existing) throw notFound();
      requireVersion(matches, existing.resource_version);
      refuseConflicts(existing, changes);
      refuseStatus({ ...existing, ...changes });
      const described = withoutOldDigest(changes, existing);
      refuseBrokenSignatures(existing, described, { given: changes.signatures, kind: kinds.template });
      const data = { ...described, ...derivedColumns({ ...existing, ...changes }) };
      const updated = await transaction.template.update({ where: { id }, data, include: withCategory });
      await registerTags(transaction, updated.tags);
      if (changes.icon_url !== undefined) await requestIcons(transaction, [updated.slug]);
      return { id, reply: { template: presentTemplate(updated) } };
    };
  },
  ({ body }) => body.message,
);

export const deleteTemplate = catalogChangeRoute(
  hubEndpoints.deleteTemplate,
  ({ ifMatch }, input) => {
    const id = resourceId(input);
    const matches = ifMatch();
    return async ({ template }) => {
      const existing = await template.findUnique({ where: { id }, select: { resource_version: true } });
      if (!existing) throw notFound();
      requireVersion(matches, existing.resource_version);
      await template.delete({ where: { id } });
      return { id, reply: undefined };
    };
  },
  ({ body }) => body.message,
);
