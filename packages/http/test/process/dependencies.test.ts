import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '../../../testing/src/run/eventually.ts';
import { type Dependencies, watchDependencies } from '../../src/process/dependencies.ts';
import type { HealthCheck } from '../../src/request/health.ts';
import { aLog } from '../world.ts';

const OK: HealthCheck = { name: 'database', state: 'ok' };
const AWAY: HealthCheck = { name: 'database', state: 'failed', detail: 'not reachable', reason: 'ECONNREFUSED' };

/** An error of the database. */
class DatabaseError extends Error {}

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** A log whose lines depend on the states that a test sets. */
function aWatch(given: { readonly recheckMs?: number; readonly repeatMs?: number } = {}) {
  let dependencies: Dependencies | undefined;
  const written = aLog('info', (...line) => dependencies?.holdBack(...line) ?? false);
  const state = { checks: [OK] as readonly HealthCheck[], count: 0 };
  const watch = watchDependencies({
    log: written.log,
    check: async () => {
      state.count += 1;
      return state.checks;
    },
    isOfDatabase: (error) => error instanceof DatabaseError,
    recheckMs: 10,
    ...given,
  });
  dependencies = watch;
  stop = watch.stop;
  const fail = (error: Error = new DatabaseError('connection lost')) =>
    written.log.warn({ err: error }, 'a task failed');
  const messages = () => written.entries.map(({ message }) => message);
  return { ...written, watch, state, fail, messages };
}

test('a database that is away has one line with its reason, also if tasks fail all the time, and another line at its return', async () => {
  const { watch, state, fail, entries, messages } = aWatch();
  state.checks = [AWAY];
  for (let count = 0; count < 50; count += 1) fail();
  await watch.check();
  for (let count = 0; count < 50; count += 1) fail();
  await eventually('several checks have run', async () => state.count >= 4);
  expect(entries).toEqual([
    expect.objectContaining({
      ...{ message: 'a dependency is not available', level: 40, dependency: 'database' },
      ...{ state: 'failed', detail: 'not reachable', reason: 'ECONNREFUSED' },
    }),
  ]);
  state.checks = [OK];
  await eventually('the return is logged', async () => entries.length === 2);
  expect(entries[1]).toMatchObject({ message: 'a dependency is available again', level: 30, lines_left_out: 100 });
  fail(new Error('another failure'));
  expect(messages().at(-1)).toBe('a task failed');
});

test('a failure of a task is written if the database is available', async () => {
  const { fail, entry, entries } = aWatch();
  fail();
  expect(entries).toEqual([]); // until the check has ended
  expect(await entry(({ message }) => message === 'a task failed')).toMatchObject({
    err: { message: 'connection lost' },
  });
  expect(entries).toHaveLength(1);
});

test('a line about a request and a line about another failure are written at once', () => {
  const { log, fail, messages, state } = aWatch();
  state.checks = [AWAY];
  log.error({ err: new DatabaseError('lost'), request_id: 'one' }, 'request');
  fail(new Error('another failure'));
  expect(messages()).toEqual(['request', 'a task failed']);
});

test('a state that lasts is repeated, and not with each check', async () => {
  const { state, watch, messages } = aWatch({ recheckMs: 5, repeatMs: 60 });
  state.checks = [AWAY];
  await watch.check();
  await eventually('the line is repeated', async () => messages().length === 2);
  expect(state.count).toBeGreaterThan(messages().length);
});

test('an unknown state has no line, and is checked again until it is known', async () => {
  const { state, watch, messages } = aWatch();
  const provider = { name: 'identity provider' };
  state.checks = [OK, { ...provider, state: 'unknown' }];
  await watch.check();
  await eventually('it is checked again', async () => state.count >= 3);
  expect(messages()).toEqual([]);
  state.checks = [OK, { ...provider, state: 'degraded', detail: 'The issuer does not respond.' }];
  await eventually('it has a line', async () => messages().length === 1);
});

test('lines that wait when the service stops are written', () => {
  const { watch, fail, messages } = aWatch();
  fail();
  watch.stop();
  expect(messages()).toEqual(['a task failed']);
});
