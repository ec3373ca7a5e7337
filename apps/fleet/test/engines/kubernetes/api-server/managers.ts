import { isDeepStrictEqual } from 'node:util';
import type { KindOf } from './kinds.ts';
import { isTree, moment, type Tree } from './objects.ts';

/** A field manager, with the kind of its requests. */
export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  /** `scale`, … */
  readonly subresource?: string | undefined;
}

/** The fields that a manager owns, and when it last changed one. */
interface Owned {
  readonly manager: Manager;
  readonly paths: ReadonlySet<string>;
  readonly time: string;
}

/** The owned fields of each manager, by the key of the manager. */
export type Managers = ReadonlyMap<string, Owned>;

const keyOf = ({ name, operation, subresource = '' }: Manager): string => [operation, subresource, name].join(' ');

export const ownedBy = (managers: Managers, manager: Manager): ReadonlySet<string> =>
  managers.get(keyOf(manager))?.paths ?? new Set();

/** The other managers, each with the fields that it owns. */
export const othersThan = (managers: Managers, manager: Manager): Owned[] =>
  [...managers].filter(([key]) => key !== keyOf(manager)).map(([, owned]) => owned);

/**
 * Lets a manager own exactly these fields, and no other manager the `taken` ones. A manager without
 * fields is removed. The time is that of the last change.
 */
export function withOwned(
  managers: Managers,
  manager: Manager,
  {
    paths,
    taken,
    hasChanged,
  }: { readonly paths: ReadonlySet<string>; readonly taken: ReadonlySet<string>; readonly hasChanged: boolean },
): Managers {
  const before = managers.get(keyOf(manager));
  const isSame = before !== undefined && !hasChanged && isDeepStrictEqual(before.paths, paths);
  const others = [...managers]
    .filter(([key]) => key !== keyOf(manager))
    .map(
      ([key, owned]) =>
        [key, { ...owned, paths: new Set([...owned.paths].filter((path) => !taken.has(path))) }] as const,
    );
  const all = [...others, [keyOf(manager), { manager, paths, time: isSame ? before.time : moment() }] as const];
  return new Map(all.filter(([, { paths: owned }]) => owned.size > 0));
}

/** A manager in a message about a conflict. */
export function shownManager({ manager, time }: Owned, { apiVersion }: Pick<KindOf, 'apiVersion'>): string {
  const { name, operation, subresource } = manager;
  const through = subresource ? ` with subresource ${JSON.stringify(subresource)}` : '';
  const how = operation === 'Update' ? ` using ${apiVersion} at ${time}` : '';
  return `${JSON.stringify(name)}${through}${how}`;
}

/** The `managedFields` of an object. */
export const managedFields = (managers: Managers, { apiVersion }: KindOf): object[] =>
  [...managers.values()].map(({ manager: { name, operation, subresource }, paths, time }) => ({
    manager: name,
    operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: tree([...paths]),
    ...(subresource && { subresource }),
  }));

function tree(paths: readonly string[]): Tree {
  const root: Tree = {};
  for (const path of paths) {
    let into = root;
    for (const step of JSON.parse(path) as string[]) {
      if (!isTree(into[step])) into[step] = {};
      into = into[step] as Tree;
    }
  }
  return root;
}
