import { createAnswerCache } from '../../src/oidc/bearer.ts';

/** A cache of three answers, and the questions that it asked. */
function aCache() {
  const asked: string[] = [];
  const recall = createAnswerCache<string>({ ms: 1000, entries: 3, now: () => 0 });
  const ask = (secret: string) =>
    recall(secret, async () => {
      asked.push(secret);
      return { value: secret.toUpperCase() };
    });
  return { ask, asked };
}

test('evicts the least recently used answer when it is full', async () => {
  const { ask, asked } = aCache();
  for (const secret of ['a', 'b', 'c', 'd']) expect(await ask(secret)).toBe(secret.toUpperCase());
  for (const secret of ['b', 'c', 'd', 'a']) expect(await ask(secret)).toBe(secret.toUpperCase());
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'a']);
});

test('does not cache a failure', async () => {
  const recall = createAnswerCache<string>({ ms: 1000, entries: 3, now: () => 0 });
  await expect(recall('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await recall('a', async () => ({ value: 'A' }))).toBe('A');
});
