import { isDeepStrictEqual } from 'node:util';
import { type Shown, titleOf } from './manifest.ts';

export interface Difference {
  readonly action: 'create' | 'replace' | 'delete';
  readonly object: string;
  /** JSON pointers (RFC 6901). */
  readonly paths: string[];
}

/** What a manifest would change of another one, object by object. */
export function differencesOf(before: readonly Shown[], after: readonly Shown[]): Difference[] {
  const [old, fresh] = [byTitle(before), byTitle(after)];
  const changed = [...fresh].flatMap(([object, value]): Difference[] => {
    const former = old.get(object);
    if (former === undefined) return [{ action: 'create', object, paths: [] }];
    const paths = pathsOf(former, value, '');
    return paths.length === 0 ? [] : [{ action: 'replace', object, paths }];
  });
  const gone = [...old.keys()].filter((object) => !fresh.has(object));
  return [...changed, ...gone.map((object): Difference => ({ action: 'delete', object, paths: [] }))];
}

const byTitle = (objects: readonly Shown[]) => new Map(objects.map((object) => [titleOf(object), object]));

/**
 * The paths at which two values differ. Arrays of different lengths differ as a whole. Hand-written: a JSON Patch library
 * (RFC 6902) lists each insertion and removal inside an array instead.
 */
function pathsOf(one: unknown, other: unknown, path: string): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isBranch(one) || !isBranch(other) || Array.isArray(one) !== Array.isArray(other)) return [path];
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return [path];
  const [left, right] = [one as Shown, other as Shown];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return keys.flatMap((key) => pathsOf(left[key], right[key], `${path}/${escaped(key)}`));
}

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null;

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
