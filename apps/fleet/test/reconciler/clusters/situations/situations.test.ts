// What the API shows in situations of real clusters. Each has a way out: the deployment runs, or the message or a
// condition states what to do. Needs the test cluster of infra/cluster with two real nodes. FLEET_TEST_SITUATIONS names a
// file to which the table of all outcomes is written.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LONG_TEST_MS } from '@svc/testing';
import { describeWithCluster } from '@svc/testing/cluster';
import { access } from './access.ts';
import { failures } from './failures.ts';
import { type Lab, startLab } from './lab.ts';
import { assertOutcome, type Outcome } from './outcome.ts';
import { policies } from './policies.ts';
import { programs } from './programs.ts';
import { resources } from './resources.ts';
import { markdownOf, type Situation } from './situation.ts';

/** Situations that affect only their own namespace. They mostly wait, so several run at the same time. */
const INDEPENDENT = [...access, ...programs, ...policies, ...resources];
const AT_THE_SAME_TIME = 4;

type Result = { readonly outcome: Outcome } | { readonly error: unknown };

describeWithCluster('situations of a real cluster:', (cluster) => {
  let lab: Lab;
  const outcomes = new Map<Situation, Outcome>();
  const results = new Map<Situation, Promise<Result>>();

  const perform = async (situation: Situation): Promise<Result> => {
    const places: Awaited<ReturnType<Lab['aPlace']>>[] = [];
    const aPlace: Lab['aPlace'] = async (given) => {
      const place = await lab.aPlace(given);
      places.push(place);
      return place;
    };
    try {
      return { outcome: await situation.run({ ...lab, aPlace }) };
    } catch (error) {
      return { error };
    } finally {
      for (const place of places) await place.remove().catch(() => undefined);
    }
  };
  const check = (situation: Situation, result: Result | undefined) => {
    if (result === undefined || 'error' in result) throw result?.error ?? new Error('it was not performed');
    assertOutcome(result.outcome, situation.shows);
    outcomes.set(situation, result.outcome);
  };

  beforeAll(async () => {
    lab = await startLab(cluster());
    expect(lab.nodes.length).toBeGreaterThanOrEqual(2);
    const waiting = [...INDEPENDENT];
    const settled = new Map(waiting.map((each) => [each, Promise.withResolvers<Result>()]));
    for (const [each, { promise }] of settled) results.set(each, promise);
    for (let worker = 0; worker < AT_THE_SAME_TIME; worker += 1) {
      void (async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) settled.get(next)?.resolve(await perform(next));
      })();
    }
  });
  afterAll(async () => {
    await Promise.all(results.values());
    await lab?.stop();
    const file = process.env.FLEET_TEST_SITUATIONS;
    const rows = [...outcomes].map(([situation, outcome]) => ({ situation, outcome }));
    if (file) writeFileSync(file, markdownOf(rows));
  }, LONG_TEST_MS);

  describe('in a namespace,', () => {
    test.each(INDEPENDENT.map((each) => [each.name, each] as const))(
      '%s',
      async (_name, each) => check(each, await results.get(each)),
      LONG_TEST_MS,
    );
  });

  describe('in the whole cluster,', () => {
    test.each(failures.map((each) => [each.name, each] as const))(
      '%s',
      async (_name, each) => check(each, await perform(each)),
      LONG_TEST_MS,
    );
  });

  test('there are at least 40', () => {
    expect(INDEPENDENT.length + failures.length).toBeGreaterThanOrEqual(40);
    expect(new Set([...INDEPENDENT, ...failures].map(({ name }) => name)).size).toBe(
      INDEPENDENT.length + failures.length,
    );
  });
});
