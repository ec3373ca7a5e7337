import { expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { createDiagnosis, type DoctorCheck, failed, ok, settingsIn } from '../../src/index.ts';

const fine: DoctorCheck = { name: 'fine', run: async () => ok('It works.') };
const never: DoctorCheck = { name: 'never', run: () => new Promise(() => undefined) };

function aDiagnosis(checks: readonly DoctorCheck[], limitMs?: number) {
  let closed = 0;
  const diagnosis = createDiagnosis({
    service: 'fixture',
    version: '1.2.3',
    settings: ['PORT'],
    limitMs,
    checks: async () => ({
      checks,
      close: async () => {
        closed += 1;
      },
    }),
  });
  return { diagnosis, closed: () => closed };
}

test('one diagnosis runs at a time; another one is refused until it has ended', async () => {
  const ended = Promise.withResolvers<void>();
  const waiting: DoctorCheck = {
    name: 'waiting',
    run: async () => {
      await ended.promise;
      return ok('It has waited.');
    },
  };
  const { diagnosis, closed } = aDiagnosis([waiting]);
  const first = diagnosis.report();
  await expect(diagnosis.report()).rejects.toMatchObject({ status: 503, code: 'overloaded' });
  await expect(diagnosis.bundle(async () => ({}))).rejects.toMatchObject({ status: 503, code: 'overloaded' });
  ended.resolve();
  expect((await first).healthy).toBe(true);
  expect((await diagnosis.report()).healthy).toBe(true);
  expect(closed()).toBe(2);
});

test('a diagnosis that fails does not prevent the next one', async () => {
  const { diagnosis } = aDiagnosis([fine]);
  await expect(diagnosis.bundle(() => Promise.reject(new Error('unreadable')))).rejects.toThrow('unreadable');
  expect((await diagnosis.report()).healthy).toBe(true);
});

test('when the time is over, the present check fails and the others are skipped', async () => {
  // A timer ends up to one millisecond before the clock. Here the clock stands still.
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const { diagnosis } = aDiagnosis([fine, never, { ...fine, name: 'late' }], 50);
  const { healthy, checks } = await diagnosis.report().finally(() => clock.mockRestore());
  expect(healthy).toBe(false);
  expect(checks.map(({ name, state }) => [name, state])).toEqual([
    ['fine', 'ok'],
    ['never', 'failed'],
    ['late', 'skipped'],
  ]);
});

test('a bundle has the report without words that can be addresses of people, and the facts of the process', async () => {
  const found = 'The role ada@example.test of <mailto:ada@example.test> lacks SELECT on "users".';
  const wrong: DoctorCheck = { name: 'wrong', run: async () => failed(found, 'Ask ada@example.test.') };
  const { diagnosis } = aDiagnosis([wrong]);
  const bundle = await diagnosis.bundle(async () => ({ own: 1 }));
  expect(bundle.doctor.checks).toEqual([
    {
      name: 'wrong',
      state: 'failed',
      found: 'The role [address] of [address] lacks SELECT on "users".',
      remedy: 'Ask [address]',
    },
  ]);
  expect(bundle).toMatchObject({ service: 'fixture', settings: ['PORT'], own: 1, process: { node: process.version } });
});

test('the settings of a bundle are names without values, also of files', () => {
  const schema = z.object({ PORT: z.string(), TOKEN: z.string(), UNSET: z.string() });
  const environment = { PORT: '4100', TOKEN_FILE: '/run/token', UNSET: '', OTHER: 'x' };
  expect(settingsIn(schema, environment)).toEqual(['PORT', 'TOKEN_FILE']);
});
