import { eachOf } from '../each-of.ts';
import { type EngineFailure, failureOf } from '../errors.ts';
import type { Fence } from '../fence.ts';
import type { Observation } from '../observation.ts';
import type { Ending } from '../wanted.ts';
import { sentenceOf } from '../words.ts';
import { containersOf, type Found, remove } from './containers.ts';
import type { Client } from './engine-client.ts';
import { overtakenBy } from './outcome.ts';
import { removeVolume } from './volumes.ts';

/** Takes a deployment off its machine: what is stopped is not there, as in a cluster, and its volumes stay. */
export async function clear(client: Client, wanted: Ending, fence: Fence) {
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
