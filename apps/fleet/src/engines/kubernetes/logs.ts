import { Permanent, Transient } from '../errors.ts';
import { type LogOptions, MAX_LINE, MOST_LINES } from '../observation.ts';
import type { KubernetesClient } from './client.ts';
import { podName, podsOf } from './objects.ts';

const EMPTY = Buffer.alloc(0);

/** The lines of a stream of bytes, each cut where it is longer than `most` bytes. */
export async function* linesOf(chunks: AsyncIterable<Buffer>, most: number): AsyncGenerator<string, void, void> {
  const textOf = (rest: Buffer, last: Buffer) => Buffer.concat([rest, last]).subarray(0, most).toString('utf8');
  let rest = EMPTY;
  for await (const bytes of chunks) {
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      yield textOf(rest, bytes.subarray(from, end));
      rest = EMPTY;
      from = end + 1;
    }
    rest = Buffer.concat([rest, bytes.subarray(from)]).subarray(0, most);
  }
  if (rest.length > 0) yield textOf(rest, EMPTY);
}

/** As it is called in every pod of ours. */
const CONTAINER = 'main';

/**
 * What a pod of a deployment has written, line by line. A line is cut where it is too long; whoever stops reading ends it.
 *
 * @throws Permanent where the deployment has no pod of that name, Transient where it has not begun
 */
export async function* logs(
  client: KubernetesClient,
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
