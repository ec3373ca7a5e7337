import { expect } from '@jest/globals';
import type { TemplateUpdates } from '@svc/contract';
import { aMirror, sinceQuery } from '../mirror.ts';
import { ask, clockOf, expectComplete, expectValid, idsOf, iso, type Scenario } from './answers.ts';
import { type Caller, type Commit, latest } from './catalog.ts';

const NO_CURSOR = 'start';

/** The state when a cursor was issued. */
interface CursorOrigin {
  readonly to: Caller;
  readonly after: Commit;
  readonly prunes: number;
}

/** A client that syncs by `cursor`, and relies only on the cursor. */
export function aWalker(scenario: Scenario, first: Caller) {
  const { history } = scenario;
  const { held, apply } = aMirror();
  let caller = first;
  let cursor = NO_CURSOR;
  let origin: CursorOrigin | undefined;
  let checked = 0;
  let isWalking = true;
  /** The earliest time from which a page can contain removals. */
  let from = 0;

  /** Expects no reset for a known cursor. After a prune, both are allowed. */
  const expectReset = (reset: boolean) => {
    const isKnown = origin !== undefined && origin.to === caller && history.state.commits.includes(origin.after);
    if (!isKnown) expect(reset).toBe(true);
    else if (origin?.prunes === history.prunes) expect(reset).toBe(false);
  };
  const keep = (answer: TemplateUpdates) => {
    cursor = answer.cursor;
    isWalking = answer.has_more;
    origin = { to: caller, after: latest(history.state), prunes: history.prunes };
    apply(answer);
  };

  const page = async (limit: number): Promise<TemplateUpdates | undefined> => {
    const answer = await ask(scenario, caller, `cursor=${cursor}&limit=${limit}`);
    if (!answer) return undefined;
    expectReset(answer.reset);
    if (answer.reset) [checked, from] = [0, clockOf(history)];
    expectValid(answer, history, { caller, from });
    expect(idsOf(answer).length).toBeLessThanOrEqual(limit);
    if (!answer.has_more) checked = from = clockOf(history);
    expect(answer.checked_at).toBe(iso(checked));
    keep(answer);
    if (!answer.has_more) await expectComplete(scenario, caller, held);
    return answer;
  };

  return {
    page,
    /** Whether the client has all changes, and nothing was written since its last page. */
    isIdle: () => !isWalking && origin?.to === caller && origin.after === latest(history.state),
    /** Walks to the last page. Without concurrent writes, no id occurs twice in a walk. */
    walkToEnd: async (limit: number): Promise<void> => {
      const names: string[] = [];
      for (let more: boolean | undefined = true; more; ) {
        const answer = await page(limit);
        more = answer?.has_more;
        const named = answer ? idsOf(answer) : [];
        if (more) expect(named).not.toEqual([]);
        names.push(...named);
        expect(names).toEqual([...new Set(names)]);
      }
    },
    /** Discards the cursor, and keeps the copy. */
    restart: (limit: number) => {
      cursor = NO_CURSOR;
      origin = undefined;
      isWalking = true;
      return page(limit);
    },
    /** Syncs once by `since`, and continues with the cursor of the response. */
    syncBySince: async (): Promise<void> => {
      const answer = await ask(scenario, caller, sinceQuery(iso(0)));
      if (!answer) return;
      expectValid(answer, history, { caller, from: 0 });
      checked = from = clockOf(history);
      expect(answer).toMatchObject({ checked_at: iso(checked), has_more: false });
      keep({ ...answer, reset: true });
      await expectComplete(scenario, caller, held);
    },
    /** Continues with another credential, and keeps the copy and the cursor. */
    switchCaller: (other: Caller) => {
      caller = other;
    },
  };
}

export type Walker = ReturnType<typeof aWalker>;
