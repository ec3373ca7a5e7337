import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import * as argon2 from '@node-rs/argon2';
import { unavailable } from '@svc/http';
import { createPasswords } from '../../src/identity/passwords/passwords.ts';
import { startWorld, TEMPORARY_ADMIN } from '../world.ts';
import { LOGIN, signInHelpers } from './sign-in-helpers.ts';

const world = await startWorld();
afterAll(() => world.stop());

const sql = world.database.client;
const { nobody, aUser, aReplica } = world;
const { anAddress, waitIsOver } = signInHelpers(world);
const fromAddress = (address: string) => ({ 'X-Forwarded-For': address });
type Headers = Readonly<Record<string, string>>;

beforeEach(async () => {
  await sql.$executeRaw`TRUNCATE sign_in_failures, sign_in_networks`;
});

/** A user who has signed in from an address. */
async function aKnownUser(from: Headers = anAddress()) {
  const { email, password } = await aUser('viewer');
  const signIn = (api = nobody) => api.post(LOGIN, { email, password }, from);
  const guess = () => nobody.post(LOGIN, { email, password: 'a guess' }, from);
  expect((await signIn()).status).toBe(200);
  return { email, password, from, signIn, guess };
}

/** Guesses the password of an account, by default of one that does not exist. */
const guess = (from: Headers, email = `${randomUUID()}@example.test`) =>
  nobody.post(LOGIN, { email, password: 'a guess' }, from);
const statusOf = async (answer: Promise<{ readonly status: number }>) => (await answer).status;

/** Sends failing requests, one after another. */
async function fail(times: number, send: () => Promise<{ readonly status: number }>): Promise<void> {
  for (let count = 0; count < times; count++) expect(await statusOf(send())).toBe(401);
}

/** Sets the failures of all rows of a limit that have been counted. */
async function setFailures(limit: 'account' | 'network' | 'overall', failures: number): Promise<void> {
  const changed = await sql.$executeRaw`
    UPDATE sign_in_failures SET failures = ${failures}, last_at = now(), forgiven_at = now() WHERE subject LIKE ${`${limit}%`}`;
  expect(changed).toBeGreaterThan(0);
}

/** Makes the current waits outlast a slow machine. */
const prolongWaits = async () => {
  const changed = await sql.$executeRaw`UPDATE sign_in_failures SET blocked_until = blocked_until + interval '1 hour'`;
  expect(changed).toBeGreaterThan(0);
};

/** The longest wait in seconds that the last failures caused. */
const longestWait = async () => {
  const [row] = await sql.$queryRaw<{ seconds: number | null }[]>`
    SELECT max(extract(epoch FROM blocked_until - last_at))::int AS seconds FROM sign_in_failures`;
  return row?.seconds;
};

test('correct sign-ins of known addresses all succeed while unknown addresses fill the queue of password verifications', async () => {
  const users = [await aKnownUser(), await aKnownUser(), await aKnownUser(), await aKnownUser()];
  const gate = new EventEmitter();
  const opened = once(gate, 'open');
  const passwords = createPasswords({
    concurrent: 1,
    waiting: { known: users.length, unknown: 5 },
    cost: { memoryCost: 8, timeCost: 1, parallelism: 1 },
    hashing: {
      hash: argon2.hash,
      verify: async (...given) => {
        await opened;
        return argon2.verify(...given);
      },
    },
  });
  let calls = 0;
  const verify: typeof passwords.verify = (...given) => {
    const verified = passwords.verify(...given);
    gate.emit(`call ${++calls}`);
    return verified;
  };
  const attacked = aReplica({ passwords: { ...passwords, verify } }).api();
  const queueIsFull = once(gate, 'call 20');
  const attempts = Array.from({ length: 20 }, () =>
    statusOf(attacked.post(LOGIN, { email: `${randomUUID()}@example.test`, password: 'x' }, anAddress())),
  );
  await queueIsFull;
  const allAreWaiting = once(gate, 'call 24');
  const correct = users.map(({ signIn }) => statusOf(signIn(attacked)));
  await allAreWaiting;
  gate.emit('open');
  expect(await Promise.all(correct)).toEqual([200, 200, 200, 200]);
  expect((await Promise.all(attempts)).sort()).toEqual([...Array(6).fill(401), ...Array(14).fill(503)]);
});

