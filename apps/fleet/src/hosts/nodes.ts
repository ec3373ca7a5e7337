import { Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { isUuid } from '../identified.ts';

/** A node is what its cluster says. @throws 409 for the id of one */
export async function refuseNode(reader: Pick<Prisma.TransactionClient, 'node'>, id: string): Promise<void> {
  const node = isUuid(id) ? await reader.node.findUnique({ where: { id }, include: { cluster: true } }) : null;
  if (!node) return;
  const { id: clusterId, name } = node.cluster;
  const message = `${node.name} is a node of the cluster ${name}, which says what it is: POST /api/v1/clusters/${clusterId}/check asks.`;
  throw new Problem('read_only', message);
}
