import type { BoundVolume, Rendering } from './rendering.ts';

/**
 * Room for a name of ours, so that no engine ever has to cut one: a pod is called `<deployment>-<10>-<5>`, that of a job
 * `<deployment>-<generation>-<5>`, and 63 characters is what a label and a host name hold.
 */
const MAX_OBJECT = 46;
const MAX_VOLUME = 63;

/** Random in every version of UUID that we make; the first digits of a version 7 are the time, alike in neighbours. */
const tail = (id: string): string => id.slice(-8);

/**
 * Readable and of one row only: the name, and the end of the id. A deployment that was deleted and made again under its
 * name gets other objects, so it can neither adopt what the old one left behind nor wait for its removal.
 */
function nameOf(row: { readonly id: string; readonly name: string }, max: number): string {
  // A Service must begin with a letter (RFC 1035), a name in the fleet need not.
  const named = /^[a-z]/.test(row.name) ? row.name : `d-${row.name}`;
  return `${named.slice(0, max - 9).replace(/-+$/, '')}-${tail(row.id)}`;
}

/** What the objects of a deployment are called. */
export const objectName = (rendering: Pick<Rendering, 'id' | 'name'>): string => nameOf(rendering, MAX_OBJECT);

/** What a volume is called, whichever deployments use it. */
export const volumeName = ({ id, name }: Pick<BoundVolume, 'id' | 'name'>): string => nameOf({ id, name }, MAX_VOLUME);
