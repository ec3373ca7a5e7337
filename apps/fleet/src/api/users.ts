import { paginationOf } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { given, invalid, notFound, Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Passwords } from '../auth/passwords.ts';
import { holdUser, presentUser, refuseLastAdmin } from '../auth/users.ts';
import type { Prisma, User } from '../generated/prisma/client.ts';
import { isUuid } from '../resources/kind.ts';
import { change, recorded } from './change.ts';
import { route, rowsOf } from './context.ts';

const present = { removed_at: null };

export const listUsers = route(fleetEndpoints.listUsers, async ({ database, settings }, { query }) => {
  const [users, total] = await database.client.$transaction([
    database.client.user.findMany({
      where: present,
      orderBy: [{ created_at: 'desc' }, { id: 'asc' }],
      ...rowsOf(query),
    }),
    database.client.user.count({ where: present }),
  ]);
  const mapping = await settings.oidc();
  return { users: users.map((user) => presentUser(user, mapping)), pagination: paginationOf(query, total) };
});

export const getUser = route(fleetEndpoints.getUser, async ({ database, settings }, { params }) => {
  const user = await find(database.client, params.id);
  return { user: presentUser(user, await settings.oidc()) };
});

export const createUser = route(fleetEndpoints.createUser, async (context, { body }) => {
  const { email, name = '', role, password } = body;
  const password_hash = await hashOf(context.passwords, password, [email, name]);
  return recorded(context, fleetEndpoints.createUser, async (transaction) => {
    const data = { id: uuidv7(), source: 'local' as const, email, name, role, password_hash };
    return { user: presentUser(await transaction.user.create({ data }), await context.settings.oidc(transaction)) };
  });
});

export const updateUser = route(fleetEndpoints.updateUser, async (context, { params, body }) => {
  const { database, passwords, settings } = context;
  const { name, role, password } = body;
  const before = await find(database.client, params.id);
  if (before.source === 'oidc') refuseForProvider(body);
  const about = [before.email ?? '', name ?? before.name];
  const password_hash = password === undefined ? undefined : await hashOf(passwords, password, about);
  return recorded(context, fleetEndpoints.updateUser, async (transaction) => {
    if (role !== undefined && role !== 'admin') await refuseLastAdmin(transaction, before.id);
    const { id } = before;
    if (!(await holdUser(transaction, id))) throw notFound(); // gone meanwhile
    const data = { ...given({ name, role, password_hash }, ['name', 'role', 'password_hash']), updated_at: new Date() };
    const user = await transaction.user.update({ where: { id }, data });
    if (password_hash !== undefined) await endSessions(transaction, id); // whoever came in with the former one is out
    return { user: presentUser(user, await settings.oidc(transaction)) };
  });
});

export const deleteUser = change(fleetEndpoints.deleteUser, async ({ transaction }, { params }) => {
  const user = await find(transaction, params.id);
  await refuseLastAdmin(transaction, user.id);
  if (!(await holdUser(transaction, user.id))) throw notFound(); // gone meanwhile
  await transaction.$executeRaw`
    UPDATE tokens SET revoked_at = now() WHERE created_by_user = ${user.id}::uuid AND revoked_at IS NULL`;
  if (user.source === 'local') {
    await transaction.user.delete({ where: { id: user.id } }); // with their sessions
  } else {
    await endSessions(transaction, user.id);
    await transaction.$executeRaw`
      UPDATE users SET removed_at = now(), updated_at = now(), email = NULL, name = '' WHERE id = ${user.id}::uuid`;
  }
  return undefined;
});

async function find(client: Pick<Prisma.TransactionClient, 'user'>, id: string): Promise<User> {
  const user = isUuid(id) ? await client.user.findFirst({ where: { id, ...present } }) : null;
  if (!user) throw notFound();
  return user;
}

const endSessions = (transaction: Prisma.TransactionClient, userId: string) =>
  transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE user_id = ${userId}::uuid AND ended_at IS NULL`;

async function hashOf(passwords: Passwords, password: string, about: readonly string[]): Promise<string> {
  const reason = await passwords.refuseObvious(password, about);
  if (reason !== undefined) throw invalid([{ path: 'password', message: reason }]);
  return passwords.hash(password);
}

/** What the identity provider says of somebody is changed there. */
function refuseForProvider({ role, name, password }: { role?: unknown; name?: unknown; password?: unknown }): void {
  if (role !== undefined) {
    throw new Problem(
      'role_managed_by_provider',
      'This user’s role comes from the identity provider: change it there.',
    );
  }
  const errors = Object.entries({ name, password })
    .filter(([, value]) => value !== undefined)
    .map(([path]) => ({ path, message: 'comes from the identity provider' }));
  if (errors.length > 0) throw invalid(errors);
}
