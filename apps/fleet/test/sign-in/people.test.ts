import { connectionsBlocked } from '@svc/testing';
import { meAt } from './browser.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { issuer, replicas, signIn, accessToken, enter, says } = world;
const sql = world.database.client;

const rowOf = (sub: string) => sql.user.findUniqueOrThrow({ where: { iss_sub: { iss: issuer.url, sub } } });
const who = async (credential: string) => (await meAt([world.one], credential))[0]?.body.user;

test('a person has one user, however often and by whatever method they sign in', async () => {
  const first = await signIn({ sub: 'bob' });
  const second = await signIn({ sub: 'bob' });
  const byItself = await accessToken({ sub: 'bob' });
  const ids = await Promise.all(
    [first.access_token, second.access_token, byItself].map(async (one) => (await who(one)).id),
  );
  expect(new Set(ids)).toEqual(new Set([(await rowOf('bob')).id]));
});

test('a first sign-in on both replicas concurrently creates one user', async () => {
  const token = await accessToken({ sub: 'both', email: 'both@example.test' });
  const answers = await Promise.all([meAt(replicas, token), meAt(replicas, token), meAt(replicas, token)]);
  expect(new Set(answers.flat().map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.flat().map(({ body }) => body.user.id)).size).toBe(1);
});

test('the claims of a user are stored without those that describe the token', async () => {
  await signIn({
    sub: 'carla',
    name: ' Carla ',
    email: ' Carla@Example.test ',
    email_verified: true,
    team: { of: ['a'] },
  });
  const { claims, name, email, source, role, last_sign_in_at, password_hash } = await rowOf('carla');
  expect({ name, email, source, role, password_hash }).toEqual({
    name: ' Carla ',
    email: 'carla@example.test',
    source: 'oidc',
    role: null,
    password_hash: null,
  });
  expect(claims).toEqual({
    iss: issuer.url,
    sub: 'carla',
    name: ' Carla ',
    email: ' Carla@Example.test ',
    email_verified: true,
    role: 'operator',
    team: { of: ['a'] },
  });
  expect(last_sign_in_at).not.toBeNull();
});

test('a new name and e-mail address apply from the next sign-in', async () => {
  const { access_token } = await signIn({ sub: 'dora', name: 'Dora', email: 'dora@example.test' });
  await signIn({ sub: 'dora', name: 'Dora D.', email: 'dora.d@example.test' });
  expect(await who(access_token)).toMatchObject({ name: 'Dora D.', email: 'dora.d@example.test' });
});

test.each([
  ['not verified', { email: 'not-verified@example.test', email_verified: false }],
  ['not verified, stated as a string', { email: 'not-verified@example.test', email_verified: 'false' }],
  ['not a string', { email: ['a@example.test'] }],
  ['empty', { email: ' ' }],
  ['not an e-mail address', { email: 'somebody' }],
  ['too long', { email: `${'a'.repeat(320)}@example.test` }],
])('an e-mail claim that is %s is ignored', async (_, claims) => {
  const { access_token } = await signIn({ sub: 'erin', ...claims });
  expect(await who(access_token)).toMatchObject({ name: 'Ada', email: null, role: 'operator' });
});

test('an e-mail address of another user is ignored, and the two users stay separate', async () => {
  const local = await world.aUser('admin', { email: 'taken@example.test' });
  const { access_token } = await signIn({
    sub: 'frank',
    email: 'Taken@example.test',
    email_verified: true,
    role: 'viewer',
  });
  const frank = await who(access_token);
  expect(frank).toMatchObject({ kind: 'oidc', email: null, role: 'viewer' });
  expect(frank.id).not.toBe(local.id);
  expect((await (await local.api()).get('/api/v1/auth/me')).body.user).toMatchObject({ kind: 'local', role: 'admin' });
});

test('the same e-mail address with another subject is another user', async () => {
  const email = 'shared@example.test';
  const one = await signIn({ sub: 'gina', email });
  const other = await signIn({ sub: 'not-gina', email });
  const gina = await who(one.access_token);
  const notGina = await who(other.access_token);
  expect(gina.email).toEqual(email);
  expect(notGina.email).toBe(null);
  expect(gina.id).not.toBe(notGina.id);
});

