import { fleetEndpoints, MAX_MEASURED_INSTANCES, type Target } from '@svc/contract/fleet';
import { unavailable } from '@svc/http';
import { type DeploymentRow, deployments } from '../../deployments/rows.ts';
import { usage as usageOnHost } from '../../engines/docker/usage.ts';
import { EngineFailure, Permanent } from '../../engines/errors.ts';
import { usage as usageOnCluster } from '../../engines/kubernetes/usage.ts';
import type { InstanceUsage } from '../../engines/observation.ts';
import { callerKey } from '../../identity/principal.ts';
import { readRow } from '../../resources/kind.ts';
import { targetOf } from '../../resources/targets.ts';
import { type RequestContext, route, type Usage } from '../request/context.ts';

/** The maximum time of a reading, in milliseconds. */
const LIMIT_MS = 10_000;

/** Reads the usage from the engine. Viewers read it every few seconds while a page is open. */
export const getDeploymentUsage = route(fleetEndpoints.getDeploymentUsage, async (context, { params }) => {
  const { database, usageQueue, usageReadings, principal } = context;
  const row = await readRow(database.client, deployments, params.id);
  const target = targetOf(row);
  if (target === null || row.instances.length === 0) return { usage: { instances: [], omitted: 0, note: null } };
  const begin = () => usageQueue.run(callerKey(principal), () => readUsage(context, row, target));
  const reading = usageReadings.get(row.id) ?? begin().finally(() => usageReadings.delete(row.id));
  usageReadings.set(row.id, reading);
  return { usage: await reading };
});

async function readUsage(
  context: Pick<RequestContext, 'database' | 'engineRuntime'>,
  row: DeploymentRow,
  target: Target,
): Promise<Usage> {
  const names = row.instances.slice(0, MAX_MEASURED_INSTANCES).map(({ name }) => name);
  const omitted = row.instances.length - names.length;
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    const found = await readFrom(context, target, { deploymentId: row.id, names, signal });
    const measured = new Map(found.map((one) => [one.name, one]));
    return { instances: names.map((name) => measured.get(name) ?? unknownUsage(name)), omitted, note: null };
  } catch (cause) {
    if (signal.aborted) throw unavailable('The engine has not reported the usage within 10 seconds.', cause);
    if (!(cause instanceof EngineFailure)) throw cause;
    if (!(cause instanceof Permanent)) throw unavailable(cause.message, cause);
    return { instances: names.map(unknownUsage), omitted, note: cause.message };
  }
}

const unknownUsage = (name: string): InstanceUsage => ({
  name,
  cpus: null,
  memory_bytes: null,
  memory_limit_bytes: null,
});

interface Reading {
  readonly deploymentId: string;
  readonly names: readonly string[];
  readonly signal: AbortSignal;
}

async function readFrom(
  { database: { client }, engineRuntime }: Pick<RequestContext, 'database' | 'engineRuntime'>,
  { kind, id }: Target,
  { signal, ...instances }: Reading,
): Promise<readonly InstanceUsage[]> {
  if (kind === 'host') {
    const host = await client.host.findUniqueOrThrow({ where: { id } });
    return usageOnHost((await engineRuntime.hosts.of(host)).withSignal(signal), instances);
  }
  const cluster = await client.cluster.findUniqueOrThrow({ where: { id } });
  return usageOnCluster((await engineRuntime.clusters.of(cluster)).withSignal(signal), instances.deploymentId);
}
