import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { createLog } from '@svc/http';
import { eventually } from '@svc/testing';
import { startHousekeeping } from '../../src/database/housekeeping.ts';
import { openPatiently, startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

const housekeepers: { stop(): Promise<void> }[] = [];

/** Starts housekeeping with short pauses, with spies on its log. */
function kept({ database = world.database, interval = 5 }: Partial<Parameters<typeof startHousekeeping>[0]> = {}) {
  const log = createLog('fleet', 'silent');
  const told = { info: jest.spyOn(log, 'info'), warn: jest.spyOn(log, 'warn') };
  const housekeeper = startHousekeeping({ database, log, interval });
  housekeepers.push(housekeeper);
  return { ...told, stop: housekeeper.stop };
}

beforeEach(async () => {
  await client.$executeRaw`TRUNCATE sign_in_failures, sessions CASCADE`;
});

afterEach(async () => {
  await Promise.all(housekeepers.splice(0).map(({ stop }) => stop()));
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const failedSignIn = (age: string, subject: string = randomUUID()) =>
  client.$executeRaw`
    INSERT INTO sign_in_failures (subject, failures, last_at) VALUES (${subject}, 1, now() - ${age}::interval)`;

/**
 * A session with the given times since its end and its expiry, a used refresh token and its
 * successor.
 */
async function aSession({ ended = null, expired }: { ended?: string | null; expired: string }): Promise<string> {
  const id = randomUUID();
  await client.$executeRaw`
    WITH session AS (
      INSERT INTO sessions (id, fingerprint, expires_at, ended_at)
      VALUES (${id}::uuid, '', now() - ${expired}::interval, now() - ${ended}::interval))
    INSERT INTO refresh_tokens (token_hash, session_id, parent_hash, used_at) VALUES
      (${`${id}-1`}, ${id}::uuid, NULL, now() - interval '40 days'), (${`${id}-2`}, ${id}::uuid, ${`${id}-1`}, NULL)`;
  return id;
}

const sessionsLeft = async () => (await client.session.findMany({ select: { id: true } })).map(({ id }) => id).sort();
const failuresLeft = async () =>
  (await client.signInFailure.findMany({ select: { subject: true } })).map(({ subject }) => subject).sort();

/** Waits until rows that are created last are deleted: all rows have been checked by then. */
async function aRoundHasPassed(): Promise<void> {
  const last = await aSession({ expired: '2 days' });
  await failedSignIn('1 hour', last);
  await eventually(
    'the last row of each table is deleted',
    async () => !(await sessionsLeft()).includes(last) && !(await failuresLeft()).includes(last),
  );
}

test('housekeeping deletes failed sign-ins after fifteen minutes', async () => {
  await failedSignIn('14 minutes', 'recent');
  await failedSignIn('16 minutes', 'past');
  kept();
  await aRoundHasPassed();
  expect(await failuresLeft()).toEqual(['recent']);
});

test('housekeeping deletes known networks of accounts 30 days after the last sign-in', async () => {
  for (const [subject, age] of [
    ['recent', '29 days'],
    ['past', '31 days'],
  ]) {
    await client.$executeRaw`
      INSERT INTO sign_in_networks (subject, account, last_at) VALUES (${subject}, 'account', now() - ${age}::interval)`;
  }
  kept();
  await aRoundHasPassed();
  expect((await client.signInNetwork.findMany()).map(({ subject }) => subject)).toEqual(['recent']);
});

test('housekeeping deletes update runs with their items 90 days after their end', async () => {
  for (const age of ['89 days', '91 days', null]) {
    const id = randomUUID();
    await client.$executeRaw`
      INSERT INTO update_runs (id, created_by, selection, wave, stop_after, state, finished_at)
      VALUES (${id}::uuid, ${age ?? 'running'}, '{}', 1, 1, ${age === null ? 'running' : 'completed'}, now() - ${age}::interval)`;
    await client.$executeRaw`
      INSERT INTO update_run_items (run_id, deployment_id, position, name, state)
      VALUES (${id}::uuid, gen_random_uuid(), 0, 'web', 'skipped')`;
  }
  kept();
  await aRoundHasPassed();
  const left = await client.updateRun.findMany({ include: { items: true }, orderBy: { created_by: 'asc' } });
  expect(left.map(({ created_by, items }) => [created_by, items.length])).toEqual([
    ['89 days', 1],
    ['running', 1],
  ]);
  expect(await client.updateRunItem.count()).toBe(2);
});

test('housekeeping deletes plans a day after they expire, and 90 days after their application', async () => {
  const rows = [
    { title: 'kept', state: 'ready', expired: '23 hours', applied: null },
    { title: 'expired', state: 'refused', expired: '25 hours', applied: null },
    { title: 'applied', state: 'applied', expired: '80 days', applied: '89 days' },
    { title: 'old', state: 'applied', expired: '90 days', applied: '91 days' },
  ];
  for (const { title, state, expired, applied } of rows) {
    await client.$executeRaw`
      INSERT INTO plans (id, created_by, set_name, title, options, files, summary, decision, digest, state, expires_at, applied_at)
      VALUES (${randomUUID()}::uuid, 'test', 'default', ${title}, '{}', '[]', '{}', '{}', '', ${state},
        now() - ${expired}::interval, now() - ${applied}::interval)`;
  }
  kept();
  await aRoundHasPassed();
  expect((await client.plan.findMany()).map(({ title }) => title).sort()).toEqual(['applied', 'kept']);
});

test('housekeeping deletes tombstones after a day', async () => {
  const gone = [
    { id: randomUUID(), age: '23 hours' },
    { id: randomUUID(), age: '25 hours' },
  ] as const;
  await client.$executeRaw`
    INSERT INTO hosts (id, name, engine, endpoint, by_admin, created_by)
    VALUES (${gone[0].id}::uuid, 'machine', 'docker', 'unix:///run/engine.sock', true, 'test')`;
  for (const { id, age } of gone) {
    await client.$executeRaw`
      INSERT INTO tombstones (id, host_id, at) VALUES (${id}::uuid, ${gone[0].id}::uuid, now() - ${age}::interval)`;
  }
  kept();
  await aRoundHasPassed();
  expect(await client.tombstone.findMany({ select: { id: true } })).toEqual([{ id: gone[0].id }]);
});

test('housekeeping deletes sessions and their refresh tokens a day after their end or expiry', async () => {
  const staying = [
    await aSession({ expired: '-1 hour' }),
    await aSession({ expired: '23 hours' }),
    await aSession({ ended: '23 hours', expired: '-1 hour' }),
  ];
  await aSession({ expired: '25 hours' });
  await aSession({ ended: '25 hours', expired: '-1 hour' });
  await aSession({ ended: '1 hour', expired: '25 hours' });
  kept();
  await aRoundHasPassed();
  expect(await sessionsLeft()).toEqual(staying.toSorted());
  expect(await client.refreshToken.count()).toBe(2 * staying.length);
});

test('housekeeping keeps used refresh tokens, so that a repeated use ends the session', async () => {
  const stolen = await world.signIn();
  const refresh = (refresh_token: string) => world.nobody.post('/api/v1/auth/refresh', { refresh_token });
  const second = await refresh(stolen.refresh_token);
  const third = await refresh(second.body.refresh_token);
  await client.$executeRaw`UPDATE refresh_tokens SET used_at = used_at - interval '40 days'`;
  await client.$executeRaw`UPDATE refresh_tokens SET created_at = created_at - interval '40 days'`;
  kept();
  await aRoundHasPassed();
  const digest = createHash('sha256').update(stolen.refresh_token).digest('hex');
  expect(await client.refreshToken.findUnique({ where: { token_hash: digest } })).not.toBeNull();
  expect((await refresh(stolen.refresh_token)).body.code).toBe('invalid_grant');
  expect((await refresh(third.body.refresh_token)).body.code).toBe('invalid_grant');
});

const manyLeftovers = async (count: number) => {
  await client.$executeRaw`
    INSERT INTO sign_in_failures (subject, failures, last_at)
    SELECT 'many-' || n, 1, now() - interval '1 day' FROM generate_series(1, ${count}::int) n`;
  await client.$executeRaw`
    INSERT INTO sessions (id, fingerprint, expires_at)
    SELECT gen_random_uuid(), '', now() - interval '2 days' FROM generate_series(1, ${count}::int)`;
};

const nothingIsLeft = async () => (await sessionsLeft()).length + (await failuresLeft()).length === 0;

test('housekeeping on several replicas deletes each row once without a failure', async () => {
  await manyLeftovers(3210);
  const others = [1, 2].map(() => openPatiently(world.databaseUrl));
  const replicas = [world.database, ...others].map((database) => kept({ database }));
  await eventually('nothing is left', nothingIsLeft);
  await Promise.all(replicas.map(({ stop }) => stop()));
  await Promise.all(others.map((database) => database.close()));
  const deleted = replicas.flatMap(({ info }) => info.mock.calls.map(([entry]) => entry as { rows: number }));
  expect(deleted.reduce((sum, { rows }) => sum + rows, 0)).toBe(2 * 3210);
  expect(replicas.flatMap(({ warn }) => warn.mock.calls)).toEqual([]);
});

test('housekeeping skips a locked row, and deletes it in a later round', async () => {
  const held = await aSession({ expired: '2 days' });
  const warn = await client.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT FROM sessions WHERE id = ${held}::uuid FOR UPDATE`;
    const house = kept();
    await aRoundHasPassed();
    expect(await sessionsLeft()).toContain(held);
    return house.warn;
  });
  await eventually('nothing is left', nothingIsLeft);
  expect(warn).not.toHaveBeenCalled();
});

test('housekeeping logs a failure, continues with other tables, and repeats the work', async () => {
  await failedSignIn('1 hour');
  await aSession({ expired: '2 days' });
  await client.$executeRaw`ALTER TABLE sign_in_failures RENAME TO elsewhere`;
  const { warn, info } = kept();
  await eventually('a round is logged', () => info.mock.calls.length > 0);
  expect(warn.mock.calls[0]?.[0]).toMatchObject({ table: 'sign_in_failures', err: expect.anything() });
  expect(info.mock.calls[0]?.[0]).toEqual({ table: 'sessions', rows: 1 });
  await client.$executeRaw`ALTER TABLE elsewhere RENAME TO sign_in_failures`;
  await eventually('nothing is left', nothingIsLeft);
});

const HOUR_MS = 3_600_000;
const REAL = ['nextTick', 'setImmediate', 'clearImmediate', 'setInterval', 'clearInterval', 'queueMicrotask'] as const;
type Spied = jest.SpiedFunction<typeof client.$executeRawUnsafe>;

test('housekeeping makes the first round within a minute, then one each hour until it is stopped', async () => {
  jest.useFakeTimers({ doNotFake: [...REAL, 'Date', 'performance', 'hrtime'] });
  const statements = jest.spyOn(client, '$executeRawUnsafe');
  const { stop } = kept({ interval: HOUR_MS });
  await aRoundEndsAfter(60_000, statements);
  jest.advanceTimersByTime(HOUR_MS - 1);
  expect(statements).toHaveBeenCalledTimes(TABLES);
  await aRoundEndsAfter(1, statements);
  await stop();
  jest.advanceTimersByTime(2 * HOUR_MS);
  expect(statements).toHaveBeenCalledTimes(2 * TABLES);
});

/** Number of tables. A round has a statement for each. */
const TABLES = 10;

async function aRoundEndsAfter(milliseconds: number, statements: Spied): Promise<void> {
  const before = statements.mock.calls.length;
  jest.advanceTimersByTime(milliseconds);
  await eventually('the round has a statement for each table', () => statements.mock.calls.length === before + TABLES);
  await statements.mock.results.at(-1)?.value;
  await turn(); // the next round is planned
}

test('stopping housekeeping waits for the running batch, and no other one starts', async () => {
  await manyLeftovers(3210);
  const begun = jest.spyOn(client, '$executeRawUnsafe');
  const { stop } = kept();
  await eventually('a batch has begun', () => begun.mock.calls.length > 0);
  await stop();
  const batches = begun.mock.calls.length;
  const left = await failuresLeft();
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThan(3210);
  await pause(20); // several intervals
  expect(begun).toHaveBeenCalledTimes(batches);
});