test('an e-mail address that a user no longer has is assigned to the next one who signs in with it', async () => {
  await signIn({ sub: 'hugo', email: 'desk@example.test' });
  await signIn({ sub: 'hugo', email: 'hugo@example.test' });
  const { access_token } = await signIn({ sub: 'ines', email: 'desk@example.test' });
  expect((await who(access_token)).email).toBe('desk@example.test');
});

test('many concurrent sign-ins with one e-mail address all succeed, and one of the users has it', async () => {
  const subs = Array.from({ length: 12 }, (_, index) => `crowd-${index}`);
  const tokens = await Promise.all(subs.map((sub) => accessToken({ sub, email: 'crowd@example.test' })));
  const answers = (await Promise.all(tokens.map((token) => meAt(replicas, token)))).flat();
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await sql.user.count({ where: { email: 'crowd@example.test' } })).toBe(1);
});

test('a user whom two replicas create at the same time keeps the e-mail address', async () => {
  const sub = 'lea';
  const email = 'lea@example.test';
  const token = await accessToken({ sub, email });
  let asked: ReturnType<typeof meAt> = Promise.resolve([]);
  await sql.$transaction(async (transaction) => {
    const local = { source: 'local' as const, email, role: 'viewer' as const, password_hash: 'none' };
    const { id } = await transaction.user.create({ data: local });
    asked = meAt([world.one], token);
    await connectionsBlocked(sql, 1);
    // The other replica has not stored the user when the first one looks for it, but has when the
    // first one stores it.
    const same = { source: 'oidc' as const, iss: issuer.url, sub, claims: {}, role: null, password_hash: null };
    await transaction.user.update({ where: { id }, data: same });
  });
  expect(await asked).toMatchObject([{ status: 200, body: { user: { email } } }]);
});

test('an e-mail address that is taken concurrently is ignored, in each kind of sign-in', async () => {
  const token = await accessToken({ sub: 'kim', email: 'moment@example.test' });
  const takeWhile = async (ways: () => Promise<unknown>) => {
    let done: Promise<unknown> = Promise.resolve();
    await sql.$transaction(async (transaction) => {
      const data = {
        source: 'local' as const,
        email: 'moment@example.test',
        role: 'viewer' as const,
        password_hash: 'none',
      };
      await transaction.user.create({ data });
      done = ways();
      await connectionsBlocked(sql, 1);
    });
    return done;
  };
  expect(await takeWhile(() => meAt([world.one], token))).toMatchObject([
    { status: 200, body: { user: { email: null } } },
  ]);
  await sql.user.deleteMany({ where: { email: 'moment@example.test' } });
  await takeWhile(() => signIn({ sub: 'leo', email: 'moment@example.test' }));
  expect((await rowOf('leo')).email).toBeNull();
});

test('a missing or blank name is derived from other claims', async () => {
  const names = [
    [{ sub: 'nameless', name: undefined }, 'nameless'],
    [{ sub: 'blank', name: ' ', preferred_username: 'blanky' }, 'blanky'],
    [{ sub: 'long', name: 'n'.repeat(500) }, 'n'.repeat(200)],
  ] as const;
  for (const [claims, name] of names) expect((await who((await signIn(claims)).access_token)).name).toBe(name);
});

test('a sign-in with claims that are too large is rejected', async () => {
  says({ sub: 'large', role: 'admin', much: 'x'.repeat(17_000) });
  expect(await enter()).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
  expect(await sql.user.count({ where: { sub: 'large' } })).toBe(0);
});

test('a userinfo response with another subject is ignored', async () => {
  issuer.bend('/userinfo', () => ({ body: { sub: 'eve', role: 'admin', email: 'eve@example.test' } }));
  expect(await who((await signIn({ sub: 'jack', role: 'viewer' })).access_token)).toMatchObject({
    role: 'viewer',
    email: null,
  });
});

test('invisible characters of a name are not stored, and an e-mail address with one is ignored', async () => {
  await signIn({ sub: 'bidi', name: 'ad\u202emin\u200b', email: 'ad\u200bmin@example.test' });
  const { name, email } = await sql.user.findFirstOrThrow({ where: { sub: 'bidi' } });
  expect({ name, email }).toEqual({ name: 'admin', email: null });
});
