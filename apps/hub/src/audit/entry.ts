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

type Writer = Pick<Prisma.TransactionClient, 'auditEntry'>;

/**
 * Writes the audit entry of a request in the transaction of its change, which is rolled back if
 * that fails. @throws 503
 */
export async function writeAuditEntry(
  transaction: Writer,
  recorded: RecordedRequest,
  { objectId, ...given }: Recorded,
): Promise<void> {
  await writeAuditEntries(transaction, recorded, { ...given, objectIds: [objectId] });
}

/** As `writeAuditEntry`, for a request that records each object that it changes. */
export async function writeAuditEntries(
  transaction: Writer,
  { request, address }: RecordedRequest,
  {
    caller,
    status,
    objectIds,
    orgId = null,
  }: Omit<Recorded, 'objectId'> & { readonly objectIds: readonly (string | null)[] },
): Promise<void> {
  const data = {
    ...columnsOf(caller),
    method: request.method,
    path: request.path.slice(0, MAX_PATH),
    status,
    request_id: request.id,
    org_id: orgId,
    source: clientAddress(address) ?? null,
  };
  await createEntries(transaction, data, objectIds).catch((cause: unknown) => {
    throw notRecorded(cause);
  });
}

/** The number of entries that one statement creates. */
const BATCH = 500;

/** Creates an entry for each object. */
async function createEntries(
  { auditEntry }: Writer,
  data: Omit<Prisma.AuditEntryCreateManyInput, 'object_id'>,
  objectIds: readonly (string | null)[],
): Promise<void> {
  for (let start = 0; start < objectIds.length; start += BATCH) {
    const batch = objectIds.slice(start, start + BATCH);
    await auditEntry.createMany({ data: batch.map((object_id) => ({ ...data, object_id })) });
  }
}

/** A service token acts for its owner. */
function columnsOf(caller: Recorded['caller']) {
  if (!('tokenId' in caller)) return { user_id: caller.id, email: caller.email };
  return { user_id: caller.owner.id, email: caller.owner.email, token_id: caller.tokenId };
}

/** Writes the audit entries of a command, one for each object that it changed; null: it changed several. */
export const writeCommandEntries = (
  transaction: Writer,
  command: string,
  objectIds: readonly (string | null)[],
  { orgId = null }: { readonly orgId?: string | null } = {},
): Promise<void> =>
  createEntries(
    transaction,
    { email: commandUser(), method: 'COMMAND', path: command, status: 200, request_id: '', org_id: orgId },
    objectIds,
  );
