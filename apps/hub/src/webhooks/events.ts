import { randomUUID } from 'node:crypto';
import { type HubWebhookEvent, hubEndpoints } from '@svc/contract/hub';
import { statementsOf } from '@svc/database';
import { bodyOf, pageUrl, storeMessages } from '@svc/delivery';
import type { AccessRequest, Prisma } from '../generated/prisma/client.ts';

/** The page of the console that lists access requests. */
const PAGE = 'admin/access?tab=requests';

type Requested = Pick<
  AccessRequest,
  'id' | 'org_id' | 'category_slug' | 'template_slug' | 'status' | 'created_at' | 'decided_at'
>;

/**
 * Stores the messages of webhooks about an access request, in the transaction that creates or decides it. A message has the names
 * of the organization and of what is requested. It has no text and no e-mail address of a person, and does not show whether what
 * is requested exists.
 */
export async function reportAccess(
  transaction: Prisma.TransactionClient,
  publicUrl: string | undefined,
  { id, org_id, category_slug, template_slug, status, created_at, decided_at }: Requested,
): Promise<void> {
  const event: HubWebhookEvent = status === 'open' ? 'access.requested' : 'access.decided';
  const { name: org_name, slug: org_slug } = await transaction.organization.findUniqueOrThrow({
    where: { id: org_id },
    select: { name: true, slug: true },
  });
  const data = {
    ...{ kind: 'access-requests', id, org_name, org_slug, category_slug, template_slug, status },
    ...{ path: hubEndpoints.listAllAccessRequests.path, url: pageUrl(publicUrl, PAGE) },
  };
  const body = bodyOf(event, decided_at ?? created_at, data);
  await storeMessages(statementsOf(transaction), [{ id: randomUUID(), event, object_id: id, body }]);
}
