import type { Endpoint, Input, Reply } from '@svc/contract';
import { notRecorded, type Redirect, type Route } from '@svc/http';
import { countEntries } from '../../audit/entries.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { callerKey, type Principal, type SourcePrincipal } from '../../identity/principal.ts';
import { type RequestContext, route } from './context.ts';

/**
 * The context of a handler that makes a change. The handler must use no other connection than that
 * of the transaction.
 */
export interface ChangeContext extends RequestContext {
  readonly transaction: Prisma.TransactionClient;
}

/**
 * Makes a change, validates its reply and writes its audit entry in one transaction, so that a
 * change that cannot be presented or recorded is rolled back. Changes by tokens and persons have an
 * entry. Sign-ins set their actor with `recording.setActor`. `timeout` is in milliseconds. Default: that of all transactions.
 */
export async function runAudited<E extends Endpoint, R extends Reply<E> | Redirect>(
  context: Pick<RequestContext, 'database' | 'recording'>,
  endpoint: E,
  work: (transaction: Prisma.TransactionClient) => Promise<R>,
  timeout?: number,
): Promise<R> {
  const { database, recording } = context;
  const reply = await database.client.$transaction(
    async (transaction) => {
      const done = await work(transaction);
      if (endpoint.status < 300) endpoint.reply.parse(done);
      recording.objectName ??= nameIn(done);
      const entry = recording.entry(endpoint.status);
      if (entry) await transaction.auditEntry.create({ data: entry }).catch(auditFailed);
      return done;
    },
    timeout === undefined ? {} : { timeout },
  );
  recording.isWritten = true;
  if (recording.entry(endpoint.status)) countEntries('written');
  return reply;
}

/**
 * The name of the object that a reply consists of; of a user, the e-mail address. A handler whose
 * reply does not contain the object sets `recording.objectName`.
 */
function nameIn(reply: unknown): string | undefined {
  const [object] = typeof reply === 'object' && reply !== null ? Object.values(reply) : [];
  if (typeof object !== 'object' || object === null) return undefined;
  const name = 'email' in object ? object.email : 'name' in object ? object.name : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** A route whose handler runs in `runAudited`. */
export const changeRoute = <E extends Endpoint>(
  endpoint: E,
  handle: (context: ChangeContext, input: Input<E>) => Promise<Reply<E>>,
): Route<RequestContext, E> =>
  route(endpoint, (context, input) =>
    runAudited(context, endpoint, (transaction) => handle({ ...context, transaction }, input)),
  );

/**
 * A route whose handler runs in `runAudited`, and acquires the placement lock. Requests wait for
 * their turn without a connection.
 */
export const placementRoute = <E extends Endpoint>(
  endpoint: E,
  handle: (context: ChangeContext, input: Input<E>) => Promise<Reply<E>>,
): Route<RequestContext, E> =>
  route(endpoint, (context, input) =>
    inPlacementQueue(context, () =>
      runAudited(context, endpoint, (transaction) => handle({ ...context, transaction }, input)),
    ),
  );

/**
 * Runs a transaction that acquires the placement lock when it is the turn of the caller. @throws
 * 503 `overloaded`
 */
export const inPlacementQueue = <T>(
  { placementQueue, principal }: RequestContext,
  work: () => Promise<T>,
): Promise<T> => placementQueue.run(callerKey(principal), work);

/**
 * Runs a long transaction that acquires the placement lock, while no other one of this process waits for
 * the lock: it takes both turns. @throws 503 `overloaded`
 */
export const aloneInPlacementQueue = <T>(
  context: Pick<RequestContext, 'applicationQueue' | 'placementQueue'> & {
    readonly principal: Principal | SourcePrincipal;
  },
  work: () => Promise<T>,
): Promise<T> => {
  const { applicationQueue, placementQueue, principal } = context;
  const caller = callerKey(principal);
  // Only one has one turn and waits for the other one, so that two never wait for each other.
  return applicationQueue.run(caller, () =>
    placementQueue.run(caller, () => placementQueue.run(`${caller} alone`, work)),
  );
};

const auditFailed = (cause: unknown) => {
  countEntries('failed');
  throw notRecorded(cause);
};
