import { fleetEndpoints } from '@svc/contract/fleet';
import type { Ask } from '@svc/mcp';
import { lastLines } from '@svc/mcp';
import { findDeployment } from './find.ts';
import type { Handlers } from './types.ts';

/**
 * The maximum number of characters of the lines that are kept: a container can write long lines.
 */
const MAX_CHARACTERS = 4_000_000;

/** The maximum time to read a log, in milliseconds. An engine can respond slowly. */
const READ_MS = 20_000;

export const read_deployment_logs: Handlers['read_deployment_logs'] = async (given, { ask, signal }) => {
  const { deployment, tail, contains, instance, container } = given;
  const params = { id: await findDeployment(ask, deployment) };
  const lines = await readLastLines(ask, { params, query: { tail, instance, container } }, signal);
  const text = contains?.toLowerCase();
  const found = text === undefined ? lines : lines.filter((line) => line.toLowerCase().includes(text));
  const shown = lastLines(found);
  const omitted = shown.length < found.length ? '; earlier ones are omitted: use contains, or a smaller tail' : '';
  return [`${shown.length} of ${lines.length} lines${omitted}`, ...shown].join('\n');
};

/** The lines of a log. After a time or when the signal aborts, those that have been read. */
export async function readLastLines(
  ask: Ask,
  { query, ...asked }: NonNullable<Parameters<Ask['stream']>[1]>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const chunks = await ask.stream(fleetEndpoints.readDeploymentLogs, { ...asked, query: { ...query, follow: false } });
  const iterator = chunks[Symbol.asyncIterator]();
  const stop = () => void iterator.return?.();
  const timer = setTimeout(stop, READ_MS);
  signal?.addEventListener('abort', stop, { once: true });
  const lines: string[] = [];
  let size = 0;
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const line = String(next.value).replace(/\n$/, '');
      lines.push(line);
      for (size += line.length; size > MAX_CHARACTERS; ) size -= lines.shift()?.length ?? 0;
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    await iterator.return?.();
  }
  return lines;
}
