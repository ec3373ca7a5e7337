import { setTimeout as pause } from 'node:timers/promises';
import type { Input } from '@svc/contract';
import { fleetEndpoints, MAX_FOLLOWED_INSTANCES, type Target } from '@svc/contract/fleet';
import { invalid, Problem, streamedReply, unavailable } from '@svc/http';
import { type DeploymentRow, deployments, presentReason } from '../../deployments/rows.ts';
import { logs as logsOfHost } from '../../engines/docker/logs.ts';
import { EngineFailure, Permanent } from '../../engines/errors.ts';
import { logs as logsOfCluster } from '../../engines/kubernetes/logs.ts';
import type { LogOptions } from '../../engines/observation.ts';
import { callerKey } from '../../identity/principal.ts';
import { readRow } from '../../resources/kind.ts';
import { targetOf } from '../../resources/targets.ts';
import { type RequestContext, route } from '../request/context.ts';
import { allLogs, followedLogs, type Lines } from './all-logs.ts';

export const readDeploymentLogs = route(fleetEndpoints.readDeploymentLogs, (context, { params, query }) =>
  logsOf(context, params.id, query),
);

/** Streams the output of containers unchanged; of all instances, with their names. */
export async function logsOf(context: RequestContext, id: string, query: Query) {
  const { follow, previous, all, instance, download, ...options } = query;
  refuseCombinations(query);
  const row = await readRow(context.database.client, deployments, id);
  const names = row.instances.map(({ name }) => name);
  const name = instance ?? instanceToRead(row.instances, previous);
  const target = targetOf(row);
  if (name === undefined || target === null) throw new Problem('not_found', withoutLog(row));
  if (!names.includes(name)) {
    throw invalid([{ path: 'instance', message: `must be an instance of the deployment: ${names.join(', ')}` }]);
  }
  refuseContainer(row, name, query.container);
  if (all && follow && names.length > MAX_FOLLOWED_INSTANCES) {
    const message = `must not be combined with all for more than ${MAX_FOLLOWED_INSTANCES} instances; the deployment has ${names.length}`;
    throw invalid([{ path: 'follow', message }]);
  }
  const controller = new AbortController();
  const { signal } = controller;
  const runningInstances = () => readRunningInstances(context, row.id);
  const continues = async () => (await runningInstances()) !== undefined;
  const found = Promise.withResolvers<void>();
  if (all && follow) found.resolve(); // an instance can start later
  const open = (of: string) => {
    const asked = { instance: { deploymentId: row.id, name: of }, follow, previous, ...options };
    return linesOf(context, target, { ...asked, continues, onFound: found.resolve, signal });
  };
  const { timings } = context.engineRuntime;
  const limits = { limit: MAX_FOLLOWED_INSTANCES, pollMs: timings.docker.restart, signal };
  const ofAll = () =>
    follow ? followedLogs({ names, open, present: runningInstances, ...limits }) : allLogs({ names, open });
  // A log that is not followed ends by itself.
  const onEnd = follow ? context.changes.places.take(callerKey(context.principal)) : () => undefined;
  try {
    return streamedReply(
      'text/plain; charset=utf-8',
      await started(all ? ofAll() : await open(name), {
        row,
        controller,
        found: found.promise,
        waitMs: timings.logStart,
      }),
      { onEnd, withoutBuffering: follow, fileName: download ? `${fileNameOf(all ? row.name : name)}.log` : undefined },
    );
  } catch (error) {
    onEnd();
    throw error;
  }
}

type Query = Input<typeof fleetEndpoints.readDeploymentLogs>['query'];

/** @throws 400 for parameters that exclude each other */
function refuseCombinations({ previous, follow, all, instance }: Query): void {
  if (previous && follow) throw invalid([{ path: 'previous', message: 'must not be combined with follow' }]);
  if (all && instance !== undefined) throw invalid([{ path: 'instance', message: 'must not be combined with all' }]);
}

/** The phases of instances whose log is of interest first, in this order. */
const READ_FIRST: readonly string[] = [
  'running',
  'unhealthy',
  'starting',
  'crashed',
  'stopping',
  'completed',
  'failed',
];

/** The instance whose log is read by default; undefined without instances. */
function instanceToRead(instances: DeploymentRow['instances'], previous: boolean): string | undefined {
  const restarted = previous ? instances.find(({ restarts }) => restarts > 0) : undefined;
  const order = ({ phase }: { readonly phase: string }) => READ_FIRST.indexOf(phase) + 1 || Number.POSITIVE_INFINITY;
  const [first] = instances.toSorted((one, other) => order(one) - order(other) || 0);
  return (restarted ?? first)?.name;
}

