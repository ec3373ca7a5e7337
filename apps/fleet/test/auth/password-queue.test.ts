import { expect, test } from '@jest/globals';
import { type CallerClass, createPasswordQueue, type QueueBounds } from '../../src/identity/passwords/queue.ts';

/** Calls that start when the queue admits them, and end when the test ends them. */
function someWork(bounds: QueueBounds) {
  const enqueue = createPasswordQueue(bounds);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const start = (name: string, caller: CallerClass = 'unknown') =>
    enqueue(caller, () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      });
    });
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error);
    await settled();
  };
  return { begun, start, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const waiting = { known: 20, unknown: 20 };

test('the password queue runs calls up to the limit concurrently, and starts waiting calls in order', async () => {
  const { begun, start, end } = someWork({ concurrent: 2, waiting });
  const all = ['a', 'b', 'c'].map((name) => start(name));
  await settled();
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  all.push(start('d'));
  await settled();
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const name of ['a', 'c', 'd']) await end(name);
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
});

test('the password queue frees the slot of a call that fails', async () => {
  const { begun, start, end } = someWork({ concurrent: 1, waiting });
  const failing = start('a');
  const next = start('b');
  await settled();
  void end('a', new Error('no more memory'));
  await expect(failing).rejects.toThrow('no more memory');
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(await next).toBe('b');
  const last = start('c');
  await settled();
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('c');
  await last;
});

test('the password queue rejects a call with 503 if its class has too many waiting calls, and never starts it', async () => {
  const { begun, start, end } = someWork({ concurrent: 1, waiting: { known: 1, unknown: 1 } });
  const accepted = [start('a'), start('b')];
  await expect(start('c')).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
  accepted.push(start('d', 'known'));
  await expect(start('e', 'known')).rejects.toMatchObject({ code: 'unavailable' });
  for (const name of ['a', 'd', 'b']) await end(name);
  await Promise.all(accepted);
  expect(begun).toEqual(['a', 'd', 'b']);
});

test('the password queue starts calls of known callers first, and every fourth time one of an unknown caller', async () => {
  const { begun, start, end } = someWork({ concurrent: 1, waiting });
  const all = ['first', 'u1', 'u2', 'u3'].map((name) => start(name));
  all.push(...['k1', 'k2', 'k3', 'k4', 'k5'].map((name) => start(name, 'known')));
  const order = ['first', 'k1', 'k2', 'k3', 'u1', 'k4', 'k5', 'u2', 'u3'];
  for (const name of order) await end(name);
  await Promise.all(all);
  expect(begun).toEqual(order);
});
