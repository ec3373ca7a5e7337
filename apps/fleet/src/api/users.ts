import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, notFound, Problem, pickDefined } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { readPage } from '../database/lists.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { endAuthorityOfUser } from '../identity/authority.ts';
import { endInvitation, endSessions, hashPassword } from '../identity/local-user.ts';
import { listedUser, userList } from '../identity/user-list.ts';
import { lockUser, presentUser, refuseLastAdmin } from '../identity/users.ts';
import { isUuid } from '../resources/kind.ts';
import { changeRoute, runAudited } from './request/change.ts';
import { route } from './request/context.ts';

const notRemoved = { removed_at: null };

export const listUsers = route(fleetEndpoints.listUsers, async ({ database, settings }, { query }) => {
  const mapping = await settings.oidc();
  const { rows, pagination } = await readPage(database.client, userList(mapping), query);
  return { users: rows.map((row) => presentUser(listedUser.parse(row), mapping)), pagination };
});

export const getUser = route(fleetEndpoints.getUser, async ({ database, settings }, { params }) => {
  const user = await findUser(database.client, params.id);
  return { user: presentUser(user, await settings.oidc()) };
});

export const createUser = route(fleetEndpoints.createUser, async (context, { body }) => {
  const { email, name = '', role, password } = body;
  const password_hash =
    password === undefined
      ? null
      : await hashPassword(context.passwords, { path: 'password', password, about: [email, name] });
  return runAudited(context, fleetEndpoints.createUser, async (transaction) => {
    const data = { id: uuidv7(), source: 'local' as const, email, name, role, password_hash };
    return { user: presentUser(await transaction.user.create({ data }), await context.settings.oidc(transaction)) };
  });
});

export const updateUser = route(fleetEndpoints.updateUser, async (context, { params, body }) => {
  const { database, passwords, settings } = context;
  const { name, role, password, blocked } = body;
  const before = await findUser(database.client, params.id);
  if (before.source === 'oidc') refuseProviderManaged(body);
  const about = [before.email ?? '', name ?? before.name];
  const password_hash =
    password === undefined ? undefined : await hashPassword(passwords, { path: 'password', password, about });
  return runAudited(context, fleetEndpoints.updateUser, async (transaction) => {
    const isNoAdmin = (role !== undefined && role !== 'admin') || blocked === true;
    if (isNoAdmin) await refuseLastAdmin(transaction, before.id);
    const { id } = before;
    const locked = await lockUser(transaction, id);
    if (!locked) throw notFound(); // removed concurrently
    const blocked_at =
      blocked === undefined || blocked === (locked.blocked_at !== null) ? undefined : blocked ? new Date() : null;
    const data = {
      ...pickDefined({ name, role, password_hash, blocked_at }, ['name', 'role', 'password_hash', 'blocked_at']),
      updated_at: new Date(),
    };
    const user = await transaction.user.update({ where: { id }, data });
    // End the sessions that the previous password opened.
    if (password_hash !== undefined || blocked) await endSessions(transaction, id);
    if (blocked) await endAuthorityOfUser(transaction, id);
    const isOtherRole = role !== undefined && role !== locked.role;
    if (password_hash !== undefined || isOtherRole || blocked) await endInvitation(transaction, id);
    return { user: presentUser(user, await settings.oidc(transaction)) };
  });
});

export const deleteUser = changeRoute(fleetEndpoints.deleteUser, async ({ transaction, recording }, { params }) => {
  const user = await findUser(transaction, params.id);
  recording.objectName = user.email ?? undefined;
  await refuseLastAdmin(transaction, user.id);
  if (!(await lockUser(transaction, user.id))) throw notFound(); // removed concurrently
  await endAuthorityOfUser(transaction, user.id);
  if (user.source === 'local') {
    // The foreign key deletes the sessions.
    await transaction.user.delete({ where: { id: user.id } });
  } else {
    await endSessions(transaction, user.id);
    await transaction.$executeRaw`
      UPDATE users SET removed_at = now(), blocked_at = NULL, updated_at = now(), email = NULL, name = '' WHERE id = ${user.id}::uuid`;
  }
  return undefined;
});

/** @throws 404 */
export async function findUser(client: Pick<Prisma.TransactionClient, 'user'>, id: string): Promise<User> {
  const user = isUuid(id) ? await client.user.findFirst({ where: { id, ...notRemoved } }) : null;
  if (!user) throw notFound();
  return user;
}

/**
 * Role, name and password of a user of the identity provider can only be changed at the provider.
 */
function refuseProviderManaged({ role, name, password }: { role?: unknown; name?: unknown; password?: unknown }): void {
  if (role !== undefined) {
    throw new Problem(
      'role_managed_by_provider',
      'The role of this user comes from the identity provider. Change it there.',
    );
  }
  const errors = Object.entries({ name, password })
    .filter(([, value]) => value !== undefined)
    .map(([path]) => ({ path, message: 'is managed by the identity provider and cannot be changed here' }));
  if (errors.length > 0) throw invalid(errors);
}
