import { KEYS } from '../../render/labels.ts';
import { eachOf } from '../each-of.ts';
import { listed, listedVolumes } from './answers.ts';
import { clear } from './clear.ts';
import type { Client } from './engine-client.ts';
import { removeVolume } from './volumes.ts';

const OURS = JSON.stringify({ label: [`${KEYS.managedBy}=fleet`] });

/**
 * Removes what is there of deployments and volumes that are gone for good: who was frozen as he asked for it has gone on.
 *
 * @param gone ids
 * @returns what was done
 */
export async function sweep(client: Client, gone: ReadonlySet<string>): Promise<string[]> {
  const query = { all: 'true', filters: OURS };
  const { body: containers } = await client.read({ path: '/containers/json', query }, listed);
  const deployments = new Set(containers.map(({ Labels }) => Labels[KEYS.deployment] ?? ''));
  const cleared = await eachOf([...deployments].filter(isIn(gone)), (deploymentId) =>
    clear(client, { kind: 'gone', volumes: [] }, { deploymentId, generation: Number.MAX_SAFE_INTEGER }),
  );
  const { body } = await client.read({ path: '/volumes', query: { filters: OURS } }, listedVolumes);
  const volumes = body.Volumes.filter(({ Labels }) => isIn(gone)(Labels[KEYS.storage] ?? ''));
  const removed = await eachOf(volumes, ({ Name }) => removeVolume(client, Name));
  return [...cleared.flatMap(({ actions }) => actions), ...removed.flat()];
}

const isIn = (ids: ReadonlySet<string>) => (id: string) => ids.has(id);
