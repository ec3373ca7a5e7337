import type { Placed } from '../visibility/generated.ts';
import { type Caller, type Catalog, latest, type State, seenIn } from './model-catalog.ts';
import type { Hub } from './model-hub.ts';
import { createCategory, type Write, type Writing, write } from './model-writes.ts';

/** What a history begins with: the catalog, in one commit, and who walks. */
export interface Beginning {
  readonly privacy: readonly boolean[];
  readonly templates: readonly { readonly rank: number; readonly placed: Placed }[];
  readonly grants: readonly (readonly [number, number])[];
  readonly walkers: readonly Caller[];
}

export const PLACES = 8;

/** Where a history stands: everything that the hub ought to know, and what happened to it. */
export interface History {
  state: State;
  /** As the hub has it. */
  floor: number | undefined;
  dump: { readonly text: string; readonly state: State; readonly floor: number | undefined } | undefined;
  /** How often the hub's past was pruned. */
  prunes: number;
  /** Organizations. */
  readonly suspended: Set<number>;
  readonly newId: (rank: number) => string;
}

export async function begin(hub: Hub, beginning: Beginning): Promise<History> {
  await hub.clear();
  const newId = idsByRank();
  const categories = beginning.privacy.map((isPrivate) => ({ id: newId(0), isPrivate }));
  const blank = { categories, templates: Array.from({ length: PLACES }, () => undefined), grants: new Set<string>() };
  const { done: catalog, at } = await hub.write(async (tables) => {
    for (const [category, given] of categories.entries()) await createCategory(tables, { ...given, category });
    return writeAll({ tables, catalog: blank, organizations: hub.organizations, newId }, writesOf(beginning));
  });
  const state: State = { catalog, commits: [{ at, seen: seenIn(catalog) }] };
  return { state, floor: undefined, dump: undefined, prunes: 0, suspended: new Set(), newId };
}

/** What the first commit writes, beside its categories. */
export const writesOf = ({ templates, grants }: Beginning): Write[] => [
  ...templates.map((given, place) => ({ kind: 'create', place, ...given }) as const),
  ...grants.map(([organization, category]) => ({ kind: 'grant', organization, category }) as const),
];

async function writeAll(writing: Writing, writes: readonly Write[]): Promise<Catalog> {
  let { catalog } = writing;
  for (const one of writes) catalog = await write({ ...writing, catalog }, one);
  return catalog;
}

/** Ids that never come back, in the order of their ranks and not of their making. */
function idsByRank() {
  let made = 0;
  return (rank: number) => `${hex(rank, 8)}-0000-4000-8000-${hex(++made, 12)}`;
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');

/** Writes under one stamp. */
export async function commit(history: History, hub: Hub, writes: readonly Write[]): Promise<void> {
  const { newId, state } = history;
  const { done: catalog, at } = await hub.write((tables) =>
    writeAll({ tables, catalog: state.catalog, organizations: hub.organizations, newId }, writes),
  );
  history.state = { catalog, commits: [...state.commits, { at, seen: seenIn(catalog) }] };
}

/** A commit that leaves everything as it is. */
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

/** The catalog is again what it was: whatever was written since then never happened. */
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
