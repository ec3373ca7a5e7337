import { readDesired } from '../../../src/reconciler/desired.ts';
import { claimDue } from '../../../src/reconciler/queue.ts';
import { DEFAULT_TIMINGS as timings } from '../../../src/reconciler/timings.ts';
import type { DeploymentWorld } from '../world.ts';

/** A variable that a template or a workload declares as secret. */
export const secretVariable = (name: string, given: { required?: boolean } = {}) => ({
  name,
  required: true,
  default_value: '',
  description: `The ${name}. [secret]`,
  ...given,
});

/** What the engine of a deployment receives. */
export interface Received {
  /** The variables of the first container; on a cluster, with the values from the Secret. */
  readonly env: Readonly<Record<string, string>>;
  /** The digests of the containers on a host. */
  readonly digests: readonly (string | undefined)[];
  /** The pod template on a cluster, as JSON. */
  readonly podTemplate: string;
}

/** Reads what a worker sends to the engine of a deployment, with the values of secrets. */
export async function receivedBy({ world, client }: DeploymentWorld, id: string): Promise<Received> {
  const never = new Date('2999-01-01');
  await client.deployment.updateMany({ where: { id: { not: id } }, data: { due_at: never } });
  await client.deployment.update({ where: { id }, data: { due_at: new Date(0), lease_until: null } });
  const [claim] = await claimDue(world.database, { lease: timings.lease, limit: 1 }, new AbortController().signal);
  claim?.release(); // no heartbeat is needed
  if (claim?.id !== id) throw new Error('the deployment was not claimed');
  const { assignment } = (await readDesired(world.database, world.sealer, claim)) ?? {};
  const { desired } = assignment ?? {};
  if (desired?.kind !== 'running') throw new Error('the deployment does not run');
  if ('containers' in desired.manifest) {
    const { containers } = desired.manifest;
    return {
      env: Object.fromEntries((containers[0]?.body.Env ?? []).map(split)),
      digests: containers.map(({ body }) => body.Labels['fleet/body']),
      podTemplate: '',
    };
  }
  const { objects } = desired.manifest;
  const secret = objects.flatMap((object) => (object.kind === 'Secret' ? Object.entries(object.data ?? {}) : []));
  const template = objects.flatMap(
    (object) => (object.kind === 'Deployment' ? object.spec?.template : undefined) ?? [],
  );
  const plain =
    template[0]?.spec?.containers[0]?.env?.flatMap(({ name, value }) => (value ? [[name, value]] : [])) ?? [];
  return {
    env: Object.fromEntries([...plain, ...secret.map(([key, data]) => [key, Buffer.from(data, 'base64').toString()])]),
    digests: [],
    podTemplate: JSON.stringify(template[0]),
  };
}

const split = (entry: string) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)];
