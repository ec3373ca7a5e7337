import { afterEach, expect, jest, test } from '@jest/globals';
import { type DoctorCheck, doctorCommand, failed, ok } from '../../src/index.ts';

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** Runs the command with these checks. @returns its exit code and report */
async function run(...checks: readonly DoctorCheck[]) {
  const printed: string[] = [];
  jest.spyOn(console, 'log').mockImplementation((text: unknown) => void printed.push(String(text)));
  const close = jest.fn(async () => undefined);
  const command = doctorCommand({ service: 'fixture', version: '1.2.3', prepare: () => ({ checks, close }) });
  const code = await command.run({ argument: '', options: { json: true } });
  expect(close).toHaveBeenCalledTimes(1);
  return { code, report: JSON.parse(printed.join('\n')) };
}

const fine: DoctorCheck = { name: 'fine', run: async () => ok('It works.') };
const broken: DoctorCheck = { name: 'broken', run: async () => failed('It is broken.', 'Repair it.') };

test('without failures the command exits with 0, and reports the version', async () => {
  expect(await run(fine)).toEqual({
    code: 0,
    report: {
      service: 'fixture',
      version: '1.2.3',
      healthy: true,
      checks: [{ name: 'fine', state: 'ok', found: 'It works.' }],
    },
  });
});

test('after a failure the other checks run, except those that need it', async () => {
  const dependent: DoctorCheck = { ...fine, name: 'dependent', needs: ['broken'] };
  const indirect: DoctorCheck = { ...fine, name: 'indirect', needs: ['dependent'] };
  const { code, report } = await run(broken, dependent, indirect, fine);
  expect(code).toBe(1);
  expect(report.checks).toEqual([
    { name: 'broken', state: 'failed', found: 'It is broken.', remedy: 'Repair it.' },
    { name: 'dependent', state: 'skipped', found: 'It needs the check "broken".' },
    { name: 'indirect', state: 'skipped', found: 'It needs the check "dependent".' },
    { name: 'fine', state: 'ok', found: 'It works.' },
  ]);
});

test.each<[string, DoctorCheck['run']]>([
  ['rejects', () => Promise.reject(new Error('It cannot run.'))],
  [
    'throws',
    () => {
      throw new Error('It cannot run.');
    },
  ],
])('a check that %s fails with the message, and the others run', async (_, check) => {
  const { code, report } = await run({ name: 'rejected', run: check }, fine);
  expect(code).toBe(1);
  expect(report.checks).toMatchObject([{ state: 'failed', found: 'It cannot run.' }, { state: 'ok' }]);
});

test('a check without a result within 8 seconds fails, and the others run', async () => {
  jest.useFakeTimers();
  let running: ReturnType<typeof run> | undefined;
  await new Promise<void>((started) => {
    const hang = () => {
      started();
      return new Promise<never>(() => undefined);
    };
    running = run({ name: 'hanging', run: hang }, fine);
  });
  jest.advanceTimersByTime(8000);
  const { code, report } = (await running) ?? {};
  expect(code).toBe(1);
  expect(report.checks).toMatchObject([{ state: 'failed', found: 'No result within 8 s.' }, { state: 'ok' }]);
});
