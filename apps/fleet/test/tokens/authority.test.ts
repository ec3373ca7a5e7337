// What a caller created ends with the caller: attacks with former rights.
import { hashCredential } from '@svc/auth';
import { PROVIDER, startWorld } from '../world.ts';

const world = await startWorld({ oidc: { issuer: PROVIDER } });
const another = world.aReplica();
afterAll(() => world.stop());

const { asAdmin, nobody } = world;
const sql = world.database.client;
const TOKENS = '/api/v1/tokens';
const USERS = '/api/v1/users';

const ME = '/api/v1/auth/me';
const ACCEPT = '/api/v1/auth/invitation';
const PASSWORD = 'seventeen quiet tractors';
await world.aUser('admin'); // so that each other admin can be removed

type Api = typeof asAdmin;
interface Issued {
  readonly id: string;
  readonly secret: string;
}

async function create(by: Api, given: object = {}): Promise<Issued> {
  const { status, body } = await by.post(TOKENS, { name: 'a token', role: 'admin', ...given });
  expect(status).toBe(201);
  return body.token;
}
const as = ({ secret }: Issued) => world.api(`Bearer ${secret}`);
/** The answers of both replicas to a request with a token. */
const roles = async ({ secret }: Issued) =>
  Promise.all(
    [world, another].map(async ({ api }) => {
      const { status, body } = await api(`Bearer ${secret}`).get(ME);
      return status === 200 ? body.user.role : status;
    }),
  );
async function anInvitation(by: Api): Promise<string> {
  const email = `${Math.random().toString(36).slice(2)}@example.test`;
  const { body } = await asAdmin.post(USERS, { email, role: 'admin' });
  const { status, body: invited } = await by.post(`${USERS}/${body.user.id}/invitation`);
  expect(status).toBe(201);
  return invited.invitation.code;
}
const accept = async (code: string) => (await nobody.post(ACCEPT, { code, password: PASSWORD })).status;

/** A local admin with a token, a token that this token created, and an invitation by each of the three. */
async function anAdminWithCredentials() {
  const user = await world.aUser('admin');
  const asUser = await user.api();
  const token = await create(asUser);
  const child = await create(as(token));
  const codes = [await anInvitation(asUser), await anInvitation(as(token)), await anInvitation(as(child))];
  return { user, asUser, token, child, codes };
}

test.each([
  ['removed', (id: string) => asAdmin.delete(`${USERS}/${id}`)],
  ['blocked', (id: string) => asAdmin.put(`${USERS}/${id}`, { blocked: true })],
])('nothing that an admin created works after the admin was %s', async (_, end) => {
  const { user, asUser, token, child, codes } = await anAdminWithCredentials();
  expect((await end(user.id)).status).toBeLessThan(300);
  expect((await asUser.get(ME)).status).toBe(401);
  expect(await roles(token)).toEqual([401, 401]);
  expect(await roles(child)).toEqual([401, 401]);
  for (const code of codes) expect(await accept(code)).toBe(401);
  const stored = await sql.token.findMany({ where: { id: { in: [token.id, child.id] } } });
  expect(stored.map(({ revoked_at }) => revoked_at)).toEqual([expect.any(Date), expect.any(Date)]);
});

test('tokens of a demoted admin have the present role of the admin, and invitations are not valid', async () => {
  const { user, token, child, codes } = await anAdminWithCredentials();
  const operator = await create(await user.api(), { role: 'operator' });
  await asAdmin.put(`${USERS}/${user.id}`, { role: 'viewer' });
  expect(await roles(token)).toEqual(['viewer', 'viewer']);
  expect(await roles(child)).toEqual(['viewer', 'viewer']);
  expect(await roles(operator)).toEqual(['viewer', 'viewer']);
  expect((await as(token).post(TOKENS, { name: 'x', role: 'viewer' })).status).toBe(403);
  for (const code of codes) expect(await accept(code)).toBe(401);
  await asAdmin.put(`${USERS}/${user.id}`, { role: 'admin' });
  expect(await roles(token)).toEqual(['admin', 'admin']);
  expect(await roles(operator)).toEqual(['operator', 'operator']);
});

