import { z } from 'zod';
import { bytes, milli } from '../../placement/quantities.ts';
import { parseJson, readText } from '../body.ts';
import { notAnEngine, Permanent, Unreachable } from '../errors.ts';
import type { InstanceUsage } from '../observation.ts';
import type { KubernetesClient } from './client.ts';
import { selectorOf } from './objects.ts';

const GROUP = 'metrics.k8s.io';

const podMetrics = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      containers: z.array(z.object({ usage: z.object({ cpu: z.string(), memory: z.string() }) })),
    }),
  ),
});

const apiGroups = z.object({ groups: z.array(z.object({ name: z.string() })) });

/**
 * What the pods of a deployment use, as the metrics server of the cluster reports it.
 *
 * @throws Permanent if the cluster has no metrics server, or the credentials may not read from it
 */
export async function usage(client: KubernetesClient, deploymentId: string): Promise<InstanceUsage[]> {
  const path = `/apis/${GROUP}/v1beta1/namespaces/${client.address.namespace}/pods`;
  const { items } = await read(client, { path, query: { labelSelector: selectorOf(deploymentId) } }, podMetrics).catch(
    (error: unknown) => withoutMetrics(client, error),
  );
  return items.map(({ metadata: { name }, containers }) => ({
    name,
    cpus: sum(containers.map(({ usage: { cpu } }) => milli(cpu))) / 1000,
    memory_bytes: sum(containers.map(({ usage: { memory } }) => bytes(memory))),
    memory_limit_bytes: null,
  }));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

interface Request {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

async function read<S extends z.ZodType>(client: KubernetesClient, request: Request, schema: S): Promise<z.output<S>> {
  const chunks = await client.open({ ...request, accept: 'application/json', idleMs: client.timing.answer });
  const parsed = schema.safeParse(parseJson(await readText(chunks)));
  if (!parsed.success) throw notAnEngine('Kubernetes API server');
  return parsed.data;
}

/** An API server that does not know the group responds like a server that is none. */
async function withoutMetrics(client: KubernetesClient, error: unknown): Promise<never> {
  if (error instanceof Permanent && error.response?.status === 403) {
    throw new Permanent('AuthFailed', `The credentials lack permission to list pods of ${GROUP}.`, error.response);
  }
  if (!(error instanceof Unreachable)) throw error;
  const { groups } = await read(client, { path: '/apis', query: {} }, apiGroups);
  if (groups.some(({ name }) => name === GROUP)) throw error;
  throw new Permanent(
    'InvalidSpec',
    'The cluster has no metrics server, which provides the usage of pods. Install one, such as metrics-server.',
  );
}
