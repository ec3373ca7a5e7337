import { hubEndpoints } from '@svc/contract/hub';
import { notFound, Problem, pickDefined } from '@svc/http';
import { writeCatalog } from '../../database/catalog-write.ts';
import type { AccessRequest, Prisma } from '../../generated/prisma/client.ts';
import { reportAccess } from '../../webhooks/events.ts';
import { recorded } from '../request/change.ts';
import { route } from '../request/context.ts';
import { readPage } from '../request/lists.ts';

type Client = Pick<Prisma.TransactionClient, '$queryRaw'>;

interface Requested {
  readonly request_id: string;
  readonly org_slug: string;
  readonly has_grant: boolean;
  /** null: what is requested does not exist */
  readonly id: string | null;
  readonly slug: string;
  readonly name: string;
  readonly is_private: boolean;
  readonly version: number;
}

/** Adds what each request would grant: the category, or that of the template. */
async function present(client: Client, requests: readonly AccessRequest[]) {
  const rows = await client.$queryRaw<Requested[]>`
    SELECT r.id AS request_id, o.slug AS org_slug, c.id, c.slug, c.name, c.is_private, c.version,
      EXISTS (SELECT FROM catalog_access g WHERE g.org_id = r.org_id AND g.category_id = c.id) AS has_grant
    FROM access_requests r
    JOIN organizations o ON o.id = r.org_id
    LEFT JOIN templates t ON t.slug = r.template_slug
    LEFT JOIN categories c ON c.slug = r.category_slug OR c.id = t.category_id
    WHERE r.id = ANY (${requests.map(({ id }) => id)}::uuid[])`;
  const byId = new Map(rows.map((row) => [row.request_id, row]));
  return requests.map((request) => {
    const requested = byId.get(request.id);
    if (!requested) return { ...request, org_slug: '', has_grant: false, category: null };
    const { org_slug, has_grant } = requested;
    return { ...request, org_slug, has_grant, category: categoryOf(requested) };
  });
}

const categoryOf = ({ id, slug, name, is_private, version }: Requested) =>
  id === null ? null : { id, slug, name, is_private, version };

export const listAllAccessRequests = route(
  hubEndpoints.listAllAccessRequests,
  async ({ database: { client } }, { query }) => {
    const where = pickDefined(query, ['status']);
    const list = await readPage(client, query, {
      member: 'requests',
      rows: ({ skip, take }) =>
        client.accessRequest.findMany({ where, orderBy: [{ created_at: 'desc' }, { id: 'desc' }], skip, take }),
      total: () => client.accessRequest.count({ where }),
      present: (row) => row,
    });
    return { ...list, requests: await present(client, list.requests) };
  },
);

export const decideAccessRequest = route(
  hubEndpoints.decideAccessRequest,
  async (context, { params: { id }, body: { status, answer, category } }) => {
    const decide = async (transaction: Prisma.TransactionClient) => {
      const [locked] = await transaction.$queryRaw<{ status: string }[]>`
        SELECT status::text AS status FROM access_requests WHERE id = ${id}::uuid FOR UPDATE`;
      if (!locked) throw notFound();
      if (locked.status !== 'open') throw alreadyDecided(locked.status);
      const data = { status, answer, decided_at: new Date() };
      const [request] = await present(transaction, [await transaction.accessRequest.update({ where: { id }, data })]);
      if (!request) throw notFound();
      if (status === 'granted') await grant(transaction, request, category);
      await reportAccess(transaction, context.publicUrl, request);
      const reply = { request: { ...request, has_grant: request.has_grant || status === 'granted' } };
      return recorded({ ...context, transaction }, hubEndpoints.decideAccessRequest, { id, reply });
    };
    const { database } = context;
    return status === 'granted' ? writeCatalog(database, decide) : database.client.$transaction(decide);
  },
);

interface CategoryVersion {
  readonly id: string;
  readonly version: number;
}

async function grant(
  transaction: Prisma.TransactionClient,
  { org_id, category }: { readonly org_id: string; readonly category: CategoryVersion | null },
  shown: CategoryVersion | undefined,
): Promise<void> {
  if (!category) {
    throw new Problem('unknown_category', 'What is requested does not exist, so nothing can be granted. Decline it.');
  }
  // The slugs of a request can name another category than the administrator saw.
  if (shown?.id !== category.id || shown.version !== category.version) {
    throw new Problem(
      'outdated_decision',
      `A grant must name the category and its version that were shown: now ${category.id} with version ${category.version}. Read the request again.`,
    );
  }
  await transaction.catalogAccess.createMany({ data: { org_id, category_id: category.id }, skipDuplicates: true });
}

const alreadyDecided = (status: string) =>
  new Problem('already_decided', `The request was ${status} before. A decision cannot be changed.`);
