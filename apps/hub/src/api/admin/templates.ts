import {
  DEFAULT_PAGE_SIZE,
  type Input,
  type ownedTemplate,
  paginationOf,
  storedValueProblems,
  template,
  templateConflicts,
  templateFieldNames,
  withoutOldDigest,
} from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfVersion, invalid, notFound, Problem, pickDefined, requireVersion, withEtag } from '@svc/http';
import type { z } from 'zod';
import { defaultSlug, derivedColumns } from '../../catalog/derived.ts';
import { idsOfPage } from '../../catalog/filters.ts';
import { registerTags } from '../../catalog/tags.ts';
import type { Database } from '../../database/client.ts';
import { containsFolded } from '../../database/search.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { catalogChangeRoute } from '../change.ts';
import { route } from '../context.ts';
import { PART_ROWS, readList, rowsAfter } from '../lists.ts';
import { resourceId } from '../resource-id.ts';

const WRITABLE = ['name', 'slug', 'category_id', 'owner_org_id', ...templateFieldNames] as const;

/** The relations that administrators receive with a template. */
const withCategory = {
  category: { select: { name: true, slug: true, icon: true } },
  downloads: { select: { count: true } },
} satisfies Prisma.TemplateInclude;

type Row = Prisma.TemplateGetPayload<{ include: typeof withCategory }>;
type JsonColumn = { [C in keyof Row]: Prisma.JsonValue extends Row[C] ? C : never }[keyof Row];
type Reply = z.input<typeof ownedTemplate>;

/**
 * Columns have the names of API members. The reply schema removes columns that are not API members.
 */
function presentTemplate({ category, downloads, ...template }: Row): Reply {
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

/** A template in a list. Only a full list contains documentation. */
const presentListed =
  (view: 'full' | 'summary') =>
  (row: Row): Reply => {
    const presented = presentTemplate(row);
    return view === 'summary' ? { ...presented, documentation: '' } : presented;
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

export const listAllTemplates = route(hubEndpoints.listAllTemplates, async ({ database: { client } }, { query }) => {
  const where: Prisma.TemplateWhereInput = {};
  if (query.search !== undefined) where.search_text = containsFolded(query.search);
  if (query.org_id !== undefined) where.owner_org_id = query.org_id;
  const present = presentListed(query.view);
  if (query.as !== undefined) return listAs(client, { ...query, as: query.as }, present);
  return readList(client, query, {
    member: 'templates',
    schema: hubEndpoints.listAllTemplates.reply.shape.templates.element,
    rows: ({ skip, take }) => client.template.findMany({ where, include: withCategory, orderBy: ORDER, skip, take }),
    total: () => client.template.count({ where }),
    present,
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

/**
 * A page of the templates that an organization sees, by the rule that its API keys are subject to.
 * @throws 400, 422
 */
async function listAs(
  client: Database['client'],
  { as: orgId, org_id, search, page = 1, limit = DEFAULT_PAGE_SIZE }: ListQuery & { readonly as: string },
  present: (row: Row) => Reply,
) {
  if (org_id !== undefined) throw invalid([{ path: 'as', message: 'must not be combined with org_id' }]);
  const organization = await client.organization.findUnique({ where: { id: orgId }, select: { id: true } });
  if (!organization) throw new Problem('unknown_organization', 'No organization has the id in as.');
  const paging = { page, limit };
  const ids = await client.$queryRaw<{ total: number; id: string | null }[]>(
    idsOfPage({ kind: 'organization', orgId }, { search, ...paging }),
  );
  const shown = ids.flatMap(({ id }) => (id === null ? [] : [id]));
  const rows = await client.template.findMany({
    where: { id: { in: shown } },
    include: withCategory,
    orderBy: ORDER,
  });
  return { templates: rows.map(present), pagination: paginationOf(paging, ids[0]?.total ?? 0) };
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

export const createTemplate = catalogChangeRoute(hubEndpoints.createTemplate, (_context, { body }) => {
  const { name, category_id } = body;
  const slug = body.slug ?? defaultSlug(name);
  const data = { ...pickDefined(body, WRITABLE), name, slug, category_id, ...derivedColumns(body) };
  return async (transaction) => {
    const created = await transaction.template.create({ data, include: withCategory });
    await registerTags(transaction, created.tags);
    return { id: created.id, reply: { template: presentTemplate(created) } };
  };
});

const compared = template.pick({
  image_name: true,
  registry_url: true,
  env: true,
  env_schema: true,
  secret_refs: true,
  volume_mounts: true,
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

export const updateTemplate = catalogChangeRoute(hubEndpoints.updateTemplate, ({ ifMatch }, { query, body }) => {
  const id = resourceId({ query, body });
  const matches = ifMatch();
  const changes = pickDefined(body, WRITABLE);
  return async (transaction) => {
    const existing = await transaction.template.findUnique({ where: { id } });
    if (!existing) throw notFound();
    requireVersion(matches, existing.resource_version);
    refuseConflicts(existing, changes);
    const data = { ...withoutOldDigest(changes, existing), ...derivedColumns({ ...existing, ...changes }) };
    const updated = await transaction.template.update({ where: { id }, data, include: withCategory });
    await registerTags(transaction, updated.tags);
    return { id, reply: { template: presentTemplate(updated) } };
  };
});

export const deleteTemplate = catalogChangeRoute(hubEndpoints.deleteTemplate, ({ ifMatch }, input) => {
  const id = resourceId(input);
  const matches = ifMatch();
  return async ({ template }) => {
    const existing = await template.findUnique({ where: { id }, select: { resource_version: true } });
    if (!existing) throw notFound();
    requireVersion(matches, existing.resource_version);
    await template.delete({ where: { id } });
    return { id, reply: undefined };
  };
});
