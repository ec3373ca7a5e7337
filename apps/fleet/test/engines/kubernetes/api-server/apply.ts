import { isDeepStrictEqual } from 'node:util';
import { type Fields, fieldsOf, objectOf, shown } from './fields.ts';
import type { KindOf } from './kinds.ts';
import type { Stored, Tree } from './objects.ts';
import { Refusal } from './refusal.ts';
import type { Managers } from './store.ts';

/** What server-side apply is never about. */
const NOT_OWNED =
  /^\["f:(?:apiVersion|kind)"\]$|^\["f:metadata","f:(?:name|namespace|uid|resourceVersion|generation|creationTimestamp|deletionTimestamp|managedFields)"/;

const ownable = (object: object): Fields => new Map([...fieldsOf(object)].filter(([path]) => !NOT_OWNED.test(path)));

interface Applied {
  readonly live: Stored | undefined;
  readonly config: Stored;
  readonly managers: Managers;
  readonly manager: string;
  readonly force: boolean;
}

/**
 * Server-side apply: sets what is said, takes away what the manager said before and says no more, and leaves alone what
 * others have set. @throws 409 where others have set what is said otherwise
 */
export function applied({ live, config, managers, manager, force }: Applied): { object: Tree; managers: Managers } {
  const me = `${manager} Apply`;
  const wished = ownable(config);
  const fields = live ? fieldsOf(live) : new Map(fieldsOf(config));
  const owners = [...managers].filter(([name]) => name !== me);
  const isChanged = (path: string) => !isDeepStrictEqual(fields.get(path), wished.get(path));
  const clashes = [...wished.keys()].flatMap((path) =>
    isChanged(path) ? owners.filter(([, paths]) => paths.has(path)).map(([name]) => ({ path, name })) : [],
  );
  if (clashes.length > 0 && !force) throw clash(clashes, config.apiVersion);
  for (const { path, name } of clashes) managers.get(name)?.delete(path);
  for (const path of managers.get(me) ?? []) {
    const isOthers = owners.some(([, paths]) => paths.has(path));
    if (!wished.has(path) && !isOthers) fields.delete(path);
  }
  for (const [path, value] of wished) fields.set(path, value);
  return { object: objectOf(fields), managers: new Map([...owners, [me, new Set(wished.keys())]]) };
}

function clash(clashes: readonly { path: string; name: string }[], apiVersion: string): Refusal {
  const causes = clashes.map(({ path, name }) => {
    const [manager, operation] = name.split(' ');
    const how = operation === 'Update' ? ` using ${apiVersion}` : '';
    return { reason: 'FieldManagerConflict', message: `conflict with "${manager}"${how}`, field: shown(path) };
  });
  const said = causes.map(({ message, field }) => `${message}: ${field}`).join('\n');
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`;
  return new Refusal(409, 'Conflict', { message: `Apply failed with ${count}: ${said}`, details: { causes } });
}

interface Updated {
  readonly live: Stored;
  readonly patch: Tree;
  readonly managers: Managers;
  readonly manager: string;
}

/** What `kubectl edit` does: whoever changes a field has it. */
export function updated({ live, patch, managers, manager }: Updated): { object: Tree; managers: Managers } {
  const me = `${manager} Update`;
  const fields = fieldsOf(live);
  const mine = managers.get(me) ?? new Set();
  for (const [path, value] of fieldsOf(patch)) {
    if (isDeepStrictEqual(fields.get(path), value)) continue;
    for (const paths of managers.values()) paths.delete(path);
    fields.set(path, value);
    mine.add(path);
  }
  return { object: objectOf(fields), managers: managers.set(me, mine) };
}

/** As objects show who has set what. */
export const managedFields = (managers: Managers, { apiVersion }: KindOf): object[] =>
  [...managers].map(([name, paths]) => {
    const [manager, operation] = name.split(' ');
    return { manager, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1: tree([...paths]) };
  });

function tree(paths: readonly string[]): Tree {
  const root: Tree = {};
  for (const path of paths) {
    let into = root;
    for (const step of JSON.parse(path) as string[]) {
      into[step] ??= {};
      into = into[step] as Tree;
    }
  }
  return root;
}
