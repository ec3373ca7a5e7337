import { clientAddress, commandUser, notRecorded } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import type { ServicePrincipal, UserPrincipal } from '../identity/principal.ts';

/** The maximum length of the path in an entry, in characters. */
const MAX_PATH = 1024;

/** A request, as the audit log records it. */
export interface RecordedRequest {
  readonly request: { readonly id: string; readonly method: string; readonly path: string };
  /** The address of the client. */
  readonly address: string;
}

interface Recorded {
  readonly caller: Pick<UserPrincipal, 'id' | 'email'> | ServicePrincipal;
  readonly status: number;
  /** The id of the object of the request; null if there are several. */
  readonly objectId: string | null;
  /** The organization that the request concerns. */
  readonly orgId?: string | null | undefined;
}

/**
 * Writes the audit entry of a request in the transaction of its change, which is rolled back if
 * that fails. @throws 503
 */
export async function writeAuditEntry(
  transaction: Pick<Prisma.TransactionClient, 'auditEntry'>,
  { request, address }: RecordedRequest,
  { caller, status, objectId, orgId = null }: Recorded,
): Promise<void> {
  const data = {
    ...columnsOf(caller),
    method: request.method,
    path: request.path.slice(0, MAX_PATH),
    status,
    request_id: request.id,
    object_id: objectId,
    org_id: orgId,
    source: clientAddress(address) ?? null,
  };
  await transaction.auditEntry.create({ data }).catch((cause: unknown) => {
    throw notRecorded(cause);
  });
}

/** A service token acts for its owner. */
function columnsOf(caller: Recorded['caller']) {
  if (!('tokenId' in caller)) return { user_id: caller.id, email: caller.email };
  return { user_id: caller.owner.id, email: caller.owner.email, token_id: caller.tokenId };
}

/** Writes the audit entry of a command that changed something, in the transaction of its change. */
export const writeCommandEntry = (
  transaction: Pick<Prisma.TransactionClient, 'auditEntry'>,
  command: string,
  { objectId = null, orgId = null }: { readonly objectId?: string | null; readonly orgId?: string | null } = {},
) =>
  transaction.auditEntry.create({
    data: {
      email: commandUser(),
      method: 'COMMAND',
      path: command,
      status: 200,
      request_id: '',
      object_id: objectId,
      org_id: orgId,
    },
  });
