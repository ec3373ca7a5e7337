import { setTimeout } from 'node:timers/promises';
import type { V1ContainerStatus } from '@kubernetes/client-node';
import { CONTAINER } from '../../render/pod.ts';
import { linesOf } from '../body.ts';
import { Permanent, Transient, withoutPreviousLog } from '../errors.ts';
import { type LogOptions, MAX_LINE, MAX_LINES } from '../observation.ts';
import type { KubernetesClient } from './client.ts';
import { podName, podsOf } from './objects.ts';
import { isActive } from './status/pod-status.ts';

interface LoggedInstance {
  readonly deploymentId: string;
  readonly name: string;
}

/**
 * Yields the log of a container of a pod line by line. Lines are truncated to `MAX_LINE` bytes. The stream is
 * closed when the consumer stops.
 *
 * @throws Permanent if the deployment has no pod with this name, the pod no such container, or the
 * container no previous log; Transient if the container has not started
 */
export async function* logs(
  client: KubernetesClient,
  instance: LoggedInstance,
  options: LogOptions = {},
): AsyncGenerator<string, void, void> {
  const { name } = instance;
  const view = client.withSignal(options.signal);
  const { container: of = CONTAINER } = options;
  const found = await findPod(view, instance, of);
  if (!found) throw new Permanent('InvalidSpec', `This deployment has no pod ${name}.`);
  if (!found.hasContainer) throw new Permanent('InvalidSpec', `The pod ${name} has no container ${of}.`);
  const { container } = found;
  const started = container?.state?.running ?? container?.state?.terminated ?? container?.lastState?.terminated;
  if (!started) throw new Transient('EngineError', `The pod ${name} has not started, so it has no log yet.`);
  if (options.previous && !container?.lastState?.terminated) throw withoutPreviousLog(name);
  options.onFound?.();
  yield* linesOfRun(view, name, options);
  let restarts = container?.restartCount ?? 0;
  for (;;) {
    const next = await nextRun(view, instance, { restarts, options });
    if (next === undefined) return;
    restarts = next;
    yield* linesOfRun(view, name, { ...options, since: undefined, tail: MAX_LINES });
  }
}

async function findPod(client: KubernetesClient, { deploymentId, name }: LoggedInstance, of: string) {
  const pod = (await podsOf(client, deploymentId)).find((each) => podName(each) === name);
  if (!pod) return undefined;
  const { spec, status } = pod;
  const isNamed = (each: { readonly name: string }) => each.name === of;
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return { pod, container: statuses.find(isNamed), hasContainer: containers.some(isNamed) };
}

/** The log of a container since it was last started. */
async function* linesOfRun(
  client: KubernetesClient,
  name: string,
  { container = CONTAINER, tail = MAX_LINES, since, follow = false, timestamps = false, previous = false }: LogOptions,
): AsyncGenerator<string, void, void> {
  const chunks = await client.open({
    path: `/api/v1/namespaces/${client.address.namespace}/pods/${name}/log`,
    query: {
      container,
      tailLines: String(Math.min(tail, MAX_LINES)),
      ...(since && { sinceTime: `${since.toISOString().slice(0, 19)}Z` }),
      ...(follow && { follow: 'true' }),
      ...(timestamps && { timestamps: 'true' }),
      ...(previous && { previous: 'true' }),
    },
    idleMs: follow ? 0 : client.timing.answer,
  });
  for await (const line of linesOf(chunks, MAX_LINE)) yield line.replace(/\r$/, '');
}

const hasStarted = ({ state }: V1ContainerStatus): boolean =>
  state?.running !== undefined || state?.terminated !== undefined;

/**
 * Waits until the container of a pod whose followed log has ended is started again. @returns how
 * often it was started again, or undefined if the log is not followed, or the pod ends
 */
async function nextRun(
  client: KubernetesClient,
  instance: LoggedInstance,
  { restarts, options }: { readonly restarts: number; readonly options: LogOptions },
): Promise<number | undefined> {
  const { follow = false, continues = async () => false, signal } = options;
  while (follow && (await continues())) {
    const found = await findPod(client, instance, options.container ?? CONTAINER);
    if (!found || !isActive(found.pod)) return undefined;
    const { container } = found;
    if (container && container.restartCount > restarts && hasStarted(container)) return container.restartCount;
    await setTimeout(client.timing.restart, undefined, { signal });
  }
  return undefined;
}
