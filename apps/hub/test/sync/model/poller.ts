import { expect } from '@jest/globals';
import { aMirror, sinceQuery } from '../mirror.ts';
import { ask, clockOf, expectComplete, expectValid, idsOf, iso, type Scenario } from './answers.ts';
import { type Caller, lostSince, stampOf } from './catalog.ts';

/**
 * A client that syncs by `since`; each response contains all changes. It is not used with restored
 * databases and changed credentials, because a timestamp cannot detect them.
 */
export function aPoller(scenario: Scenario, caller: Caller) {
  const { history } = scenario;
  const { held, apply } = aMirror();
  let checked = 0;

  const since = async (time: number) => {
    const answer = await ask(scenario, caller, sinceQuery(iso(time)));
    if (!answer) return;
    const clock = clockOf(history);
    expectValid(answer, history, { caller, from: time });
    expect(answer).toMatchObject({ checked_at: iso(clock), has_more: false });
    expect(answer.reset).toBe(history.floor !== undefined && time < history.floor);
    if (time === clock) expect(idsOf(answer)).toEqual([]);
    if (!answer.reset) expect(answer.removed).toHaveLength(lostSince(history.state, caller, time).size);
    apply(answer);
    checked = Date.parse(answer.checked_at);
    await expectComplete(scenario, caller, held);
  };

  return {
    poll: () => since(checked),
    /** Whether nothing was written since the last sync. */
    isIdle: () => checked === clockOf(history),
    /** Syncs from a stamp before the last sync. */
    pollAgain: (back: number) => since(Math.min(checked, stampOf(history.state, back))),
  };
}

export type Poller = ReturnType<typeof aPoller>;
