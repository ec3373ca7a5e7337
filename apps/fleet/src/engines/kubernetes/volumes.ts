import { KEYS } from '../../render/labels.ts';
import { Transient } from '../errors.ts';
import type { Client } from './cluster-client.ts';
import { type Found, objectCalled } from './objects.ts';
import { remove } from './remove.ts';

const isOurs = ({ labels }: Found): boolean => labels[KEYS.managedBy] === 'fleet' && labels[KEYS.storage] !== undefined;

/** A volume of the fleet; undefined where there is none, or one that is not ours. */
async function volumeCalled(client: Client, name: string): Promise<Found | undefined> {
  const found = await objectCalled(client, 'PersistentVolumeClaim', name);
  return found && isOurs(found) ? found : undefined;
}

/** Has a volume of the fleet deleted; its cluster keeps it until no pod uses it. @returns what was done */
export async function deleteVolume(client: Client, name: string): Promise<string[]> {
  const found = await volumeCalled(client, name);
  return found && (await remove(client, found, { mayGo: isOurs })) ? [`removed the volume ${name}`] : [];
}

/**
 * Removes a volume of the fleet, and what is in it. @returns what was done: nothing where there is none of ours
 * @throws Transient while it is still there
 */
export async function removeVolume(client: Client, name: string): Promise<string[]> {
  const actions = await deleteVolume(client, name);
  if (await volumeCalled(client, name)) {
    throw new Transient('EngineError', `The volume ${name} is still in use, or its cluster is still removing it.`);
  }
  return actions;
}

/** Those of some volumes that are still there. */
export async function volumesLeft(client: Client, names: readonly string[]): Promise<Found[]> {
  const found = await Promise.all(names.map((name) => volumeCalled(client, name)));
  return found.filter((volume) => volume !== undefined);
}
