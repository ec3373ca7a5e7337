import { expect } from '@jest/globals';
import type { TemplateUpdates } from '@svc/contract';
import { lostIn } from './mirror.ts';
import { type Caller, latest, lostSince, seenNow } from './model-catalog.ts';
import type { History } from './model-history.ts';
import type { Hub } from './model-hub.ts';

/** The hub that a client asks, and the history that says what it ought to hear. */
export interface Between {
  readonly hub: Hub;
  readonly history: History;
}

/** The catalog's time. */
export const clockOf = ({ state }: History) => latest(state).at;
export const iso = (moment: number) => new Date(moment).toISOString();
/** The ids that an answer names. */
export const namesOf = ({ templates, removed }: TemplateUpdates) => [...templates, ...removed].map(({ id }) => id);

/** @returns undefined for a caller that is suspended, after the answer said so. */
export async function ask(
  { hub, history }: Between,
  caller: Caller,
  query: string,
): Promise<TemplateUpdates | undefined> {
  const { status, body } = await hub.updates(caller, query);
  const isSuspended = typeof caller === 'number' && history.suspended.has(caller);
  expect(status === 200 ? status : [status, body.code]).toEqual(isSuspended ? [403, 'organization_suspended'] : 200);
  return isSuspended ? undefined : body;
}

/** An answer names nothing twice, no template that its caller doesn't see, and no removal of what it didn't lose. */
export function expectSound(
  answer: TemplateUpdates,
  { state }: History,
  since: { caller: Caller; from: number },
): void {
  const names = namesOf(answer);
  expect(names).toEqual([...new Set(names)]);
  const seen = seenNow(state, since.caller);
  expect(answer.templates.flatMap(({ id }) => (seen.has(id) ? [] : id))).toEqual([]);
  const lost = lostSince(state, since.caller, since.from);
  expect(answer.removed.flatMap(({ id }) => (lost.has(id) ? [] : id))).toEqual([]);
}

/** What a client holds is what its caller finds in the list, which is what the table shows to it. */
export async function expectWhole({ hub, history }: Between, caller: Caller, held: Parameters<typeof lostIn>[0]) {
  const listed = await hub.listing(caller);
  expect([...listed.keys()].sort()).toEqual([...seenNow(history.state, caller)].sort());
  expect(lostIn(held, listed)).toEqual([]);
}