test('one address cannot try many accounts, and known users of this address sign in at once', async () => {
  const from = anAddress();
  const user = await aKnownUser(from);
  await fail(2, () => guess(from));
  expect(await sql.signInFailure.findMany({ where: { subject: { startsWith: 'network:' } } })).toMatchObject([
    { failures: 2, blocked_until: null },
  ]);
  await setFailures('network', 60);
  await fail(1, () => guess(from));
  expect(await longestWait()).toBe(60);
  await prolongWaits();
  const { status, body } = await guess(from);
  expect({ status, code: body.code }).toEqual({ status: 429, code: 'rate_limited' });
  expect((await user.signIn()).status).toBe(200);
  expect((await guess(anAddress())).status).toBe(401);
});

test('while a limit blocks an address, a wrong password of a known account has the response of an unknown account', async () => {
  const from = anAddress();
  const user = await aKnownUser(from);
  await guess(from);
  await setFailures('network', 60);
  await fail(1, () => guess(from));
  await prolongWaits();
  const unknown = await guess(from);
  const known = await user.guess();
  expect({ status: known.status, code: known.body.code }).toEqual({ status: unknown.status, code: unknown.body.code });
  expect(known.status).toBe(429);
  expect(Number(known.headers['retry-after'])).toBeGreaterThan(3500);
});

test.each([
  ['an existing account', async () => await aKnownUser()],
  ['an unknown account', async () => undefined],
])('many addresses cannot try the passwords of %s, which stays usable for known addresses', async (_, who) => {
  const user = await who();
  const email = user?.email ?? 'nobody@example.test';
  await fail(2, () => guess(anAddress(), email));
  expect(await sql.signInFailure.findMany({ where: { subject: { startsWith: 'account:' } } })).toMatchObject([
    { failures: 2, blocked_until: null },
  ]);
  await setFailures('account', 40);
  await fail(1, () => guess(anAddress(), email));
  expect(await longestWait()).toBe(60);
  await prolongWaits();
  expect((await nobody.post(LOGIN, { email, password: user?.password ?? 'x' }, anAddress())).status).toBe(429);
  expect((await guess(anAddress())).status).toBe(401);
  if (user) expect((await user.signIn()).status).toBe(200);
  await waitIsOver();
  expect((await guess(anAddress(), email)).status).toBe(401);
});

test('the addresses of an IPv6 /64 have a common limit for each account', async () => {
  const tryFrom = (address: string) => nobody.post(LOGIN, { ...TEMPORARY_ADMIN, password: 'x' }, fromAddress(address));
  let host = 0;
  await fail(6, () => tryFrom(`2001:db8:1:1::${++host}`));
  await prolongWaits();
  expect((await tryFrom('2001:db8:1:1:ffff::1')).status).toBe(429);
  expect((await tryFrom('2001:db8:1:2::1')).status).toBe(401);
});

test('the networks of an IPv6 /48 have a common, larger limit for all accounts', async () => {
  await guess(fromAddress('2001:db8:1:1::1'));
  await setFailures('network', 190);
  expect((await guess(fromAddress('2001:db8:1:2::1'))).status).toBe(401);
  expect(await longestWait()).toBeNull();
  await setFailures('network', 230);
  expect((await guess(fromAddress('2001:db8:1:3::1'))).status).toBe(401);
  await prolongWaits();
  expect((await guess(fromAddress('2001:db8:1:4::1'))).status).toBe(429);
  expect((await guess(fromAddress('2001:db8:2::1'))).status).toBe(401);
});

