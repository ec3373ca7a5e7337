import { grantKey, type TemplateScope } from '../../visibility/generated.ts';
import { type Kind, templates as table } from '../../visibility/table.ts';

/** An organization is identified by its index. */
export type Caller = 'administrator' | 'anonymous' | number;
export const callers: readonly Caller[] = ['administrator', 'anonymous', 0, 1, 2];

export interface Template extends TemplateScope {
  readonly id: string;
}

/** The part of a catalog that determines visibility. */
export interface Catalog {
  readonly categories: readonly { readonly id: string; readonly isPrivate: boolean }[];
  /** The template in slot n has the slug `template-n`. Swapping slugs swaps slots. */
  readonly templates: readonly (Template | undefined)[];
  /** "organization:category" of each grant. */
  readonly grants: ReadonlySet<string>;
}

type VisibleTemplates = ReadonlyMap<Caller, ReadonlySet<string>>;

/** The result of a write transaction: its stamp, and the ids that each caller sees after it. */
export interface Commit {
  readonly at: number;
  readonly seen: VisibleTemplates;
}

/** Immutable, so that a dump can refer to it. */
export interface State {
  readonly catalog: Catalog;
  readonly commits: readonly [Commit, ...Commit[]];
}

export const latest = ({ commits }: State): Commit => commits.at(-1) ?? commits[0];

/** Whether a caller sees a template according to the table of visibility. */
function sees(caller: Caller, { isPublic, category, owner }: TemplateScope, { categories, grants }: Catalog): boolean {
  const isGranted = typeof caller === 'number' && grants.has(grantKey(caller, category));
  const organization = isGranted ? 'granted' : 'ungranted';
  const ownedBy = owner === caller ? organization : 'another';
  const kind: Kind = `${isPublic ? 'public' : 'hidden'}, ${categories[category]?.isPrivate ? 'private' : 'open'}, owner ${
    owner === undefined ? 'none' : ownedBy
  }`;
  if (typeof caller === 'number') return table[kind][organization];
  return table[kind][caller === 'administrator' ? 'admin' : 'anonymous'];
}

/** The ids that each caller sees in a catalog. */
export const seenIn = (catalog: Catalog): VisibleTemplates =>
  new Map(
    callers.map((caller) => {
      const seen = catalog.templates.filter((given) => given !== undefined && sees(caller, given, catalog));
      return [caller, new Set(seen.flatMap((given) => given?.id ?? []))];
    }),
  );

/** The ids that a caller sees now. */
export const seenNow = (state: State, caller: Caller): ReadonlySet<string> =>
  latest(state).seen.get(caller) ?? new Set();

/** The ids that a caller saw at `time` or later and does not see now. */
export function lostSince(state: State, caller: Caller, time: number): ReadonlySet<string> {
  const now = seenNow(state, caller);
  const lasted = state.commits.filter((_, n) => (state.commits[n + 1]?.at ?? Number.POSITIVE_INFINITY) > time);
  return new Set(lasted.flatMap(({ seen }) => [...(seen.get(caller) ?? [])].filter((id) => !now.has(id))));
}

/**
 * The stamp of the commit that is `back` commits before the latest one, modulo the number of
 * commits.
 */
export const stampOf = ({ commits }: State, back: number): number =>
  commits[commits.length - 1 - (back % commits.length)]?.at ?? 0;
