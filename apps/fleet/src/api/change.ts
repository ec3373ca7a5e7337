import type { Endpoint, Input, Reply } from '@svc/contract';
import { type Redirect, type Route, unavailable } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { type RequestContext, route } from './context.ts';

/** What a handler has that changes something. Nothing in it asks for another connection than the transaction's. */
export interface ChangeContext extends RequestContext {
  readonly transaction: Prisma.TransactionClient;
}

/**
 * Does a change, presents its reply and writes its audit entry in one transaction: what can't be answered or recorded is not
 * done. What a token or a person changes leaves an entry; sign-ins say who came in by `recording.by`.
 */
export async function recorded<E extends Endpoint, R extends Reply<E> | Redirect>(
  context: RequestContext,
  endpoint: E,
  work: (transaction: Prisma.TransactionClient) => Promise<R>,
): Promise<R> {
  const { database, recording } = context;
  const reply = await database.client.$transaction(async (transaction) => {
    const done = await work(transaction);
    if (endpoint.status < 300) endpoint.reply.parse(done);
    const entry = recording.entry(endpoint.status);
    if (entry) await transaction.auditEntry.create({ data: entry }).catch(unrecorded);
    return done;
  });
  recording.isWritten = true;
  return reply;
}

/** A route that is one change, as above. */
export const change = <E extends Endpoint>(
  endpoint: E,
  handle: (context: ChangeContext, input: Input<E>) => Promise<Reply<E>>,
): Route<RequestContext, E> =>
  route(endpoint, (context, input) =>
    recorded(context, endpoint, (transaction) => handle({ ...context, transaction }, input)),
  );

const unrecorded = (cause: unknown) => {
  throw unavailable('The request could not be recorded, so it was not carried out.', cause);
};
