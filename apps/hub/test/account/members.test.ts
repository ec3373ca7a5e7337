import { startWorld } from '../world.ts';

const world = await startWorld();
const sql = world.database.client;
afterAll(() => world.stop());

const MEMBERS = '/api/v1/account/members';
const INVITATIONS = '/api/v1/account/invitations';
const PROFILE = '/api/v1/account/profile';

async function anOrganization() {
  const organization = await world.anOrganization();
  const admin = await world.aMember(organization, 'org_admin');
  const member = await world.aMember(organization, 'member');
  const idOf = async (api: typeof admin): Promise<string> => (await api.get(PROFILE)).body.profile.id;
  return { ...organization, admin, member, adminId: await idOf(admin), memberId: await idOf(member) };
}

const codeOf = async (
  admin: Awaited<ReturnType<typeof anOrganization>>['admin'],
  body: object = {},
): Promise<string> => {
  const { status, body: invited, headers } = await admin.post(INVITATIONS, body);
  expect({ status, cacheControl: headers['cache-control'] }).toEqual({ status: 201, cacheControl: 'no-store' });
  return invited.invitation.code;
};

describe('the members of an organization', () => {
  test('are listed for its members, and not those of others', async () => {
    const { admin, member, adminId, memberId } = await anOrganization();
    await anOrganization();
    for (const caller of [admin, member]) {
      const { members, pagination } = (await caller.get(MEMBERS)).body;
      expect(members).toMatchObject([
        { id: adminId, org_role: 'org_admin' },
        { id: memberId, org_role: 'member' },
      ]);
      expect(pagination.total).toBe(2);
    }
    expect((await (await world.aUser('user')).get(MEMBERS)).body.members).toEqual([]);
    expect((await admin.get(`${MEMBERS}?page=2&limit=1`)).body.members).toMatchObject([{ id: memberId }]);
  });

  test('get another role and are removed by an org_admin, with effect at the next request', async () => {
    const { admin, member, memberId } = await anOrganization();
    const { body } = await admin.put(`${MEMBERS}/${memberId}`, { org_role: 'org_admin' });
    expect(body.member).toMatchObject({ id: memberId, org_role: 'org_admin' });
    expect((await member.post('/api/v1/account/api-keys', { name: 'k' })).status).toBe(201);
    expect((await admin.delete(`${MEMBERS}/${memberId}`)).status).toBe(204);
    expect((await member.get(PROFILE)).body.profile.organization).toBeNull();
    expect((await member.post('/api/v1/account/api-keys', { name: 'k' })).body.code).toBe('no_organization');
  });

  test('cannot be changed by a member, or by the org_admin of another organization', async () => {
    const { member, adminId, memberId } = await anOrganization();
    const { admin: stranger } = await anOrganization();
    for (const id of [adminId, memberId]) {
      expect((await member.delete(`${MEMBERS}/${id}`)).body.code).toBe('insufficient_scope');
      expect((await stranger.delete(`${MEMBERS}/${id}`)).status).toBe(404);
      expect((await stranger.put(`${MEMBERS}/${id}`, { org_role: 'member' })).status).toBe(404);
    }
  });

  test('always include an org_admin, also after concurrent changes', async () => {
    const { admin, member, adminId, memberId, id } = await anOrganization();
    expect((await admin.delete(`${MEMBERS}/${adminId}`)).body.code).toBe('last_org_admin');
    expect((await admin.put(`${MEMBERS}/${adminId}`, { org_role: 'member' })).body.code).toBe('last_org_admin');
    await admin.put(`${MEMBERS}/${memberId}`, { org_role: 'org_admin' });
    const answers = await Promise.all([
      admin.put(`${MEMBERS}/${memberId}`, { org_role: 'member' }),
      member.put(`${MEMBERS}/${adminId}`, { org_role: 'member' }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await sql.user.count({ where: { org_id: id, org_role: 'org_admin' } })).toBe(1);
  });
});

describe('an invitation', () => {
  test('makes a user a member once, with its role', async () => {
    const { admin, slug } = await anOrganization();
    const code = await codeOf(admin, { org_role: 'org_admin' });
    const user = await world.aUser('user');
    const { status, body } = await user.post(MEMBERS, { code });
    expect({ status, slug: body.organization.slug, org_role: body.org_role }).toEqual({
      status: 201,
      slug,
      org_role: 'org_admin',
    });
    expect((await user.get(INVITATIONS)).body.invitations).toEqual([]);
    expect((await (await world.aUser('user')).post(MEMBERS, { code })).body.code).toBe('invalid_grant');
  });

  test('is listed for org_admins without its code, and can be withdrawn', async () => {
    const { admin, member } = await anOrganization();
    const code = await codeOf(admin, { email: 'Ada@Example.test ' });
    const { body, text } = await admin.get(INVITATIONS);
    expect(body.invitations).toMatchObject([{ email: 'ada@example.test', org_role: 'member' }]);
    expect(text).not.toContain(code);
    expect(JSON.stringify(await sql.invitation.findMany())).not.toContain(code);
    expect((await member.get(INVITATIONS)).body.code).toBe('insufficient_scope');
    const path = `${INVITATIONS}/${body.invitations[0].id}`;
    expect((await (await anOrganization()).admin.delete(path)).status).toBe(404);
    expect((await admin.delete(path)).status).toBe(204);
    expect((await admin.delete(path)).status).toBe(404);
    expect((await (await world.aUser('user')).post(MEMBERS, { code })).body.code).toBe('invalid_grant');
  });

  test('for an e-mail address is only accepted by a user with this verified address', async () => {
    const { admin } = await anOrganization();
    const code = await codeOf(admin, { email: 'grace@example.test' });
    const signedIn = async (sub: string, claims: object) =>
      world.api(`Bearer ${await world.issuer.sign(sub, { email: 'grace@example.test', ...claims })}`);
    const unverified = await signedIn('unverified', { email_verified: false });
    const others = [await world.aUser('user'), unverified];
    for (const other of others) expect((await other.post(MEMBERS, { code })).body.code).toBe('invalid_grant');
    const grace = await signedIn('grace', { email_verified: true });
    expect((await grace.post(MEMBERS, { code })).status).toBe(201);
  });

  test('is not accepted by a member of an organization, after its expiry, or for a suspended organization', async () => {
    const { admin, member } = await anOrganization();
    const code = await codeOf(admin);
    expect((await member.post(MEMBERS, { code })).body.code).toBe('already_in_organization');
    const expired = await codeOf(admin);
    const { body } = await admin.get(INVITATIONS);
    await sql.invitation.update({ where: { id: body.invitations[0].id }, data: { expires_at: new Date() } });
    const user = await world.aUser('user');
    expect((await user.post(MEMBERS, { code: expired })).body.code).toBe('invalid_grant');
    expect((await admin.get(INVITATIONS)).body.pagination.total).toBe(1);
    const { admin: other, id } = await anOrganization();
    const ofSuspended = await codeOf(other);
    await sql.organization.update({ where: { id }, data: { status: 'suspended' } });
    expect((await user.post(MEMBERS, { code: ofSuspended })).body.code).toBe('invalid_grant');
    expect((await user.post(MEMBERS, { code })).status).toBe(201);
  });

  test('is one of at most 100 open ones', async () => {
    const { admin, id } = await anOrganization();
    const data = Array.from({ length: 100 }, (_, index) => ({
      org_id: id,
      org_role: 'member' as const,
      code_hash: `hash-${index}`,
      expires_at: new Date(Date.now() + 60_000),
    }));
    await sql.invitation.createMany({ data });
    const { status, body } = await admin.post(INVITATIONS, {});
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: 409,
      code: 'too_many_invitations',
      detail: expect.stringContaining('100'),
    });
    await sql.invitation.updateMany({ where: { code_hash: 'hash-0' }, data: { expires_at: new Date() } });
    await codeOf(admin);
  });

  test('of two concurrent acceptances, one succeeds', async () => {
    const { admin } = await anOrganization();
    const code = await codeOf(admin);
    const users = [await world.aUser('user'), await world.aUser('user')];
    const answers = await Promise.all(users.map((user) => user.post(MEMBERS, { code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401]);
  });
});
