import { KEYS } from '../../render/labels.ts';
import type { Client } from './cluster-client.ts';
import { objectsWith } from './objects.ts';
import { removeOwned } from './remove.ts';
import { deleteVolume } from './volumes.ts';

/** Ids in one selector: it travels in the address of a request. */
const AT_ONCE = 50;

/**
 * Removes what is there of deployments and volumes that are gone for good: who was frozen as he asked for it has gone on.
 *
 * @param gone ids
 * @returns what was done
 */
export async function sweep(client: Client, gone: ReadonlySet<string>): Promise<string[]> {
  const ids = [...gone];
  const actions: string[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    actions.push(...(await sweepSome(client, ids.slice(from, from + AT_ONCE))));
  }
  return actions;
}

async function sweepSome(client: Client, ids: readonly string[]): Promise<string[]> {
  const oursIn = (key: string) => `${KEYS.managedBy}=fleet,${key} in (${ids.join()})`;
  const actions: string[] = [];
  for (const object of await objectsWith(client, oursIn(KEYS.deployment))) {
    const deploymentId = object.labels[KEYS.deployment] ?? '';
    actions.push(...(await removeOwned(client, object, { deploymentId, generation: Number.MAX_SAFE_INTEGER })));
  }
  for (const { name } of await objectsWith(client, oursIn(KEYS.storage), ['PersistentVolumeClaim'])) {
    actions.push(...(await deleteVolume(client, name)));
  }
  return actions;
}