test('with many failures overall, unknown addresses have a tenth of their allowance', async () => {
  const from = anAddress();
  const user = await aKnownUser(from);
  await guess(from);
  await setFailures('network', 20);
  await fail(1, () => guess(from));
  expect(await longestWait()).toBeNull();
  await setFailures('overall', 1500);
  await fail(1, () => guess(from));
  await prolongWaits();
  expect((await guess(from)).status).toBe(429);
  expect((await guess(anAddress())).status).toBe(401);
  expect((await user.signIn()).status).toBe(200);
});

test('above the overall limit, unknown addresses wait on every replica, and known ones do not', async () => {
  const user = await aKnownUser();
  await guess(anAddress());
  await setFailures('overall', 10_500);
  await fail(1, () => guess(anAddress()));
  await prolongWaits();
  expect((await guess(anAddress())).status).toBe(429);
  expect((await aReplica().api().post(LOGIN, TEMPORARY_ADMIN, anAddress())).status).toBe(429);
  expect((await user.signIn()).status).toBe(200);
});

test('a limit forgives failures continuously', async () => {
  const email = 'nobody@example.test';
  await guess(anAddress(), email);
  await setFailures('account', 36);
  await sql.$executeRaw`
    UPDATE sign_in_failures SET last_at = last_at - interval '10 minutes',
      forgiven_at = forgiven_at - interval '10 minutes' WHERE subject LIKE 'account:%'`;
  await fail(2, () => guess(anAddress(), email));
  const account = await sql.signInFailure.findFirstOrThrow({ where: { subject: { startsWith: 'account:' } } });
  expect(account.blocked_until).toBeNull();
  expect(account.failures).toBeLessThanOrEqual(36 - 20 + 2);
  expect(account.failures).toBeGreaterThan(2);
});

test('an attempt that is answered 503 is not counted', async () => {
  const { email, password } = await aUser('viewer');
  const from = anAddress();
  const verify = async () => {
    throw unavailable('No verification is possible.');
  };
  const busy = aReplica({ passwords: { ...world.passwords, verify } }).api();
  for (let attempt = 0; attempt < 8; attempt++) {
    expect((await busy.post(LOGIN, { email, password }, from)).status).toBe(503);
  }
  expect(await sql.signInFailure.count()).toBe(0);
  await fail(6, () => guess(from, email));
});

test('an attempt that is answered 429 is not counted', async () => {
  const from = anAddress();
  const email = 'nobody@example.test';
  await fail(6, () => guess(from, email));
  const counts = () => sql.signInFailure.findMany({ orderBy: { subject: 'asc' } });
  await prolongWaits();
  const before = await counts();
  expect((await guess(from, email)).status).toBe(429);
  expect(await counts()).toEqual(before);
});

test('a successful sign-in leaves no counted failure', async () => {
  const { email, password } = await aUser('viewer');
  for (const [body, from] of [
    [{ email, password }, anAddress()],
    [TEMPORARY_ADMIN, fromAddress('2001:db8::1')],
  ] as const) {
    expect((await nobody.post(LOGIN, body, from)).status).toBe(200);
  }
  expect(await sql.signInFailure.count()).toBe(0);
});

test('an account has at most 20 known networks: those of the last sign-ins', async () => {
  const { email, password } = await aUser('viewer');
  const first = anAddress();
  const last = anAddress();
  const signIn = (from: Headers) => nobody.post(LOGIN, { email, password }, from);
  for (const from of [first, ...Array.from({ length: 19 }, anAddress), last])
    expect(await statusOf(signIn(from))).toBe(200);
  expect(await sql.signInNetwork.count()).toBe(20);
  await guess(anAddress(), email);
  await setFailures('account', 40);
  await fail(1, () => guess(anAddress(), email));
  await prolongWaits();
  expect((await signIn(first)).status).toBe(429);
  expect((await signIn(last)).status).toBe(200);
});
