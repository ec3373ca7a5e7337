import type { Endpoint, Input, Reply } from '@svc/contract';
import type { Route } from '@svc/http';
import { writeAuditEntry } from '../../audit/entry.ts';
import { writeCatalog } from '../../database/catalog-write.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { authorOf, callerOf } from '../../identity/caller.ts';
import { type RequestContext, route } from './context.ts';

/**
 * The result of a change: its reply, and the id of the object for the audit log; null if it changes
 * several.
 */
interface Changed<R> {
  readonly id: string | null;
  /** The organization that the change concerns, whose org_admins read the entry. */
  readonly orgId?: string | null | undefined;
  readonly reply: R;
}

type Transaction = Prisma.TransactionClient;
type Run = <T>(
  given: { readonly context: RequestContext; readonly message: string },
  work: (transaction: Transaction) => Promise<T>,
) => Promise<T>;

/**
 * Creates routes for changes. `prepare` rejects invalid input before the transaction begins, and
 * returns the change. The change must use no other connection than that of its transaction, which
 * also contains its audit entry. `messageOf` returns why the caller changes the content of a
 * template.
 */
const changeRouteIn =
  (run: Run) =>
  <E extends Endpoint>(
    endpoint: E,
    prepare: (context: RequestContext, input: Input<E>) => (transaction: Transaction) => Promise<Changed<Reply<E>>>,
    messageOf: (input: Input<E>) => string | undefined = () => undefined,
  ): Route<RequestContext, E> =>
    route(endpoint, async (context, input) => {
      const change = prepare(context, input);
      return run({ context, message: messageOf(input) ?? '' }, async (transaction) =>
        recorded({ ...context, transaction }, endpoint, await change(transaction)),
      );
    });

/** A change of the catalog or of grants by an administrator. */
export const catalogChangeRoute = changeRouteIn(({ context: { database, principal }, message }, work) =>
  writeCatalog(database, work, { change: { ...authorOf(principal), message } }),
);

/** Another change by an administrator, or by a member of an organization. */
export const changeRoute = changeRouteIn(({ context }, work) => context.database.client.$transaction(work));

/**
 * Validates the reply of a change and writes its audit entry, in the transaction of the change. A
 * change that cannot be presented or recorded is rolled back. @throws 503
 */
export async function recorded<E extends Endpoint>(
  context: RequestContext & { readonly transaction: Transaction },
  endpoint: E,
  { id, orgId, reply }: Changed<Reply<E>>,
): Promise<Reply<E>> {
  endpoint.reply.parse(reply);
  const caller = callerOf(context.principal);
  await writeAuditEntry(context.transaction, context, { caller, status: endpoint.status, objectId: id, orgId });
  return reply;
}
