import { byDepth, seed } from '@svc/testing';
import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import { place } from '../../src/placement/place.ts';
import { candidates, wish } from './generated.ts';
import { factsAgainst } from './oracle.ts';
import { comparison, factsOf } from './read-reason.ts';

const RUNS = byDepth({ short: 200, full: 2000, long: 20_000 });

const shuffledAnd = fc
  .tuple(wish, candidates)
  .chain(([wanted, all]) =>
    fc.tuple(fc.constant(wanted), fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );

test('a candidate fits when no fact speaks against it, and a refusal gives exactly the facts', () => {
  assertProperty(
    fc.property(wish, candidates, (wanted, all) => {
      const { judged } = place(wanted, all);
      expect(judged.map(({ id }) => id).toSorted()).toEqual(all.map(({ id }) => id));
      for (const candidate of all) {
        const verdict = judged.find(({ id }) => id === candidate.id);
        const facts = factsAgainst(wanted, candidate);
        const said = verdict?.fits ? [] : (verdict?.reasons.flatMap(factsOf) ?? []);
        expect(new Set(said)).toEqual(facts);
        expect(verdict?.fits).toBe(facts.size === 0);
        expect(verdict?.reasons.length).toBeGreaterThan(0);
      }
    }),
    RUNS,
  );
});

test('the numbers of a refusal show that too little is free', () => {
  assertProperty(
    fc.property(wish, candidates, (wanted, all) => {
      for (const { fits, reasons } of place(wanted, all).judged) {
        for (const { needed, free } of reasons.flatMap((reason) => comparison(reason) ?? [])) {
          expect(fits).toBe(false);
          expect(needed).toBeGreaterThan(free);
        }
      }
    }),
    RUNS,
  );
});

test('a candidate is chosen exactly when one fits, and it is the first', () => {
  assertProperty(
    fc.property(wish, candidates, (wanted, all) => {
      const { chosen, judged } = place(wanted, all);
      const fitting = all.filter((candidate) => factsAgainst(wanted, candidate).size === 0).map(({ id }) => id);
      expect(chosen === undefined).toBe(fitting.length === 0);
      if (chosen) expect(fitting).toContain(chosen.id);
      if (chosen) expect(judged[0]).toMatchObject({ kind: chosen.kind, id: chosen.id, fits: true });
    }),
    RUNS,
  );
});

test('no candidate that fits costs less than the chosen one', () => {
  assertProperty(
    fc.property(wish, candidates, (wanted, all) => {
      const costs = place(wanted, all).judged.flatMap(({ score }) => (score ? [Object.values(score)] : []));
      const [best = []] = costs;
      for (const cost of costs) {
        const differing = cost.findIndex((part, index) => part !== best[index]);
        if (differing >= 0) expect(cost[differing]).toBeGreaterThan(best[differing] ?? Number.POSITIVE_INFINITY);
      }
    }),
    RUNS,
  );
});

test('the order of the candidates changes nothing', () => {
  assertProperty(
    fc.property(shuffledAnd, ([wanted, all, shuffled]) => {
      expect(place(wanted, shuffled)).toEqual(place(wanted, all));
    }),
    RUNS,
  );
});

test('with a target the verdict is the one that it has among all candidates', () => {
  assertProperty(
    fc.property(wish, candidates, (wanted, all) => {
      const among = place(wanted, all);
      for (const { kind, id } of all) {
        const { chosen, judged } = place({ ...wanted, target: { kind, id } }, all);
        const before = among.judged.find((one) => one.id === id);
        expect(judged).toHaveLength(1);
        expect(judged[0]).toMatchObject({ kind, id, fits: before?.fits });
        if (judged[0]?.fits) expect(chosen).toMatchObject({ kind, id });
        else expect(judged[0]).toEqual(before);
      }
    }),
    byDepth({ short: 50, full: 500, long: 5000 }),
  );
});

/** Enough for each fact to come up. */
const SAMPLES = byDepth({ short: 300, full: 3000, long: 30_000 });

test('the generated wishes often fit, and every fact comes up', () => {
  const seen = new Map<string, number>();
  const sample = fc.sample(fc.tuple(wish, candidates), { numRuns: SAMPLES, seed });
  for (const [wanted, all] of sample) {
    for (const candidate of all) {
      const facts = factsAgainst(wanted, candidate);
      for (const fact of facts.size === 0 ? ['fits'] : facts) {
        const kind = fact.replace(/ (mesh|public|lab|data|logs|gpu\S*|zone\S*)$/, '');
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    }
  }
  expect(seen.size).toBe(15);
  expect(Math.min(...seen.values())).toBeGreaterThan(SAMPLES / 200);
  expect(seen.get('fits')).toBeGreaterThan(SAMPLES / 6);
});
