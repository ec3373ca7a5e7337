import { depth, inTurn } from '../src/index.ts';

test.each([
  [1, 5],
  [2, 5],
  [5, 5],
  [7, 5],
  [5, 1],
])('distributes %i values to %i subjects: each subject has some, and together they have all', (count, of) => {
  const values = Array.from({ length: count }, (_, value) => value);
  const assigned = Array.from({ length: of }, (_, index) => inTurn(values, { index, of }));
  for (const each of assigned) expect(each.length).toBeGreaterThan(0);
  expect(new Set(assigned.flat())).toEqual(new Set(values));
  if (depth === 'short') expect(assigned.flat()).toHaveLength(Math.max(count, of));
});

test('accepts an index greater than the number of subjects, which starts at another value', () => {
  const assigned = [3, 4, 5].map((index) => inTurn(['a', 'b', 'c'], { index, of: 3 }));
  expect(new Set(assigned.flat())).toEqual(new Set(['a', 'b', 'c']));
});
