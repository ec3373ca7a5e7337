import type { Input } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { z } from 'zod';
import { by, isOneId, isOneOf, type List, readPage } from '../database/lists.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { CATALOG_ID } from './record.ts';

type Query = Input<typeof fleetEndpoints.listEvents>['query'];

const eventRow = z.object({
  id: z.string(),
  at: z.date(),
  kind: z.enum(['hosts', 'clusters', 'deployments', 'catalog', 'plans', 'sources']),
  object_id: z.string(),
  name: z.string(),
  severity: z.enum(['warning', 'normal']),
  reason: z.string(),
  message: z.string(),
  resolved_at: z.date().nullable(),
});

/** The list of the events of the whole fleet. */
export const eventList: List<Query> = {
  table: Prisma.sql`events`,
  columns: Prisma.sql`r.id, r.at, r.kind, r.object_id, r.name, r.severity, r.reason, r.message, r.resolved_at`,
  rules: {
    filters: {
      kind: isOneOf(Prisma.sql`r.kind`),
      id: isOneId(Prisma.sql`r.object_id`),
      severity: isOneOf(Prisma.sql`r.severity`),
      reason: isOneOf(Prisma.sql`r.reason`),
      since: (at) => Prisma.sql`r.at >= ${at}`,
      resolved: (resolved) => Prisma.sql`(r.severity = 'warning' AND (r.resolved_at IS NOT NULL) = ${resolved})`,
    },
    sorts: { at: by(Prisma.sql`r.at`) },
  },
};

/** The representation of an event in the API. */
export function presentEvent(row: unknown) {
  const event = eventRow.parse(row);
  return { ...event, object_id: event.object_id === CATALOG_ID ? null : event.object_id };
}

/** A page of events. */
export async function readEvents(reader: Pick<Prisma.TransactionClient, '$queryRaw'>, query: Query) {
  const { rows, pagination } = await readPage(reader, eventList, query);
  return { events: rows.map(presentEvent), pagination };
}
