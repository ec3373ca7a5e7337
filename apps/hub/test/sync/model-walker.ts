import { expect } from '@jest/globals';
import type { TemplateUpdates } from '@svc/contract';
import { aMirror, sinceQuery } from './mirror.ts';
import { ask, type Between, clockOf, expectSound, expectWhole, iso, namesOf } from './model-answers.ts';
import { type Caller, type Commit, latest } from './model-catalog.ts';

const NO_CURSOR = 'start';

/** What was the case when a cursor was given. */
interface Given {
  readonly to: Caller;
  readonly after: Commit;
  readonly prunes: number;
}

/** A client that walks with `cursor`, and relies on nothing but that. */
export function aWalker(between: Between, first: Caller) {
  const { history } = between;
  const { held, apply } = aMirror();
  let caller = first;
  let cursor = NO_CURSOR;
  let given: Given | undefined;
  let checked = 0;
  let isWalking = true;
  /** From where on changes can be named. */
  let from = 0;

  /** A cursor that is known goes on; what is pruned may be known or not. */
  const expectReset = (reset: boolean) => {
    const isKnown = given !== undefined && given.to === caller && history.state.commits.includes(given.after);
    if (!isKnown) expect(reset).toBe(true);
    else if (given?.prunes === history.prunes) expect(reset).toBe(false);
  };
  const keep = (answer: TemplateUpdates) => {
    cursor = answer.cursor;
    isWalking = answer.has_more;
    given = { to: caller, after: latest(history.state), prunes: history.prunes };
    apply(answer);
  };

  const page = async (limit: number): Promise<TemplateUpdates | undefined> => {
    const answer = await ask(between, caller, `cursor=${cursor}&limit=${limit}`);
    if (!answer) return undefined;
    expectReset(answer.reset);
    if (answer.reset) [checked, from] = [0, clockOf(history)];
    expectSound(answer, history, { caller, from });
    expect(namesOf(answer).length).toBeLessThanOrEqual(limit);
    if (!answer.has_more) checked = from = clockOf(history);
    expect(answer.checked_at).toBe(iso(checked));
    keep(answer);
    if (!answer.has_more) await expectWhole(between, caller, held);
    return answer;
  };

  return {
    page,
    /** It has everything, and nothing was written since then. */
    isIdle: () => !isWalking && given?.to === caller && given.after === latest(history.state),
    /** Walks to the last page. While nothing is written, a walk names nothing twice, on whatever pages. */
    complete: async (limit: number): Promise<void> => {
      const names: string[] = [];
      for (let more: boolean | undefined = true; more; ) {
        const answer = await page(limit);
        more = answer?.has_more;
        const named = answer ? namesOf(answer) : [];
        if (more) expect(named).not.toEqual([]);
        names.push(...named);
        expect(names).toEqual([...new Set(names)]);
      }
    },
    /** Forgets the cursor and keeps what it holds. */
    restart: (limit: number) => {
      cursor = NO_CURSOR;
      given = undefined;
      isWalking = true;
      return page(limit);
    },
    /** Takes a whole answer to `since`, and goes on with the cursor that comes with it. */
    takeWhole: async (): Promise<void> => {
      const answer = await ask(between, caller, sinceQuery(iso(0)));
      if (!answer) return;
      expectSound(answer, history, { caller, from: 0 });
      checked = from = clockOf(history);
      expect(answer).toMatchObject({ checked_at: iso(checked), has_more: false });
      keep({ ...answer, reset: true });
      await expectWhole(between, caller, held);
    },
    /** Uses another credential, with what it has from the one before. */
    become: (other: Caller) => {
      caller = other;
    },
  };
}

export type Walker = ReturnType<typeof aWalker>;