test('tokens of a user of the identity provider have the role of the present claims and mapping', async () => {
  const user = await world.anOidcUser({ role: 'admin' });
  const token = await create(await user.api());
  expect(await roles(token)).toEqual(['admin', 'admin']);
  await sql.user.update({
    where: { id: user.id },
    data: { claims: { iss: user.iss, sub: user.sub, role: 'operator' } },
  });
  expect(await roles(token)).toEqual(['operator', 'operator']);
  await sql.user.update({ where: { id: user.id }, data: { claims: { iss: user.iss, sub: user.sub } } });
  expect(await roles(token)).toEqual([403, 403]);
});

test('a revocation ends all tokens and invitations that were created with the token, and returns the tokens', async () => {
  const token = await create(asAdmin);
  const child = await create(as(token));
  const grandchild = await create(as(child), { role: 'viewer' });
  const unrelated = await create(asAdmin);
  const codes = [await anInvitation(as(token)), await anInvitation(as(child))];
  const dependents = await asAdmin.get(`${TOKENS}/${token.id}/dependents`);
  expect(dependents.body.tokens.map(({ id }: Issued) => id)).toEqual([grandchild.id, child.id]);
  expect(dependents.body.pagination.total).toBe(2);
  const { body } = await asAdmin.delete(`${TOKENS}/${token.id}`);
  expect({ revoked: body.revoked.sort(), kept: body.kept }).toEqual({
    revoked: [child.id, grandchild.id].sort(),
    kept: [],
  });
  expect(await roles(child)).toEqual([401, 401]);
  expect(await roles(grandchild)).toEqual([401, 401]);
  expect(await roles(unrelated)).toEqual(['admin', 'admin']);
  for (const code of codes) expect(await accept(code)).toBe(401);
  expect((await asAdmin.get(`${TOKENS}/${token.id}/dependents`)).body.tokens).toEqual([]);
});

test('with keep=dependents, the caller becomes the creator of what remains, with an audit entry', async () => {
  const owner = await world.aUser('admin');
  const token = await create(asAdmin);
  const child = await create(as(token));
  const grandchild = await create(as(child));
  const code = await anInvitation(as(token));
  const { status, body } = await (await owner.api()).delete(`${TOKENS}/${token.id}?keep=dependents`);
  expect(status).toBe(200);
  expect({ revoked: body.revoked, kept: body.kept.sort() }).toEqual({
    revoked: [],
    kept: [child.id, grandchild.id].sort(),
  });
  expect(await roles(grandchild)).toEqual(['admin', 'admin']);
  expect(await accept(code)).toBe(401);
  const entries = await sql.auditEntry.findMany({ where: { path: `${TOKENS}/${token.id}` } });
  expect(entries.map(({ user_id, method }) => [user_id, method])).toEqual([[owner.id, 'DELETE']]);
  await asAdmin.put(`${USERS}/${owner.id}`, { role: 'operator' });
  expect(await roles(child)).toEqual(['operator', 'operator']);
  await asAdmin.delete(`${USERS}/${owner.id}`);
  expect(await roles(grandchild)).toEqual([401, 401]);
});

test('a token cannot keep its dependents by revoking itself, and keep has one value', async () => {
  const token = await create(asAdmin);
  const child = await create(as(token));
  expect((await as(token).delete(`${TOKENS}/${token.id}?keep=dependents`)).status).toBe(401);
  expect((await as(child).delete(`${TOKENS}/${token.id}?keep=dependents`)).status).toBe(400);
  expect((await asAdmin.delete(`${TOKENS}/${token.id}?keep=all`)).status).toBe(400);
  expect(await roles(child)).toEqual(['admin', 'admin']);
  expect((await asAdmin.delete(`${TOKENS}/${token.id}`)).body.revoked).toEqual([child.id]);
});

test('a reissue keeps what was created with the token', async () => {
  const token = await create(asAdmin);
  const child = await create(as(token));
  await asAdmin.post(`${TOKENS}/${token.id}/reissue`);
  expect(await roles(child)).toEqual(['admin', 'admin']);
});

test.each(['a user', 'a token', 'the temporary admin', 'a command'])(
  'a token of %s that another admin reissues ends with this admin, who knows its secret',
  async (creator) => {
    const other = await world.aUser('admin');
    const token = {
      'a user': async () => create(await other.api()),
      'a token': () => create(asAdmin),
      'the temporary admin': async () => create(await world.asTemporaryAdmin()),
      'a command': () => world.aToken({ role: 'admin', created_by: 'command-line' }),
    }[creator];
    const given = await token?.();
    const admin = await world.aUser('admin');
    const { body } = await (await admin.api()).post(`${TOKENS}/${given?.id}/reissue`);
    expect(await roles(body.token)).toEqual(['admin', 'admin']);
    expect(body.token.created_by).toBe(admin.email);
    await asAdmin.delete(`${USERS}/${admin.id}`);
    expect(await roles(body.token)).toEqual([401, 401]);
  },
);

