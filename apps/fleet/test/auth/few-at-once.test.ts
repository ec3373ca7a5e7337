import { expect, test } from '@jest/globals';
import { fewAtOnce } from '../../src/auth/few-at-once.ts';

/** Works that begin when they may, and end when the test says so. */
function someWork(bounds: { concurrent: number; waiting: number }) {
  const inTurn = fewAtOnce(bounds);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const start = (name: string) =>
    inTurn(() => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)));
      });
    });
  const end = (name: string, error?: Error) => ends.get(name)?.(error);
  return { begun, start, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('as many as are allowed work at once; the others begin in order, each when one has ended', async () => {
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

test('work that failed makes room too', async () => {
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

test('who finds the queue full is told to come again, and never begins', async () => {
  const { begun, start, end } = someWork({ concurrent: 1, waiting: 1 });
  const accepted = [start('a'), start('b')];
  await expect(start('c')).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '1' } });
  end('a');
  await settled();
  end('b');
  await Promise.all(accepted);
  expect(begun).toEqual(['a', 'b']);
});
