import type { Reader } from '@svc/database';
import { createRevisionCheck } from '../../src/revision/revision.ts';

/** A database that does not answer until the test ends its statements. */
function frozen() {
  const pending: ((error: Error) => void)[] = [];
  const reader: Reader = { read: () => new Promise((_, reject) => pending.push(reject)) };
  const started = async (count: number) => {
    while (pending.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  return { reader, started, fail: () => pending.at(-1)?.(new Error('timeout')), statements: () => pending.length };
}

test('a database that does not answer holds a bounded number of requests, which fail with its statements', async () => {
  const { reader, started, fail, statements } = frozen();
  const check = createRevisionCheck(reader, 3);
  const first = check.latest();
  await started(1);
  const others = [check.latest(), check.latest()];
  await expect(check.latest()).rejects.toMatchObject({ status: 503, code: 'overloaded' });
  fail();
  await expect(first).rejects.toThrow('timeout');
  await started(2);
  expect(statements()).toBe(2);
  fail();
  for (const other of others) await expect(other).rejects.toThrow('timeout');
  const again = check.latest();
  await started(3);
  fail();
  await expect(again).rejects.toThrow('timeout');
});
