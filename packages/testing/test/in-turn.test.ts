import { depth, inTurn } from '../src/index.ts';

test.each([
  [1, 5],
  [2, 5],
  [5, 5],
  [7, 5],
  [5, 1],
])('%i values go around %i subjects: each subject meets some, and together they meet all', (count, of) => {
  const values = Array.from({ length: count }, (_, value) => value);
  const met = Array.from({ length: of }, (_, index) => inTurn(values, { index, of }));
  for (const each of met) expect(each.length).toBeGreaterThan(0);
  expect(new Set(met.flat())).toEqual(new Set(values));
  if (depth === 'short') expect(met.flat()).toHaveLength(Math.max(count, of));
});

test('an index may exceed the number of subjects, to begin at another value', () => {
  const met = [3, 4, 5].map((index) => inTurn(['a', 'b', 'c'], { index, of: 3 }));
  expect(new Set(met.flat())).toEqual(new Set(['a', 'b', 'c']));
});
