import { Permanent, Transient } from '../errors.ts';
import { type LogOptions, MAX_LINE, MOST_LINES } from '../log-options.ts';
import type { Client } from './cluster-client.ts';
import { linesOf } from './lines.ts';
import { podName, podsOf } from './look.ts';

/** As it is called in every pod of ours. */
const CONTAINER = 'main';

/**
 * What a pod of a deployment has written, line by line. A line is cut where it is too long; whoever stops reading ends it.
 *
 * @throws Permanent where the deployment has no pod of that name, Transient where it has not begun
 */
export async function* logs(
  client: Client,
  { deploymentId, name }: { readonly deploymentId: string; readonly name: string },
  { tail = MOST_LINES, since, follow = false, signal }: LogOptions = {},
): AsyncGenerator<string, void, void> {
  const view = client.within(signal);
  const pod = (await podsOf(view, deploymentId)).find((each) => podName(each) === name);
  if (!pod) throw new Permanent('InvalidSpec', `There is no pod ${name} of this deployment.`);
  const container = pod.status?.containerStatuses?.find((each) => each.name === CONTAINER);
  const hasBegun = container?.state?.running ?? container?.state?.terminated ?? container?.lastState?.terminated;
  if (!hasBegun) throw new Transient('EngineError', `The pod ${name} has not begun, and has no log yet.`);
  const chunks = await view.open({
    path: `/api/v1/namespaces/${client.address.namespace}/pods/${name}/log`,
    query: {
      container: CONTAINER,
      tailLines: String(Math.min(tail, MOST_LINES)),
      ...(since && { sinceTime: `${since.toISOString().slice(0, 19)}Z` }),
      ...(follow && { follow: 'true' }),
    },
    idleMs: follow ? 0 : client.timing.answer,
  });
  for await (const line of linesOf(chunks, MAX_LINE)) yield line.replace(/\r$/, '');
}
