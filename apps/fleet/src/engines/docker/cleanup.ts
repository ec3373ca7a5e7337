import { KEYS } from '../../render/labels.ts';
import { mapConcurrently } from '../concurrency.ts';
import { removalObservation } from '../deployment-status.ts';
import { catchFailure } from '../errors.ts';
import type { DesiredEnd, Fence } from '../observation.ts';
import { messageOfFailure } from '../redact.ts';
import type { DockerClient } from './client.ts';
import { findContainers, remove } from './containers.ts';
import { removeVolume } from './objects/volumes.ts';
import { listed, listedVolumes } from './schemas.ts';
import { supersededBy } from './status.ts';

/**
 * Removes the containers of a deployment, also if it is only stopped, as in a cluster. Volumes are
 * removed only if it is deleted.
 */
export async function removeFromHost(client: DockerClient, desired: DesiredEnd, fence: Fence) {
  const found = await findContainers(client, fence.deploymentId);
  const superseded = supersededBy(found, fence);
  if (superseded) return superseded;
  const actions: string[] = [];
  const failure = await catchFailure(async () => {
    await mapConcurrently(found, async (container) => {
      await remove(client, container);
      actions.push(`removed ${container.name}`);
    });
    for (const name of desired.kind === 'gone' ? desired.volumes : [])
      actions.push(...(await removeVolume(client, name)));
  });
  const remaining = await findContainers(client, fence.deploymentId);
  return removalObservation({
    kind: desired.kind,
    actions,
    failure: failure && { reason: failure.reason, message: messageOfFailure(failure) },
    remaining: remaining.length > 0 ? `Containers still stopping: ${remaining.length}.` : '',
    instances: remaining.map(({ name, details }) => ({ name, restarts: details.RestartCount })),
  });
}

export const MANAGED_FILTER = JSON.stringify({ label: [`${KEYS.managedBy}=fleet`] });

/**
 * Removes containers and volumes that belong to deleted deployments and volumes. They exist if a
 * delayed request of a suspended process created them after the deletion.
 *
 * @param deletedIds ids of deleted deployments and volumes
 * @returns the actions taken
 */
export async function removeOrphans(client: DockerClient, deletedIds: ReadonlySet<string>): Promise<string[]> {
  const query = { all: 'true', filters: MANAGED_FILTER };
  const { body: containers } = await client.read({ path: '/containers/json', query }, listed);
  const deployments = new Set(containers.map(({ Labels }) => Labels[KEYS.deployment] ?? ''));
  const cleared = await mapConcurrently([...deployments].filter(isIn(deletedIds)), (deploymentId) =>
    removeFromHost(client, { kind: 'gone', volumes: [] }, { deploymentId, generation: Number.MAX_SAFE_INTEGER }),
  );
  const { body } = await client.read({ path: '/volumes', query: { filters: MANAGED_FILTER } }, listedVolumes);
  const volumes = body.Volumes.filter(({ Labels }) => isIn(deletedIds)(Labels[KEYS.storage] ?? ''));
  const removed = await mapConcurrently(volumes, ({ Name }) => removeVolume(client, Name));
  return [...cleared.flatMap(({ actions }) => actions), ...removed.flat()];
}

const isIn = (ids: ReadonlySet<string>) => (id: string) => ids.has(id);
