import { linesOf } from '../body.ts';
import { Permanent, Transient, withoutPreviousLog } from '../errors.ts';
import { type LogOptions, MAX_LINE, MAX_LINES } from '../observation.ts';
import type { KubernetesClient } from './client.ts';
import { podName, podsOf } from './objects.ts';

/** The name of the container in every pod of the fleet. */
const CONTAINER = 'main';

/**
 * Yields the log of a pod line by line. Lines are truncated to `MAX_LINE` bytes. The stream is
 * closed when the consumer stops.
 *
 * @throws Permanent if the deployment has no pod with this name or no previous log, Transient if
 * its container has not started
 */
export async function* logs(
  client: KubernetesClient,
  { deploymentId, name }: { readonly deploymentId: string; readonly name: string },
  { tail = MAX_LINES, since, follow = false, timestamps = false, previous = false, signal }: LogOptions = {},
): AsyncGenerator<string, void, void> {
  const view = client.withSignal(signal);
  const pod = (await podsOf(view, deploymentId)).find((each) => podName(each) === name);
  if (!pod) throw new Permanent('InvalidSpec', `This deployment has no pod ${name}.`);
  const container = pod.status?.containerStatuses?.find((each) => each.name === CONTAINER);
  const started = container?.state?.running ?? container?.state?.terminated ?? container?.lastState?.terminated;
  if (!started) throw new Transient('EngineError', `The pod ${name} has not started, so it has no log yet.`);
  if (previous && !container?.lastState?.terminated) throw withoutPreviousLog(name);
  const chunks = await view.open({
    path: `/api/v1/namespaces/${client.address.namespace}/pods/${name}/log`,
    query: {
      container: CONTAINER,
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