test('a token that reissues the one that created it ends it, and a token that reissues itself keeps its owner', async () => {
  const token = await create(asAdmin);
  const child = await create(as(token));
  const { token: again } = (await as(child).post(`${TOKENS}/${child.id}/reissue`)).body;
  expect(again.created_by_token).toBe(token.id);
  const { token: parent } = (await as(again).post(`${TOKENS}/${token.id}/reissue`)).body;
  expect((await asAdmin.get(`${TOKENS}/${token.id}/dependents`)).body.tokens).toMatchObject([{ id: child.id }]);
  expect((await asAdmin.delete(`${TOKENS}/${child.id}`)).body.revoked).toEqual([token.id]);
  expect(await roles(parent)).toEqual([401, 401]);
});

test('a token that a token creates or reissues does not outlive it', async () => {
  const token = await create(asAdmin, { expires_in_days: 2 });
  const { body } = await as(token).post(TOKENS, { name: 'child', role: 'viewer', expires_in_days: 300 });
  const { body: forever } = await as(token).post(TOKENS, { name: 'child', role: 'viewer' });
  const { expires_at } = (await asAdmin.get(`${TOKENS}?name=a token&limit=1`)).body.tokens[0];
  expect([body.token.expires_at, forever.token.expires_at]).toEqual([expires_at, expires_at]);
  const other = await create(asAdmin, { expires_in_days: 300 });
  expect((await as(token).post(`${TOKENS}/${other.id}/reissue`)).body.token.expires_at).toBe(expires_at);
});

test('tokens of the temporary admin, of commands and from before the upgrade keep working', async () => {
  const ofTemporaryAdmin = await create(await world.asTemporaryAdmin());
  const child = await create(as(ofTemporaryAdmin));
  const older = await world.aToken({ role: 'operator', created_by: 'token:other', created_by_user: null });
  expect(await roles(ofTemporaryAdmin)).toEqual(['admin', 'admin']);
  expect(await roles(child)).toEqual(['admin', 'admin']);
  expect(await roles(older)).toEqual(['operator', 'operator']);
});

test('an invitation whose creator is unknown is not valid, also if an older version replaced its code', async () => {
  const code = await anInvitation(asAdmin);
  const code_hash = hashCredential(code);
  await sql.invitation.update({ where: { code_hash }, data: { code_hash } });
  expect(await accept(code)).toBe(401);
});

describe('a blocked user', () => {
  test('cannot sign in, also with the right password, and can again when unblocked', async () => {
    const user = await world.aUser('operator');
    const session = await user.api();
    const blocked = await asAdmin.put(`${USERS}/${user.id}`, { blocked: true });
    expect(blocked.body.user.blocked_at).toEqual(expect.any(String));
    expect((await asAdmin.put(`${USERS}/${user.id}`, { name: 'x' })).body.user.blocked_at).toBe(
      blocked.body.user.blocked_at,
    );
    expect((await session.get(ME)).status).toBe(401);
    const signIn = () => nobody.post('/api/v1/auth/login', { email: user.email, password: user.password });
    expect(await signIn()).toMatchObject({ status: 403, body: { code: 'user_blocked' } });
    expect((await asAdmin.put(`${USERS}/${user.id}`, { blocked: false })).body.user.blocked_at).toBeNull();
    expect((await signIn()).status).toBe(200);
    expect((await session.get(ME)).status).toBe(401);
  });

  test('cannot be the last admin', async () => {
    const admins = await sql.user.findMany({ where: { source: 'local', role: 'admin' } });
    await sql.user.updateMany({ where: { id: { in: admins.map(({ id }) => id) } }, data: { role: 'viewer' } });
    const [one, other] = [await world.aUser('admin'), await world.aUser('admin')];
    expect((await asAdmin.put(`${USERS}/${one.id}`, { blocked: true })).status).toBe(200);
    expect((await asAdmin.put(`${USERS}/${other.id}`, { blocked: true })).body.code).toBe('last_admin');
    expect((await asAdmin.put(`${USERS}/${other.id}`, { role: 'viewer' })).body.code).toBe('last_admin');
    expect((await asAdmin.delete(`${USERS}/${other.id}`)).body.code).toBe('last_admin');
  });
});
