import { offsetOf, type Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';

type Events = Reply<typeof fleetEndpoints.listApplicationEvents>['events'];

const eventRow = z.object({
  id: z.string(),
  at: z.date(),
  part: z.string().nullable(),
  kind: z.enum(['operation', 'event']),
  generation: z.int(),
  reason: z.string(),
  message: z.string(),
  actor: z.string().nullable(),
});

/** A page of the events of an application and its parts, newest first. */
export async function listEvents(
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  id: string,
  query: { readonly page: number; readonly limit: number },
): Promise<{ readonly events: Events; readonly total: number }> {
  const all = Prisma.sql`(
    SELECT e.id, e.at, NULL AS part, e.kind::text, e.generation, e.reason, e.message, e.actor
    FROM application_events e WHERE e.application_id = ${id}::uuid
    UNION ALL
    SELECT e.id, e.at, d.part, e.kind::text, e.generation, e.reason, e.message, e.actor
    FROM deployments d JOIN deployment_events e ON e.deployment_id = d.id WHERE d.application_id = ${id}::uuid) e`;
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT * FROM ${all} ORDER BY e.at DESC, e.id DESC LIMIT ${query.limit} OFFSET ${offsetOf(query)}`;
  const [counted] = await reader.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total FROM ${all}`;
  return { events: rows.map((row) => eventRow.parse(row)), total: counted?.total ?? 0 };
}
