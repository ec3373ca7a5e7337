import { expect } from '@jest/globals';
import { aMirror, sinceQuery } from './mirror.ts';
import { ask, type Between, clockOf, expectSound, expectWhole, iso, namesOf } from './model-answers.ts';
import { type Caller, lostSince, momentOf } from './model-catalog.ts';

/**
 * A client that asks with `since`; each answer is whole. It takes part in no restore and is nobody else later: a bare
 * timestamp tells neither from a catalog that went on, so nothing is promised of them.
 */
export function aPoller(between: Between, caller: Caller) {
  const { history } = between;
  const { held, apply } = aMirror();
  let checked = 0;

  const since = async (moment: number) => {
    const answer = await ask(between, caller, sinceQuery(iso(moment)));
    if (!answer) return;
    const clock = clockOf(history);
    expectSound(answer, history, { caller, from: moment });
    expect(answer).toMatchObject({ checked_at: iso(clock), has_more: false });
    expect(answer.reset).toBe(history.floor !== undefined && moment < history.floor);
    if (moment === clock) expect(namesOf(answer)).toEqual([]);
    if (!answer.reset) expect(answer.removed).toHaveLength(lostSince(history.state, caller, moment).size);
    apply(answer);
    checked = Date.parse(answer.checked_at);
    await expectWhole(between, caller, held);
  };

  return {
    poll: () => since(checked),
    /** Nothing was written since it asked. */
    isIdle: () => checked === clockOf(history),
    /** Asks from an earlier stamp on than it needs to. */
    pollAgain: (back: number) => since(Math.min(checked, momentOf(history.state, back))),
  };
}

export type Poller = ReturnType<typeof aPoller>;
