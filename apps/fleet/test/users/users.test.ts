import { randomUUID } from 'node:crypto';
import { byDepth } from '@svc/testing';
import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const { asAdmin } = world;
const USERS = '/api/v1/users';
const PASSWORD = 'seventeen quiet tractors';
let count = 0;
const aBody = (given: object = {}) => ({
  email: `new-${++count}@example.test`,
  role: 'viewer',
  password: PASSWORD,
  ...given,
});
const create = (given?: object) => asAdmin.post(USERS, aBody(given));
const pathsOf = ({ body }: Awaited<ReturnType<typeof create>>) =>
  (body.errors ?? []).map(({ path }: { path: string }) => path);

test('a new user is returned in full, is listed, and can sign in', async () => {
  const { status, body } = await create({ email: 'ada@example.test', name: ' Ada ', role: 'operator' });
  expect(status).toBe(201);
  expect(body).toEqual({
    user: {
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/),
      source: 'local',
      email: 'ada@example.test',
      name: 'Ada',
      role: 'operator',
      issuer: null,
      subject: null,
      created_at: expect.any(String),
      updated_at: body.user.created_at,
      last_sign_in_at: null,
      blocked_at: null,
    },
  });
  expect((await asAdmin.get(`${USERS}/${body.user.id}`)).body).toEqual(body);
  expect((await asAdmin.get(USERS)).body.users).toContainEqual(body.user);
  const signedIn = await world.nobody.post('/api/v1/auth/login', { email: 'ada@example.test', password: PASSWORD });
  expect(signedIn).toMatchObject({ status: 200, body: { user: { id: body.user.id, role: 'operator' } } });
});

test('the name of a new user is optional', async () => {
  expect((await create()).body.user.name).toBe('');
});

test('the password of a user is in no response, and not in the database', async () => {
  const created = await create();
  const { id } = created.body.user;
  const answers = [
    created,
    await asAdmin.put(`${USERS}/${id}`, { password: `${PASSWORD} again` }),
    await asAdmin.get(`${USERS}/${id}`),
    await asAdmin.get(USERS),
    await create({ password: 'password' }),
  ];
  for (const { text } of answers) {
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toMatch(/argon2|"password(_hash)?":/);
  }
  expect(JSON.stringify(await sql.user.findMany())).not.toContain(PASSWORD);
});

test.each([
  ['email', { email: undefined }],
  ['email', { email: 'nobody' }],
  ['email', { email: '@example.test' }],
  ['email', { email: 'a b@example.test' }],
  ['email', { email: `${'a'.repeat(320)}@example.test` }],
  ['name', { name: ' ' }],
  ['role', { role: undefined }],
  ['role', { role: 'king' }],
  ['password', { password: 'a'.repeat(1025) }],
  ['password_hash', { password_hash: 'x' }],
])('a new user with an invalid or unknown %s is a 400 that names it', async (member, given) => {
  const answer = await create(given);
  expect(answer.status).toBe(400);
  expect(pathsOf(answer)).toEqual([member]);
});

test('a change of a user changes only the named members', async () => {
  const { user } = (await create({ name: 'Before', role: 'viewer' })).body;
  const named = (await asAdmin.put(`${USERS}/${user.id}`, { name: 'After' })).body.user;
  expect(named).toEqual({ ...user, name: 'After', updated_at: expect.any(String) });
  const raised = (await asAdmin.put(`${USERS}/${user.id}`, { role: 'operator' })).body.user;
  expect(raised).toEqual({ ...named, role: 'operator', updated_at: expect.any(String) });
  expect((await asAdmin.put(`${USERS}/${user.id}`, {})).body.user).toMatchObject({ name: 'After', role: 'operator' });
});

test('a user that was read can be sent back, and another e-mail address is ignored', async () => {
  const { user } = (await create({ name: 'Same' })).body;
  const { status, body } = await asAdmin.put(`${USERS}/${user.id}`, { ...user, email: 'other@example.test' });
  expect(status).toBe(200);
  expect(body.user).toEqual({ ...user, updated_at: expect.any(String) });
});

test.each([
  ['name', { name: null }],
  ['role', { role: null }],
  ['password', { password: null }],
  ['claims', { claims: {} }],
])('the member %s of a user cannot be changed with %j', async (member, body) => {
  const { id } = (await create()).body.user;
  const answer = await asAdmin.put(`${USERS}/${id}`, body);
  expect(answer.status).toBe(400);
  expect(pathsOf(answer)).toEqual([member]);
});

