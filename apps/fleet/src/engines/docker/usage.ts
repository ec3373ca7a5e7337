import { setTimeout } from 'node:timers/promises';
import type { z } from 'zod';
import { mapConcurrently } from '../concurrency.ts';
import { unlessNotFound } from '../errors.ts';
import type { InstanceUsage } from '../observation.ts';
import type { DockerClient } from './client.ts';
import { listOwned } from './containers.ts';
import { nameOf } from './managed.ts';
import { stats } from './schemas.ts';

type Stats = z.output<typeof stats>;

/**
 * What the running containers of a deployment use, for containers with one of the names. The CPU
 * time is read twice, because Podman does not report an earlier one.
 */
export async function usage(
  client: DockerClient,
  { deploymentId, names }: { readonly deploymentId: string; readonly names: readonly string[] },
): Promise<InstanceUsage[]> {
  const running = (await listOwned(client, deploymentId))
    .filter(({ State }) => State === 'running')
    .map((container) => ({ id: container.Id, name: nameOf(container) }))
    .filter(({ name }) => names.includes(name));
  const first = await mapConcurrently(running, ({ id }) => read(client, id));
  await setTimeout(client.timing.usage);
  const last = await mapConcurrently(running, ({ id }) => read(client, id));
  return running.map(({ name }, index) => usageOf(name, first[index], last[index]));
}

/** @returns undefined if the container does not exist any more */
async function read(client: DockerClient, id: string): Promise<Stats | undefined> {
  const query = { stream: 'false', 'one-shot': 'true' };
  return (await unlessNotFound(client.read({ path: `/containers/${id}/stats`, query }, stats)))?.body;
}

function usageOf(name: string, first: Stats | undefined, last: Stats | undefined): InstanceUsage {
  const memory = last?.memory_stats;
  const used = memory?.usage;
  const reclaimable = memory?.stats?.inactive_file ?? memory?.stats?.total_inactive_file ?? 0;
  return {
    name,
    cpus: first && last ? cpusBetween(first, last) : null,
    memory_bytes: used === undefined ? null : Math.max(0, used - reclaimable),
    memory_limit_bytes: memory?.limit || null,
  };
}

const NANOSECONDS_PER_MILLISECOND = 1e6;

/** @returns null if the container was started again between the readings */
function cpusBetween(first: Stats, last: Stats): number | null {
  const elapsed = (last.read - first.read) * NANOSECONDS_PER_MILLISECOND;
  const used = last.cpu_stats.cpu_usage.total_usage - first.cpu_stats.cpu_usage.total_usage;
  return elapsed > 0 && used >= 0 ? used / elapsed : null;
}
