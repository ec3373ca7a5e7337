import { isDeepStrictEqual } from 'node:util';
import { type Fields, fieldsOf, objectOf, shown } from './fields.ts';
import { type Manager, type Managers, othersThan, ownedBy, shownManager, withOwned } from './managers.ts';
import type { Stored, Tree } from './objects.ts';
import { Refusal } from './refusal.ts';

/** Fields that server-side apply does not track. */
const NOT_OWNED =
  /^\["f:(?:apiVersion|kind)"\]$|^\["f:metadata","f:(?:name|namespace|uid|resourceVersion|generation|creationTimestamp|deletionTimestamp|managedFields)"/;

const ownable = (object: object): Fields => new Map([...fieldsOf(object)].filter(([path]) => !NOT_OWNED.test(path)));

interface Changed {
  readonly object: Tree;
  readonly managers: Managers;
}

interface Applied {
  readonly live: Stored | undefined;
  readonly config: Stored;
  readonly managers: Managers;
  /** The name of the field manager. */
  readonly manager: string;
  readonly force: boolean;
}

/**
 * Server-side apply: sets the given fields, removes fields that the manager set before and no
 * longer gives, and keeps fields of other managers. @throws Refusal with 409 if other managers have
 * set given fields to other values
 */
export function applied({ live, config, managers, manager: name, force }: Applied): Changed {
  const manager: Manager = { name, operation: 'Apply' };
  const desired = ownable(config);
  const fields = live ? fieldsOf(live) : new Map(fieldsOf(config));
  const others = othersThan(managers, manager);
  const changed = [...desired.keys()].filter((path) => !isDeepStrictEqual(fields.get(path), desired.get(path)));
  const clashes = changed.flatMap((path) =>
    others.filter(({ paths }) => paths.has(path)).map((owner) => ({ path, by: shownManager(owner, config) })),
  );
  if (clashes.length > 0 && !force) throw clash(clashes);
  const removed = [...ownedBy(managers, manager)].filter(
    (path) => !desired.has(path) && !others.some(({ paths }) => paths.has(path)),
  );
  for (const path of removed) fields.delete(path);
  for (const [path, value] of desired) fields.set(path, value);
  const hasChanged = changed.length > 0 || removed.length > 0;
  const taken = new Set(clashes.map(({ path }) => path));
  return {
    object: objectOf(fields),
    managers: withOwned(managers, manager, { paths: new Set(desired.keys()), taken, hasChanged }),
  };
}

function clash(clashes: readonly { path: string; by: string }[]): Refusal {
  const causes = clashes.map(({ path, by }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${by}`,
    field: shown(path),
  }));
  const conflicts = causes.map(({ message, field }) => `${message}: ${field}`).join('\n');
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`;
  return new Refusal(409, 'Conflict', { message: `Apply failed with ${count}: ${conflicts}`, details: { causes } });
}

interface Updated {
  readonly live: Stored;
  readonly patch: Tree;
  readonly managers: Managers;
  readonly manager: Omit<Manager, 'operation'>;
}

/**
 * An update as by `kubectl edit`, or through a subresource: the manager owns the fields that it
 * changes, and no other manager owns them any more.
 */
export function updated({ live, patch, managers, manager: by }: Updated): Changed {
  const manager: Manager = { ...by, operation: 'Update' };
  const fields = fieldsOf(live);
  const changes = [...fieldsOf(patch)].filter(([path, value]) => !isDeepStrictEqual(fields.get(path), value));
  if (changes.length === 0) return { object: live, managers };
  for (const [path, value] of changes) fields.set(path, value);
  const taken = new Set(changes.map(([path]) => path));
  const paths = new Set([...ownedBy(managers, manager), ...taken]);
  return { object: objectOf(fields), managers: withOwned(managers, manager, { paths, taken, hasChanged: true }) };
}
