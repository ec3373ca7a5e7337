import { setTimeout as pause } from 'node:timers/promises';
import { fleetEndpoints, type Target } from '@svc/contract/fleet';
import { invalid, Problem, Streamed, unavailable } from '@svc/http';
import { deployments } from '../../deployments/rows.ts';
import { logs as logsOfHost } from '../../engines/docker/logs.ts';
import { EngineFailure, Permanent } from '../../engines/errors.ts';
import { logs as logsOfCluster } from '../../engines/kubernetes/logs.ts';
import type { LogOptions } from '../../engines/observation.ts';
import { readRow } from '../../resources/kind.ts';
import { targetOf } from '../../resources/targets.ts';
import { type RequestContext, route } from '../context.ts';

/** What a container prints is passed on as it is. */
export const readDeploymentLogs = route(fleetEndpoints.readDeploymentLogs, async (context, { params, query }) => {
  const { database } = context;
  const row = await readRow(database.client, deployments, params.id);
  const names = row.instances.map(({ name }) => name);
  const name = query.instance ?? names[0];
  const target = targetOf(row);
  if (name === undefined || target === null) {
    throw new Problem('not_found', 'It has no instance yet, and so no log.');
  }
  if (!names.includes(name)) {
    throw invalid([{ path: 'instance', message: `must be one of its instances: ${names.join(', ')}` }]);
  }
  const left = new AbortController();
  const which = { deploymentId: row.id, name };
  const lines = await linesOf(context, target, { which, tail: query.tail, follow: query.follow, signal: left.signal });
  return new Streamed(
    'text/plain; charset=utf-8',
    await begun(lines, { left, waitMs: context.machines.timings.logStart }),
  );
});

type Lines = ReturnType<typeof logsOfHost>;

interface Asked extends LogOptions {
  readonly which: { readonly deploymentId: string; readonly name: string };
}

async function linesOf(
  { database: { client }, machines }: Pick<RequestContext, 'database' | 'machines'>,
  { kind, id }: Target,
  { which, ...options }: Asked,
): Promise<Lines> {
  if (kind === 'host') {
    const host = await client.host.findUniqueOrThrow({ where: { id } });
    return logsOfHost(await machines.hosts.of(host), which, options);
  }
  const cluster = await client.cluster.findUniqueOrThrow({ where: { id } });
  return logsOfCluster(await machines.clusters.of(cluster), which, options);
}

interface Beginning {
  /** Ends the log. */
  readonly left: AbortController;
  /** A container that has written nothing for so long counts as begun. */
  readonly waitMs: number;
}

/**
 * What fails before the first line is a problem, not a broken stream. Whoever leaves ends it at once, also where nothing is
 * written any more.
 */
async function begun(lines: Lines, { left, waitMs }: Beginning): Promise<AsyncIterable<string>> {
  let first: ReturnType<Lines['next']> | undefined = lines.next();
  try {
    await Promise.race([first, pause(waitMs, undefined, { ref: false })]);
  } catch (cause) {
    throw problemOf(cause);
  }
  first.catch(() => undefined); // whoever reads on hears of it
  const next = async () => {
    const line = await (first ?? lines.next());
    first = undefined;
    return line.done ? { done: true as const, value: undefined } : { done: false as const, value: `${line.value}\n` };
  };
  const leave = async () => {
    left.abort();
    await lines.return();
    return { done: true as const, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}

function problemOf(cause: unknown): unknown {
  if (!(cause instanceof EngineFailure)) return cause;
  return cause instanceof Permanent ? new Problem('not_found', cause.message) : unavailable(cause.message, cause);
}
