import type { Fence } from '../fence.ts';
import type { Client } from './cluster-client.ts';
import { called, deleteObject, type Found, objectCalled } from './objects.ts';
import { demandLatest } from './overtaken.ts';
import { changedMeanwhile } from './refused.ts';

const TRIES = 5;

interface Removal {
  /** Asked of an object as it is now, before it is deleted as such. */
  readonly mayGo: (found: Found) => boolean;
  readonly tries?: number;
}

/**
 * Has an object deleted, with all that it has made; it may take a while to be gone. Nothing happens to one that is being
 * deleted already, or that is another one by now.
 *
 * @returns whether it was deleted now
 */
export async function remove(client: Client, found: Found, { mayGo, tries = TRIES }: Removal): Promise<boolean> {
  if (found.leaving || !mayGo(found)) return false;
  try {
    await deleteObject(client, found);
    return true;
  } catch (error) {
    if (!changedMeanwhile(error) || tries === 1) throw error;
    const now = await objectCalled(client, found.kind, found.name);
    return now?.uid === found.uid ? remove(client, now, { mayGo, tries: tries - 1 }) : false;
  }
}

/** Has an object of a deployment deleted. @returns what was done @throws Overtaken */
export async function removeOwned(client: Client, found: Found, fence: Fence): Promise<string[]> {
  const mayGo = (now: Found) => {
    demandLatest([now], fence);
    return true;
  };
  return (await remove(client, found, { mayGo })) ? [`removed ${called(found)}`] : [];
}
