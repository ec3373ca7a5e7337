import { completePagination } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { invalid, isStreamed, notFound, requireVersion } from '@svc/http';
import { callerOf } from '../account/caller.ts';
import { route } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { presentUser, withOrganization } from '../organization.ts';
import { isComplete, paginationFor, rowsOf } from '../paging.ts';
import { resourceId } from '../resource-id.ts';
import { changeRoute } from './change.ts';
import { PART_ROWS, partOf, readComplete, rowsAfter } from './complete-list.ts';
import { checkRoleChange, lockRoles } from './roles.ts';
import { containsText } from './search.ts';

/** The sort order of the list. */
const ORDER = { created_at: 'desc', id: 'asc' } as const;
const inOrder = [{ created_at: ORDER.created_at }, { id: ORDER.id }];
type UserRow = Prisma.UserGetPayload<{ include: typeof withOrganization }>;

export const listUsers = route(hubEndpoints.listUsers, async ({ database: { client } }, { query }) => {
  const { search, role, org_id } = query;
  const where = {
    ...(search === undefined ? {} : { OR: [{ name: containsText(search) }, { email: containsText(search) }] }),
    ...(role === undefined ? {} : { role }),
    ...(org_id === undefined ? {} : { org_id }),
  };
  if (isComplete(query)) {
    const list = await readComplete({
      member: 'users',
      schema: hubEndpoints.listUsers.reply.shape.users.element,
      read: async (after: UserRow | undefined) => {
        const [rows] = await client.$transaction(
          [
            client.user.findMany({
              where: { AND: [where, rowsAfter(after, ORDER)] },
              include: withOrganization,
              orderBy: inOrder,
              take: PART_ROWS,
            }),
          ],
          { isolationLevel: 'RepeatableRead' },
        );
        return partOf(rows, presentUser);
      },
    });
    return isStreamed(list) ? list : { users: [...list], pagination: completePagination(list.length) };
  }
  const [users, total] = await client.$transaction(
    [
      client.user.findMany({
        where,
        include: withOrganization,
        orderBy: inOrder,
        ...rowsOf(query),
      }),
      client.user.count({ where }),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  return { users: users.map(presentUser), pagination: paginationFor(query, total) };
});

export const updateUser = changeRoute(hubEndpoints.updateUser, ({ principal, ifMatch }, { query, body }) => {
  const id = resourceId({ query, body });
  const matches = ifMatch();
  const { role, org_id, org_role } = body;
  return async (transaction) => {
    const roles = await lockRoles(transaction, { caller: callerOf(principal).id, target: id });
    const target = await transaction.user.findUnique({ where: { id } });
    if (!target) throw notFound();
    requireVersion(matches, target.version);
    if (role !== undefined && role !== target.role) checkRoleChange(roles, role);
    const data = {
      ...(role === undefined ? {} : { role, role_set: true }),
      ...membershipOf({ org_id, org_role }, target),
    };
    const updated = await transaction.user.update({ where: { id }, data, include: withOrganization });
    return { id, reply: { user: presentUser(updated) } };
  };
});

type Membership = Pick<Prisma.UserUncheckedUpdateInput, 'org_id' | 'org_role'>;
type RequestedMembership = {
  readonly org_id?: string | null | undefined;
  readonly org_role?: 'org_admin' | 'member' | undefined;
};

/** The columns to update when a user joins or leaves an organization, or gets another role in it. @throws 400 */
function membershipOf(
  { org_id, org_role }: RequestedMembership,
  current: { readonly org_id: string | null },
): Membership {
  if (org_id === null) {
    if (org_role !== undefined) throw invalid([{ path: 'org_role', message: 'must not be given if org_id is null' }]);
    return { org_id: null, org_role: null };
  }
  if (org_id !== undefined && org_id !== current.org_id) return { org_id, org_role: org_role ?? 'member' };
  if (org_role === undefined) return {};
  if (current.org_id === null)
    throw invalid([{ path: 'org_id', message: 'is required, because the user does not belong to an organization' }]);
  return { org_role };
}