/** @throws 400 for a container that the instance does not have */
function refuseContainer({ cluster_id, instances }: DeploymentRow, name: string, container: string | undefined): void {
  if (container === undefined) return;
  const refuseWith = (message: string) => invalid([{ path: 'container', message }]);
  if (cluster_id === null) throw refuseWith('must be used only for deployments on a cluster');
  const containers = instances.find((one) => one.name === name)?.containers.map((one) => one.name) ?? [];
  // The last pass of an earlier version has stored none.
  if (containers.length === 0 || containers.includes(container)) return;
  throw refuseWith(`must be a container of the instance: ${containers.join(', ')}`);
}

/**
 * The names of the instances of a deployment; undefined if it has been deleted, is to stop, or has
 * completed, so that nothing is started any more.
 */
async function readRunningInstances(
  { database: { client } }: Pick<RequestContext, 'database'>,
  id: string,
): Promise<readonly string[] | undefined> {
  const [row] = await client.$queryRaw<{ names: string[] }[]>`
    SELECT ARRAY(SELECT i->>'name' FROM jsonb_array_elements(instances) i) AS names FROM deployments
    WHERE id = ${id}::uuid AND desired_state = 'running' AND NOT deleting AND phase <> 'stopped'`;
  return row?.names;
}

/**
 * The name of an instance without characters that have a meaning in a header or in a file system.
 */
const fileNameOf = (instance: string) => instance.replace(/[^\w.-]/g, '_');

/** Why a deployment without instances has no log, and what to do. */
function withoutLog(row: DeploymentRow): string {
  if (row.deleting)
    return 'The deployment is being deleted. Its logs are gone, because the engine deletes them with the instances.';
  if (row.desired_state === 'stopped') {
    return row.sent_to_engine
      ? 'The deployment is stopped. Its logs are gone, because the engine deletes them with the instances. Start it for a new log.'
      : 'The deployment is stopped and has not run, so there is no log. Start it first.';
  }
  return `The deployment has not started yet, so there is no log. ${presentReason(row).message}`.trimEnd();
}

interface LogRequest extends LogOptions {
  readonly instance: { readonly deploymentId: string; readonly name: string };
}

async function linesOf(
  { database: { client }, engineRuntime }: Pick<RequestContext, 'database' | 'engineRuntime'>,
  { kind, id }: Target,
  { instance, ...options }: LogRequest,
): Promise<Lines> {
  if (kind === 'host') {
    const host = await client.host.findUniqueOrThrow({ where: { id } });
    return logsOfHost(await engineRuntime.hosts.of(host), instance, options);
  }
  const cluster = await client.cluster.findUniqueOrThrow({ where: { id } });
  return logsOfCluster(await engineRuntime.clusters.of(cluster), instance, options);
}

interface LogStart {
  readonly row: DeploymentRow;
  /** Aborts the request to the engine. */
  readonly controller: AbortController;
  /** Resolves when the engine has the log. */
  readonly found: Promise<void>;
  /** Maximum wait for the first line, from then until the response begins, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Waits for the first line, so that an earlier failure results in a problem response instead of a
 * broken stream. If the client disconnects, the request to the engine ends at once, even if the
 * container writes nothing.
 */
async function started(lines: Lines, { row, controller, found, waitMs }: LogStart): Promise<AsyncIterable<string>> {
  let first: ReturnType<Lines['next']> | undefined = lines.next();
  try {
    await Promise.race([first, found.then(() => pause(waitMs, undefined, { ref: false }))]);
  } catch (cause) {
    throw problemOf(cause, row);
  }
  first.catch(() => undefined); // the next read reports the error
  const next = async () => {
    const line = await (first ?? lines.next());
    first = undefined;
    return line.done ? { done: true as const, value: undefined } : { done: false as const, value: `${line.value}\n` };
  };
  const end = async () => {
    controller.abort();
    await lines.return();
    return { done: true as const, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

function problemOf(cause: unknown, row: DeploymentRow): unknown {
  if (!(cause instanceof EngineFailure)) return cause;
  if (!(cause instanceof Permanent)) return unavailable(cause.message, cause);
  const isRemoved = row.deleting || row.desired_state === 'stopped';
  return new Problem('not_found', isRemoved ? withoutLog(row) : cause.message);
}
