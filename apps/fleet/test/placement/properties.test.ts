import { byDepth, seed } from '@svc/testing';
import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import { place } from '../../src/placement/place.ts';
import { candidates, placementRequest } from './generated.ts';
import { factsAgainst } from './oracle.ts';
import { comparison, factsOf } from './read-reason.ts';

const RUNS = byDepth({ short: 200, full: 2000, long: 20_000 });

const shuffledAnd = fc
  .tuple(placementRequest, candidates)
  .chain(([request, all]) =>
    fc.tuple(fc.constant(request), fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );

test('a candidate fits if there is no fact against it, and a rejection states exactly the facts', () => {
  assertProperty(
    fc.property(placementRequest, candidates, (request, all) => {
      const { assessments } = place(request, all);
      expect(assessments.map(({ id }) => id).toSorted()).toEqual(all.map(({ id }) => id));
      for (const candidate of all) {
        const assessment = assessments.find(({ id }) => id === candidate.id);
        const facts = factsAgainst(request, candidate);
        const reasons = assessment?.fits ? [] : (assessment?.reasons.flatMap(factsOf) ?? []);
        expect(new Set(reasons)).toEqual(facts);
        expect(assessment?.fits).toBe(facts.size === 0);
        expect(assessment?.reasons.length).toBeGreaterThan(0);
      }
    }),
    RUNS,
  );
});

test('the numbers in a rejection show that too little is available', () => {
  assertProperty(
    fc.property(placementRequest, candidates, (request, all) => {
      for (const { fits, reasons } of place(request, all).assessments) {
        for (const { needed, free } of reasons.flatMap((reason) => comparison(reason) ?? [])) {
          expect(fits).toBe(false);
          expect(needed).toBeGreaterThan(free);
        }
      }
    }),
    RUNS,
  );
});

test('a candidate is chosen if and only if one fits, and it is listed first', () => {
  assertProperty(
    fc.property(placementRequest, candidates, (request, all) => {
      const { chosen, assessments } = place(request, all);
      const fitting = all.filter((candidate) => factsAgainst(request, candidate).size === 0).map(({ id }) => id);
      expect(chosen === undefined).toBe(fitting.length === 0);
      if (chosen) expect(fitting).toContain(chosen.id);
      if (chosen) expect(assessments[0]).toMatchObject({ kind: chosen.kind, id: chosen.id, fits: true });
    }),
    RUNS,
  );
});

test('no candidate that fits has a better score than the chosen one', () => {
  assertProperty(
    fc.property(placementRequest, candidates, (request, all) => {
      const costs = place(request, all).assessments.flatMap(({ score }) => (score ? [Object.values(score)] : []));
      const [best = []] = costs;
      for (const cost of costs) {
        const differing = cost.findIndex((part, index) => part !== best[index]);
        if (differing >= 0) expect(cost[differing]).toBeGreaterThan(best[differing] ?? Number.POSITIVE_INFINITY);
      }
    }),
    RUNS,
  );
});

test('the order of the candidates does not affect the placement', () => {
  assertProperty(
    fc.property(shuffledAnd, ([request, all, shuffled]) => {
      expect(place(request, shuffled)).toEqual(place(request, all));
    }),
    RUNS,
  );
});

test('a target is assessed in the same way as among all candidates', () => {
  assertProperty(
    fc.property(placementRequest, candidates, (request, all) => {
      const among = place(request, all);
      for (const { kind, id } of all) {
        const { chosen, assessments } = place({ ...request, target: { kind, id } }, all);
        const before = among.assessments.find((one) => one.id === id);
        expect(assessments).toHaveLength(1);
        expect(assessments[0]).toMatchObject({ kind, id, fits: before?.fits });
        if (assessments[0]?.fits) expect(chosen).toMatchObject({ kind, id });
        else expect(assessments[0]).toEqual(before);
      }
    }),
    byDepth({ short: 50, full: 500, long: 5000 }),
  );
});

/** Enough samples for each fact to occur. */
const SAMPLES = byDepth({ short: 300, full: 3000, long: 30_000 });

test('the generated requests often fit, and every fact occurs', () => {
  const seen = new Map<string, number>();
  const sample = fc.sample(fc.tuple(placementRequest, candidates), { numRuns: SAMPLES, seed });
  for (const [request, all] of sample) {
    for (const candidate of all) {
      const facts = factsAgainst(request, candidate);
      for (const fact of facts.size === 0 ? ['fits'] : facts) {
        const kind = fact.replace(/ (mesh|public|lab|data|logs|gpu\S*|zone\S*)$/, '');
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    }
  }
  expect(seen.size).toBe(17);
  expect(Math.min(...seen.values())).toBeGreaterThan(SAMPLES / 200);
  expect(seen.get('fits')).toBeGreaterThan(SAMPLES / 6);
});
