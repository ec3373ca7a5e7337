import { meAt } from './browser.ts';
import { untilBlocked } from './moments.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { issuer, replicas, signIn, accessToken, enter, says } = world;
const sql = world.database.client;

const rowOf = (sub: string) => sql.user.findUniqueOrThrow({ where: { iss_sub: { iss: issuer.url, sub } } });
const who = async (credential: string) => (await meAt([world.one], credential))[0]?.body.user;

test('somebody has one row, however often and by whatever way they come in', async () => {
  const [first, second] = [await signIn({ sub: 'bob' }), await signIn({ sub: 'bob' })];
  const byItself = await accessToken({ sub: 'bob' });
  const ids = await Promise.all(
    [first.access_token, second.access_token, byItself].map(async (one) => (await who(one)).id),
  );
  expect(new Set(ids)).toEqual(new Set([(await rowOf('bob')).id]));
});

test('whoever comes for the first time on both replicas at once has one row', async () => {
  const token = await accessToken({ sub: 'both', email: 'both@example.test' });
  const answers = await Promise.all([meAt(replicas, token), meAt(replicas, token), meAt(replicas, token)]);
  expect(new Set(answers.flat().map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.flat().map(({ body }) => body.user.id)).size).toBe(1);
});

test('the claims are kept, and what speaks of the token is not', async () => {
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

test('a new name and e-mail are theirs from the next sign-in on', async () => {
  const { access_token } = await signIn({ sub: 'dora', name: 'Dora', email: 'dora@example.test' });
  await signIn({ sub: 'dora', name: 'Dora D.', email: 'dora.d@example.test' });
  expect(await who(access_token)).toMatchObject({ name: 'Dora D.', email: 'dora.d@example.test' });
});

test.each([
  ['not verified', { email: 'not-verified@example.test', email_verified: false }],
  ['not verified, said as text', { email: 'not-verified@example.test', email_verified: 'false' }],
  ['no text', { email: ['a@example.test'] }],
  ['empty', { email: ' ' }],
  ['no e-mail address', { email: 'somebody' }],
  ['longer than any', { email: `${'a'.repeat(320)}@example.test` }],
])('an e-mail that is %s is left out', async (_, claims) => {
  const { access_token } = await signIn({ sub: 'erin', ...claims });
  expect(await who(access_token)).toMatchObject({ name: 'Ada', email: null, role: 'operator' });
});

test('the e-mail of another user is left out, and the two stay two', async () => {
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

test('the same e-mail with another subject is another person', async () => {
  const email = 'shared@example.test';
  const [one, other] = [await signIn({ sub: 'gina', email }), await signIn({ sub: 'not-gina', email })];
  const [gina, notGina] = [await who(one.access_token), await who(other.access_token)];
  expect([gina.email, notGina.email]).toEqual([email, null]);
  expect(gina.id).not.toBe(notGina.id);
});

test('who gave an e-mail up leaves it to the next who comes with it', async () => {
  await signIn({ sub: 'hugo', email: 'desk@example.test' });
  await signIn({ sub: 'hugo', email: 'hugo@example.test' });
  const { access_token } = await signIn({ sub: 'ines', email: 'desk@example.test' });
  expect((await who(access_token)).email).toBe('desk@example.test');
});

test('many who come at once with one e-mail all come in, and one of them has it', async () => {
  const subs = Array.from({ length: 12 }, (_, index) => `crowd-${index}`);
  const tokens = await Promise.all(subs.map((sub) => accessToken({ sub, email: 'crowd@example.test' })));
  const answers = (await Promise.all(tokens.map((token) => meAt(replicas, token)))).flat();
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await sql.user.count({ where: { email: 'crowd@example.test' } })).toBe(1);
});

test('an e-mail that somebody takes at the very moment is left out, by every way in', async () => {
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
      await untilBlocked(world.database, 1);
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

test('a name that is missing or blank is made from what is there', async () => {
  const names = [
    [{ sub: 'nameless', name: undefined }, 'nameless'],
    [{ sub: 'blank', name: ' ', preferred_username: 'blanky' }, 'blanky'],
    [{ sub: 'long', name: 'n'.repeat(500) }, 'n'.repeat(200)],
  ] as const;
  for (const [claims, name] of names) expect((await who((await signIn(claims)).access_token)).name).toBe(name);
});

test('claims that are too large to keep let nobody in', async () => {
  says({ sub: 'large', role: 'admin', much: 'x'.repeat(17_000) });
  expect(await enter()).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
  expect(await sql.user.count({ where: { sub: 'large' } })).toBe(0);
});

test('what userinfo tells of somebody else counts for nothing', async () => {
  issuer.bend('/userinfo', () => ({ body: { sub: 'eve', role: 'admin', email: 'eve@example.test' } }));
  expect(await who((await signIn({ sub: 'jack', role: 'viewer' })).access_token)).toMatchObject({
    role: 'viewer',
    email: null,
  });
});
