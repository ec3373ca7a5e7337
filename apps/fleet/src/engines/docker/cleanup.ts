import { KEYS } from '../../render/labels.ts';
import { eachOf } from '../concurrency.ts';
import { type EngineFailure, failureOf } from '../errors.ts';
import type { Ending, Fence, Observation } from '../observation.ts';
import { sentenceOf } from '../redact.ts';
import type { DockerClient } from './client.ts';
import { containersOf, type Found, remove } from './containers.ts';
import { listed, listedVolumes } from './schemas.ts';
import { overtakenBy } from './status.ts';
import { removeVolume } from './volumes.ts';

/** Takes a deployment off its machine: what is stopped is not there, as in a cluster, and its volumes stay. */
export async function clear(client: DockerClient, wanted: Ending, fence: Fence) {
  const found = await containersOf(client, fence.deploymentId);
  const overtaken = overtakenBy(found, fence);
  if (overtaken) return overtaken;
  const actions: string[] = [];
  const trouble = await failureOf(async () => {
    await eachOf(found, async (container) => {
      await remove(client, container);
      actions.push(`removed ${container.name}`);
    });
    for (const name of wanted.kind === 'gone' ? wanted.volumes : [])
      actions.push(...(await removeVolume(client, name)));
  });
  const left = await containersOf(client, fence.deploymentId);
  return outcome(wanted.kind, { left, actions, trouble });
}

function outcome(
  kind: 'stopped' | 'gone',
  o: { readonly left: readonly Found[]; readonly actions: string[]; readonly trouble: EngineFailure | undefined },
): Observation {
  const isDone = o.left.length === 0 && o.trouble === undefined;
  const under = kind === 'gone' ? 'deleting' : 'stopping';
  return {
    phase: isDone ? kind : under,
    reason: o.trouble?.reason ?? null,
    message:
      (o.trouble && sentenceOf(o.trouble)) ??
      (isDone ? 'Nothing of it is left to run.' : `${o.left.length} still to be stopped.`),
    instances: o.left.map(({ name, details }) => ({
      name,
      phase: 'stopping',
      message: 'is being stopped',
      restarts: details.RestartCount,
    })),
    endpoints: [],
    volumes: [],
    actions: o.actions,
    next: isDone ? 'settled' : o.trouble ? 'retry' : 'soon',
    overtaken: false,
  };
}

const OURS = JSON.stringify({ label: [`${KEYS.managedBy}=fleet`] });

/**
 * Removes what is there of deployments and volumes that are gone for good: who was frozen as he asked for it has gone on.
 *
 * @param gone ids
 * @returns what was done
 */
export async function sweep(client: DockerClient, gone: ReadonlySet<string>): Promise<string[]> {
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
