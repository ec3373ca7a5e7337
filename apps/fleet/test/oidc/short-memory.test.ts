import { createShortMemory } from '../../src/oidc/short-memory.ts';

/** A memory of three answers, and how often it asked for each. */
function aMemory() {
  const asked: string[] = [];
  const recall = createShortMemory<string>({ ms: 1000, entries: 3, now: () => 0 });
  const ask = (secret: string) =>
    recall(secret, async () => {
      asked.push(secret);
      return { value: secret.toUpperCase() };
    });
  return { ask, asked };
}

test('it remembers so many answers, and forgets the oldest', async () => {
  const { ask, asked } = aMemory();
  for (const secret of ['a', 'b', 'c', 'd']) expect(await ask(secret)).toBe(secret.toUpperCase());
  for (const secret of ['b', 'c', 'd', 'a']) expect(await ask(secret)).toBe(secret.toUpperCase());
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'a']);
});

test('a question that failed is asked again', async () => {
  const recall = createShortMemory<string>({ ms: 1000, entries: 3, now: () => 0 });
  await expect(recall('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await recall('a', async () => ({ value: 'A' }))).toBe('A');
});
