import type { TemplateScope } from '../../visibility/generated.ts';
import { type Caller, type Catalog, latest, type State, seenIn } from './catalog.ts';
import type { Hub } from './hub.ts';
import { createCategory, type Write, type WriteContext, write } from './writes.ts';

/**
 * The start of a history: the catalog, written in one commit, and the callers of the walking
 * clients.
 */
export interface InitialState {
  readonly privacy: readonly boolean[];
  readonly templates: readonly { readonly rank: number; readonly scope: TemplateScope }[];
  readonly grants: readonly (readonly [number, number])[];
  readonly walkers: readonly Caller[];
}

export const SLOTS = 8;

/**
 * The current state of a history: the expected state of the hub, and the events that affect
 * clients.
 */
export interface History {
  state: State;
  /** The floor of the hub. */
  floor: number | undefined;
  dump: { readonly text: string; readonly state: State; readonly floor: number | undefined } | undefined;
  /** The number of prunes. */
  prunes: number;
  /** The suspended organizations. */
  readonly suspended: Set<number>;
  readonly newId: (rank: number) => string;
}

export async function beginHistory(hub: Hub, initialState: InitialState): Promise<History> {
  await hub.clear();
  const newId = idsByRank();
  const categories = initialState.privacy.map((isPrivate) => ({ id: newId(0), isPrivate }));
  const blank = { categories, templates: Array.from({ length: SLOTS }, () => undefined), grants: new Set<string>() };
  const { done: catalog, at } = await hub.write(async (tables) => {
    for (const [category, given] of categories.entries()) await createCategory(tables, { ...given, category });
    return writeAll({ tables, catalog: blank, organizations: hub.organizations, newId }, writesOf(initialState));
  });
  const state: State = { catalog, commits: [{ at, seen: seenIn(catalog) }] };
  return { state, floor: undefined, dump: undefined, prunes: 0, suspended: new Set(), newId };
}

/** The writes of the first commit, without the categories. */
export const writesOf = ({ templates, grants }: InitialState): Write[] => [
  ...templates.map((given, slot) => ({ kind: 'create', slot, ...given }) as const),
  ...grants.map(([organization, category]) => ({ kind: 'grant', organization, category }) as const),
];

async function writeAll(context: WriteContext, writes: readonly Write[]): Promise<Catalog> {
  let { catalog } = context;
  for (const one of writes) catalog = await write({ ...context, catalog }, one);
  return catalog;
}

/** Creates unique ids that sort by rank, not by the order of creation. */
function idsByRank() {
  let made = 0;
  return (rank: number) => `${hex(rank, 8)}-0000-4000-8000-${hex(++made, 12)}`;
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');

/** Applies writes in one transaction, with one stamp. */
export async function commit(history: History, hub: Hub, writes: readonly Write[]): Promise<void> {
  const { newId, state } = history;
  const { done: catalog, at } = await hub.write((tables) =>
    writeAll({ tables, catalog: state.catalog, organizations: hub.organizations, newId }, writes),
  );
  history.state = { catalog, commits: [...state.commits, { at, seen: seenIn(catalog) }] };
}

/** Simulates that the wall clock is set back: a commit that changes only the catalog clock. */
export async function stepClockBack(history: History, hub: Hub): Promise<void> {
  const { catalog, commits } = history.state;
  const { seen } = latest(history.state);
  history.state = { catalog, commits: [...commits, { at: await hub.stepClockBack(), seen }] };
}

export async function prune(history: History, hub: Hub, before: number): Promise<void> {
  history.floor = await hub.prune(before);
  history.prunes += 1;
}

export async function takeDump(history: History, hub: Hub): Promise<void> {
  const { state, floor } = history;
  history.dump = { text: await hub.dump(), state, floor };
}

/** Restores the state of the last dump. Later writes are lost. */
export async function restore(history: History, hub: Hub): Promise<void> {
  if (!history.dump) return;
  const { text, state, floor } = history.dump;
  await hub.restore(text);
  Object.assign(history, { state, floor });
}

export async function suspend(history: History, hub: Hub, organization: number): Promise<void> {
  await hub.setStatus(organization, 'suspended');
  history.suspended.add(organization);
}

export async function reactivate(history: History, hub: Hub, organization: number): Promise<void> {
  await hub.setStatus(organization, 'active');
  history.suspended.delete(organization);
}
