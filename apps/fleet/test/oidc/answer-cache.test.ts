import { createVerificationCache } from '@svc/auth/oidc';

/** A cache of three answers, and the questions that were asked to fill it. */
function aCache() {
  const questions: string[] = [];
  const recall = createVerificationCache<string>({ ms: 1000, entries: 3, now: () => 0 });
  const ask = (secret: string) =>
    recall(secret, async () => {
      questions.push(secret);
      return { value: secret.toUpperCase() };
    });
  return { ask, asked: questions };
}

test('the answer cache evicts the least recently used answer when it is full', async () => {
  const { ask, asked: questions } = aCache();
  for (const secret of ['a', 'b', 'c', 'd']) expect(await ask(secret)).toBe(secret.toUpperCase());
  for (const secret of ['b', 'c', 'd', 'a']) expect(await ask(secret)).toBe(secret.toUpperCase());
  expect(questions).toEqual(['a', 'b', 'c', 'd', 'a']);
});

test('the answer cache does not store a failure', async () => {
  const recall = createVerificationCache<string>({ ms: 1000, entries: 3, now: () => 0 });
  await expect(recall('a', () => Promise.reject(new Error('unavailable')))).rejects.toThrow('unavailable');
  expect(await recall('a', async () => ({ value: 'A' }))).toBe('A');
});
