import {
  applicationContent,
  applicationProblems,
  catalogMembers,
  type ownedApplication,
  paginationOf,
} from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfVersion, invalid, notFound, pickDefined, requireVersion, withEtag } from '@svc/http';
import type { z } from 'zod';
import { defaultSlug, derivedColumns } from '../../catalog/derived.ts';
import { registerTags } from '../../catalog/tags.ts';
import { kinds, refuseBrokenSignatures } from '../../catalog/trust/signatures.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { catalogChangeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';
import { readManagedPage, replyWithObjects } from '../request/managed-page.ts';
import { refuseStatus } from '../request/refuse-status.ts';
import { resourceId } from '../request/resource-id.ts';

const WRITABLE = [
  'name',
  'slug',
  'category_id',
  'owner_org_id',
  ...catalogMembers,
  'inputs',
  'generated',
  'parts',
  'status',
  'status_message',
  'replacement',
  'signatures',
] as const;

/** The relations that administrators receive with an application. */
export const withCategory = {
  category: { select: { name: true, slug: true, icon: true } },
  downloads: { select: { count: true } },
} satisfies Prisma.ApplicationInclude;

type Row = Prisma.ApplicationGetPayload<{ include: typeof withCategory }>;
type Reply = z.input<typeof ownedApplication>;

/** Columns have the names of API members. The reply schema removes columns that are not API members. */
export function presentApplication({ category, downloads, ...application }: Row): Reply {
  const presented = {
    ...application,
    category_name: category.name,
    category_slug: category.slug,
    category_icon: category.icon,
    download_count: Number(downloads?.count ?? 0),
    warnings: [],
  };
  return presented as unknown as Reply; // JSON columns contain only values that the contract's schemas accepted
}

const shortened = { documentation: '', inputs: [], generated: [], parts: [], signatures: [] };

const { application: kind } = kinds;

export const listAllApplications = route(hubEndpoints.listAllApplications, async (context, { query }) => {
  const { client } = context.database;
  const { ids, total } = await readManagedPage(context, context.catalog.applications, query);
  const select = { id: true, weight: true } as const;
  const found = await client.application.findMany({ where: { id: { in: [...ids] } }, select });
  const keys = new Map(found.map((key) => [key.id, key]));
  const pagination = paginationOf(query, total);
  return replyWithObjects(context, {
    keys: ids.flatMap((id) => keys.get(id) ?? []),
    find: async (part) => {
      const [rows] = await client.$transaction(
        [client.application.findMany({ where: { id: { in: part } }, include: withCategory })],
        { isolationLevel: 'RepeatableRead' },
      );
      return rows;
    },
    present: (row) =>
      query.view === 'summary' ? { ...presentApplication(row), ...shortened } : presentApplication(row),
    element: hubEndpoints.listAllApplications.reply.shape.applications.element,
    compose: (applications) => ({ applications, pagination }),
  });
});

export const getManagedApplication = route(
  hubEndpoints.getManagedApplication,
  async ({ database: { client } }, { params: { id } }) => {
    const [row] = await client.$transaction([client.application.findUnique({ where: { id }, include: withCategory })], {
      isolationLevel: 'RepeatableRead',
    });
    if (!row) throw notFound();
    const application = presentApplication(row);
    return withEtag({ application }, etagOfVersion(row.resource_version, application));
  },
);

export const createApplication = catalogChangeRoute(
  hubEndpoints.createApplication,
  (_context, { body }) => {
    const { name, category_id, parts } = body;
    const slug = body.slug ?? defaultSlug(name);
    refuseStatus({ ...body, slug });
    refuseBrokenSignatures(undefined, { ...body, slug }, { given: body.signatures, kind });
    const data = { ...pickDefined(body, WRITABLE), name, slug, category_id, parts, ...derivedColumns(body) };
    return async (transaction) => {
      const created = await transaction.application.create({ data, include: withCategory });
      await registerTags(transaction, created.tags);
      return { id: created.id, reply: { application: presentApplication(created) } };
    };
  },
  ({ body }) => body.message,
);

const compared = applicationContent.pick({ inputs: true, generated: true, parts: true });

export const updateApplication = catalogChangeRoute(
  hubEndpoints.updateApplication,
  ({ ifMatch }, { query, body }) => {
    const id = resourceId({ query, body });
    const matches = ifMatch();
    const changes = pickDefined(body, WRITABLE);
    return async (transaction) => {
      const existing = await transaction.application.findUnique({ where: { id } });
      if (!existing) throw notFound();
      requireVersion(matches, existing.resource_version);
      const changed = { ...existing, ...changes };
      const problems = applicationProblems(compared.parse(changed));
      if (problems.length > 0) throw invalid(problems);
      refuseStatus(changed);
      refuseBrokenSignatures(existing, changes, { given: changes.signatures, kind });
      const data = { ...changes, ...derivedColumns(changed) };
      const updated = await transaction.application.update({ where: { id }, data, include: withCategory });
      await registerTags(transaction, updated.tags);
      return { id, reply: { application: presentApplication(updated) } };
    };
  },
  ({ body }) => body.message,
);

export const deleteApplication = catalogChangeRoute(
  hubEndpoints.deleteApplication,
  ({ ifMatch }, input) => {
    const id = resourceId(input);
    const matches = ifMatch();
    return async ({ application }) => {
      const existing = await application.findUnique({ where: { id }, select: { resource_version: true } });
      if (!existing) throw notFound();
      requireVersion(matches, existing.resource_version);
      await application.delete({ where: { id } });
      return { id, reply: undefined };
    };
  },
  ({ body }) => body.message,
);
