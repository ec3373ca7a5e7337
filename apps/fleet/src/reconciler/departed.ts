import { sweep } from '../engines/docker/sweep.ts';
import { EngineFailure } from '../engines/errors.ts';
import type { Host, Prisma } from '../generated/prisma/client.ts';
import type { Tools } from './hosts.ts';

/**
 * Notes what is gone from its host. A lease is looked at before each request, but a process can be frozen right after that
 * look, and send when the rest of the fleet has forgotten what it was for.
 */
export const noteDeparted = (
  transaction: Pick<Prisma.TransactionClient, 'departed'>,
  host_id: string,
  ids: readonly string[],
) => transaction.departed.createMany({ data: ids.map((id) => ({ id, host_id })), skipDuplicates: true });

/** Removes from a host what came to be there after its end. */
export async function clearDeparted({ database, engines, log }: Tools, host: Host): Promise<void> {
  const rows = await database.client.departed.findMany({ where: { host_id: host.id }, select: { id: true } });
  if (rows.length === 0) return;
  try {
    const actions = await sweep(await engines.of(host), new Set(rows.map(({ id }) => id)));
    if (actions.length > 0) log.warn({ host: host.name, actions }, 'what came to be after its end was removed');
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    log.warn({ err: error, host: host.name }, 'what is gone could not be looked for; tried again');
  }
}
