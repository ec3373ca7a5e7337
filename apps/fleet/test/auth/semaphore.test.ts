import { expect, test } from '@jest/globals';
import { createSemaphore } from '../../src/auth/passwords.ts';

/** Calls that start when the semaphore admits them, and end when the test ends them. */
function someWork(bounds: { concurrent: number; waiting: number }) {
  const limited = createSemaphore(bounds);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const start = (name: string) =>
    limited(() => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      });
    });
  const end = (name: string, error?: Error) => ends.get(name)?.(error);
  return { begun, start, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('the semaphore runs calls up to the limit concurrently, and starts waiting calls in order', async () => {
  const { begun, start, end } = someWork({ concurrent: 2, waiting: 10 });
  const all = ['a', 'b', 'c'].map(start);
  await settled();
  expect(begun).toEqual(['a', 'b']);
  end('b');
  await settled();
  all.push(start('d'));
  await settled();
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const name of ['a', 'c']) end(name);
  await settled();
  end('d');
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
});

test('the semaphore frees the slot of a call that fails', async () => {
  const { begun, start, end } = someWork({ concurrent: 1, waiting: 1 });
  const failing = start('a');
  const next = start('b');
  await settled();
  end('a', new Error('no more memory'));
  await expect(failing).rejects.toThrow('no more memory');
  expect(begun).toEqual(['a', 'b']);
  end('b');
  expect(await next).toBe('b');
  const last = start('c');
  await settled();
  expect(begun).toEqual(['a', 'b', 'c']);
  end('c');
  await last;
});

test('the semaphore rejects a call with 503 if the queue is full, and never starts it', async () => {
  const { begun, start, end } = someWork({ concurrent: 1, waiting: 1 });
  const accepted = [start('a'), start('b')];
  await expect(start('c')).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
  end('a');
  await settled();
  end('b');
  await Promise.all(accepted);
  expect(begun).toEqual(['a', 'b']);
});