test('the list of users is newest first, with pages', async () => {
  for (let made = 0; made < 3; made++) await create();
  const total = await sql.user.count({ where: { removed_at: null } });
  const seen: { id: string; created_at: string }[] = [];
  for (let page = 1; page <= Math.ceil(total / 2); page++) {
    const { body } = await asAdmin.get(`${USERS}?limit=2&page=${page}`);
    expect(body.pagination).toEqual({ page, limit: 2, total, totalPages: Math.ceil(total / 2) });
    seen.push(...body.users);
  }
  expect(new Set(seen.map(({ id }) => id)).size).toBe(total);
  const moments = seen.map(({ created_at }) => created_at);
  expect(moments).toEqual(moments.toSorted().reverse());
});

test('requests for an ID that is not that of a user have identical 404 responses', async () => {
  const { id: ofToken } = await world.aToken();
  const same = { 'X-Request-Id': 'the-same' };
  const answers: string[] = [];
  for (const id of ['nothing', randomUUID(), ofToken]) {
    for (const answer of [
      await asAdmin.get(`${USERS}/${id}`, same),
      await asAdmin.put(`${USERS}/${id}`, { name: 'x' }, same),
      await asAdmin.delete(`${USERS}/${id}`, undefined, same),
    ]) {
      expect(answer.status).toBe(404);
      answers.push(answer.text);
    }
  }
  expect(new Set(answers).size).toBe(1);
});

test('one of ten concurrent removals of a user succeeds, and the others are 404', async () => {
  for (let round = 0; round < byDepth({ short: 2, full: 5, long: 20 }); round++) {
    const { id } = (await create()).body.user;
    const ten = await Promise.all(Array.from({ length: 10 }, () => asAdmin.delete(`${USERS}/${id}`)));
    expect(ten.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)]);
  }
});

test('a user that is changed and removed concurrently is removed', async () => {
  for (let round = 0; round < byDepth({ short: 3, full: 10, long: 40 }); round++) {
    const { id } = (await create()).body.user;
    const [changed, removed] = await Promise.all([
      asAdmin.put(`${USERS}/${id}`, { name: 'Late' }),
      asAdmin.delete(`${USERS}/${id}`),
    ]);
    expect(removed.status).toBe(204);
    expect([200, 404]).toContain(changed.status);
    expect((await asAdmin.get(`${USERS}/${id}`)).status).toBe(404);
  }
});

describe('the e-mail address of a user', () => {
  test('is stored in lower case, without surrounding spaces', async () => {
    const { body } = await create({ email: '  Alan.TURING@Example.Test\u00a0' });
    expect(body.user.email).toBe('alan.turing@example.test');
  });

  test('is unique, regardless of case and spaces', async () => {
    await create({ email: 'only@example.test' });
    for (const email of ['only@example.test', ' ONLY@example.test']) {
      const { status, body } = await create({ email });
      expect({ status, code: body.code }).toEqual({ status: 409, code: 'email_taken' });
    }
  });

  test('is unique across concurrent requests on two replicas', async () => {
    const admin = `Bearer ${(await world.aToken({ role: 'admin' })).secret}`;
    const replicas = [world, world.aReplica()].map(({ api }) => api(admin));
    const body = aBody({ email: 'race@example.test' });
    const ten = Array.from({ length: 10 }, (_, index) => replicas[index % 2]?.post(USERS, body));
    const statuses = (await Promise.all(ten)).map((answer) => answer?.status);
    expect(statuses.sort()).toEqual([201, ...Array(9).fill(409)]);
    expect(await sql.user.count({ where: { email: 'race@example.test' } })).toBe(1);
  });

  test('can be used again after the user is removed', async () => {
    const { body } = await create({ email: 'again@example.test' });
    await asAdmin.delete(`${USERS}/${body.user.id}`);
    const second = await create({ email: 'again@example.test' });
    expect(second.status).toBe(201);
    expect(second.body.user.id).not.toBe(body.user.id);
  });
});

const EMAIL = 'grace.hopper@example.test';

test.each([
  ['seven characters', 'tr4ctor'],
  ['a famous password', 'password1'],
  ['a row of the keyboard', 'qwertyuiop'],
  ['one character many times', 'aaaaaaaaaaaaaaaa'],
  ['digits in their order', '1234567890'],
  ['the e-mail', 'grace.hopper@example.test'],
  ['what stands before the @', 'grace.hopper'],
])('%s is rejected as a password, for a new user and in a change', async (_, password) => {
  const made = await asAdmin.post(USERS, { email: EMAIL, role: 'viewer', password });
  expect(made.status).toBe(400);
  expect(pathsOf(made)).toEqual(['password']);
  const user = await world.aUser('viewer', { email: EMAIL });
  const changed = await asAdmin.put(`${USERS}/${user.id}`, { password });
  expect(changed.status).toBe(400);
  expect(pathsOf(changed)).toEqual(['password']);
  await user.signIn(); // the former password still works
  await sql.user.delete({ where: { id: user.id } });
});
