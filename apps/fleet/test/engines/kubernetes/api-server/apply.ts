import { isDeepStrictEqual } from 'node:util';
import { type Fields, fieldsOf, objectOf, shown } from './fields.ts';
import type { KindOf } from './kinds.ts';
import type { Stored, Tree } from './objects.ts';
import { Refusal } from './refusal.ts';
import type { Managers } from './store.ts';

/** Fields that server-side apply does not track. */
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
 * Server-side apply: sets the given fields, removes fields that the manager set before and no
 * longer gives, and keeps fields of other managers. @throws Refusal with 409 if other managers have
 * set given fields to other values
 */
export function applied({ live, config, managers, manager, force }: Applied): { object: Tree; managers: Managers } {
  const me = `${manager} Apply`;
  const desired = ownable(config);
  const fields = live ? fieldsOf(live) : new Map(fieldsOf(config));
  const owners = [...managers].filter(([name]) => name !== me);
  const isChanged = (path: string) => !isDeepStrictEqual(fields.get(path), desired.get(path));
  const clashes = [...desired.keys()].flatMap((path) =>
    isChanged(path) ? owners.filter(([, paths]) => paths.has(path)).map(([name]) => ({ path, name })) : [],
  );
  if (clashes.length > 0 && !force) throw clash(clashes, config.apiVersion);
  for (const { path, name } of clashes) managers.get(name)?.delete(path);
  for (const path of managers.get(me) ?? []) {
    const isOthers = owners.some(([, paths]) => paths.has(path));
    if (!desired.has(path) && !isOthers) fields.delete(path);
  }
  for (const [path, value] of desired) fields.set(path, value);
  return { object: objectOf(fields), managers: new Map([...owners, [me, new Set(desired.keys())]]) };
}

function clash(clashes: readonly { path: string; name: string }[], apiVersion: string): Refusal {
  const causes = clashes.map(({ path, name }) => {
    const [manager, operation] = name.split(' ');
    const how = operation === 'Update' ? ` using ${apiVersion}` : '';
    return { reason: 'FieldManagerConflict', message: `conflict with "${manager}"${how}`, field: shown(path) };
  });
  const conflicts = causes.map(({ message, field }) => `${message}: ${field}`).join('\n');
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`;
  return new Refusal(409, 'Conflict', { message: `Apply failed with ${count}: ${conflicts}`, details: { causes } });
}

interface Updated {
  readonly live: Stored;
  readonly patch: Tree;
  readonly managers: Managers;
  readonly manager: string;
}

/** An update as by `kubectl edit`: the manager owns the fields that it changes. */
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

/** The `managedFields` of an object. */
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
