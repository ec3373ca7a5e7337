import { key, type Placed } from '../visibility/generated.ts';
import { type Kind, templates as table } from '../visibility/table.ts';

/** Organizations are told apart by their place among them. */
export type Caller = 'administrator' | 'anonymous' | number;
export const callers: readonly Caller[] = ['administrator', 'anonymous', 0, 1, 2];

export interface Template extends Placed {
  readonly id: string;
}

/** The catalog as far as visibility goes. */
export interface Catalog {
  readonly categories: readonly { readonly id: string; readonly isPrivate: boolean }[];
  /** By slug: whoever swaps slugs swaps places. */
  readonly templates: readonly (Template | undefined)[];
  /** "organization:category" of each grant. */
  readonly grants: ReadonlySet<string>;
}

type Seen = ReadonlyMap<Caller, ReadonlySet<string>>;

/** What a write transaction left behind: its stamp, and the ids that each caller saw from then on. */
export interface Commit {
  readonly at: number;
  readonly seen: Seen;
}

/** Never changed, only replaced: to dump it is to keep it. */
export interface State {
  readonly catalog: Catalog;
  readonly commits: readonly [Commit, ...Commit[]];
}

export const latest = ({ commits }: State): Commit => commits.at(-1) ?? commits[0];

/** Whether the table of the specification shows a template to a caller. */
function sees(caller: Caller, { isPublic, category, owner }: Placed, { categories, grants }: Catalog): boolean {
  const isGranted = typeof caller === 'number' && grants.has(key(caller, category));
  const organization = isGranted ? 'granted' : 'ungranted';
  const ownedBy = owner === caller ? organization : 'another';
  const kind: Kind = `${isPublic ? 'public' : 'hidden'}, ${categories[category]?.isPrivate ? 'private' : 'open'}, of ${
    owner === undefined ? 'nobody' : ownedBy
  }`;
  if (typeof caller === 'number') return table[kind][organization];
  return table[kind][caller === 'administrator' ? 'admin' : 'nobody'];
}

/** What each caller sees of a catalog. */
export const seenIn = (catalog: Catalog): Seen =>
  new Map(
    callers.map((caller) => {
      const seen = catalog.templates.filter((given) => given !== undefined && sees(caller, given, catalog));
      return [caller, new Set(seen.flatMap((given) => given?.id ?? []))];
    }),
  );

/** What a caller sees now. */
export const seenNow = (state: State, caller: Caller): ReadonlySet<string> =>
  latest(state).seen.get(caller) ?? new Set();

/** What a caller saw at a moment or at any time after it, and does not see now. */
export function lostSince(state: State, caller: Caller, moment: number): ReadonlySet<string> {
  const now = seenNow(state, caller);
  const lasted = state.commits.filter((_, n) => (state.commits[n + 1]?.at ?? Number.POSITIVE_INFINITY) > moment);
  return new Set(lasted.flatMap(({ seen }) => [...(seen.get(caller) ?? [])].filter((id) => !now.has(id))));
}

/** One of the stamps that there were, chosen by a number: 0 is the latest. */
export const momentOf = ({ commits }: State, back: number): number =>
  commits[commits.length - 1 - (back % commits.length)]?.at ?? 0;
