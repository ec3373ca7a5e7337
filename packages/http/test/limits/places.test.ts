import { expect, test } from '@jest/globals';
import { createPlaces, type Places } from '../../src/limits/places.ts';

const reserve = { places: 4, perCaller: 2 };
const limits = { what: 'streams', total: 16, perCaller: 16, reserve };

/** The number of places that a caller receives, at most `wanted`. */
function takeAll(places: Places, caller: string, wanted = Number.POSITIVE_INFINITY) {
  const releases: (() => void)[] = [];
  try {
    while (releases.length < wanted) releases.push(places.take(caller));
  } catch {
    // There is no further place for the caller.
  }
  return releases;
}

test('callers who take all that they receive leave places for others', () => {
  const places = createPlaces(limits);
  const counts = ['a', 'b', 'c', 'd', 'e', 'f'].map((caller) => takeAll(places, caller).length);
  expect(counts).toEqual([6, 3, 2, 2, 2, 1]);
  expect(() => places.take('g')).toThrow('A process has at most 16 streams');
});

test('the last places are for callers who have few', () => {
  const places = createPlaces(limits);
  takeAll(places, 'a');
  takeAll(places, 'b');
  takeAll(places, 'c');
  expect(() => places.take('a')).toThrow('the last ones are for other callers');
  expect(takeAll(places, 'd')).toHaveLength(2);
});

test.each([1, 2, 5, 20])('%d greedy callers leave a few places for each of 20 others', (count) => {
  const places = createPlaces({ ...limits, total: 2000, perCaller: 1000, reserve: { places: 200, perCaller: 4 } });
  // They repeat, because a caller can receive more when others release places.
  for (let round = 0; round < 3; round++) {
    for (let caller = 0; caller < count; caller++) takeAll(places, `greedy ${caller}`);
  }
  const others = Array.from({ length: 20 }, (_, index) => takeAll(places, `other ${index}`, 4).length);
  expect(others).toEqual(Array.from(others, () => 4));
});

test('a caller has at most its number of places, and a place is released once', () => {
  const places = createPlaces({ ...limits, perCaller: 2 });
  const first = places.take('a');
  places.take('a');
  expect(() => places.take('a')).toThrow('A caller has at most 2 streams');
  first();
  first();
  places.take('a');
  expect(() => places.take('a')).toThrow('A caller has at most 2 streams');
});

test('a released place is free for another caller', () => {
  const places = createPlaces({ ...limits, total: 1, reserve: { places: 0, perCaller: 0 } });
  const release = places.take('a');
  expect(() => places.take('b')).toThrow(expect.objectContaining({ code: 'overloaded' }));
  release();
  places.take('b');
});
