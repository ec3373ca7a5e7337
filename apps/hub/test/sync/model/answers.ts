import { expect } from '@jest/globals';
import type { TemplateUpdates } from '@svc/contract';
import { lostIn } from '../mirror.ts';
import { type Caller, latest, lostSince, seenNow } from './catalog.ts';
import type { History } from './history.ts';
import type { Hub } from './hub.ts';

/** The hub, and the history that determines the expected responses. */
export interface Scenario {
  readonly hub: Hub;
  readonly history: History;
}

/** The time of the catalog clock. */
export const clockOf = ({ state }: History) => latest(state).at;
export const iso = (time: number) => new Date(time).toISOString();
/** The ids in a response. */
export const idsOf = ({ templates, removed }: TemplateUpdates) => [...templates, ...removed].map(({ id }) => id);

/**
 * Requests updates. @returns undefined for a suspended caller, after checking that it receives a
 * 403
 */
export async function ask(
  { hub, history }: Scenario,
  caller: Caller,
  query: string,
): Promise<TemplateUpdates | undefined> {
  const { status, body } = await hub.updates(caller, query);
  const isSuspended = typeof caller === 'number' && history.suspended.has(caller);
  expect(status === 200 ? status : [status, body.code]).toEqual(isSuspended ? [403, 'organization_suspended'] : 200);
  return isSuspended ? undefined : body;
}

/**
 * Expects that ids are unique, that the caller sees all sent templates, and that it saw all removed
 * templates before.
 */
export function expectValid(
  answer: TemplateUpdates,
  { state }: History,
  since: { caller: Caller; from: number },
): void {
  const names = idsOf(answer);
  expect(names).toEqual([...new Set(names)]);
  const seen = seenNow(state, since.caller);
  expect(answer.templates.flatMap(({ id }) => (seen.has(id) ? [] : id))).toEqual([]);
  const lost = lostSince(state, since.caller, since.from);
  expect(answer.removed.flatMap(({ id }) => (lost.has(id) ? [] : id))).toEqual([]);
}

/**
 * Expects that the copy of a client equals the list, and that the list contains the templates that
 * the model shows.
 */
export async function expectComplete({ hub, history }: Scenario, caller: Caller, held: Parameters<typeof lostIn>[0]) {
  const listed = await hub.listing(caller);
  expect([...listed.keys()].sort()).toEqual([...seenNow(history.state, caller)].sort());
  expect(lostIn(held, listed)).toEqual([]);
}
