import { changeKinds, type FleetAccess, fleetEndpoints } from '@svc/contract/fleet';
import { streamedReply } from '@svc/http';
import type { Subscriber } from '../../changes/delivery.ts';
import type { ChangeFeed } from '../../changes/feed.ts';
import { type ChangeFilter, isBefore, type Position } from '../../changes/history.ts';
import type { ChangeKind } from '../../changes/objects.ts';
import { createOutbox, type Outbox } from '../../changes/outbox.ts';
import { callerKey } from '../../identity/principal.ts';
import { route } from '../request/context.ts';

/** Who may watch a list: who may read it. */
const listAccess: Readonly<Record<ChangeKind, FleetAccess>> = {
  deployments: fleetEndpoints.listDeployments.access,
  hosts: fleetEndpoints.listHosts.access,
  clusters: fleetEndpoints.listClusters.access,
  workloads: fleetEndpoints.listWorkloads.access,
  storage: fleetEndpoints.listStorage.access,
  secrets: fleetEndpoints.listSecrets.access,
  users: fleetEndpoints.listUsers.access,
  tokens: fleetEndpoints.listTokens.access,
  events: fleetEndpoints.listEvents.access,
};

export const watchChanges = route(fleetEndpoints.watchChanges, async (context, { query }) => {
  const { principal, changes, connection } = context;
  const { kinds = changeKinds, id, counts } = query;
  for (const kind of kinds) context.admitTo(listAccess[kind], principal);
  const filter = { kinds, id };
  const release = changes.places.take(callerKey(principal));
  try {
    const outbox = createOutbox(connection.closeAsTooSlow);
    const after = await changes.startOf(context.lastEventId ?? query.after);
    const { position, end } = await changes.subscribe(
      subscriberOf({ outbox, filter, after, counts: counts && kinds.includes('deployments') }),
    );
    const onEnd = () => {
      outbox.end();
      end();
      release();
    };
    const chunks = (disconnected: AbortSignal) => {
      disconnected.addEventListener('abort', outbox.end, { once: true });
      return eventsOf(changes, { outbox, filter, after, until: position });
    };
    return streamedReply('text/event-stream', chunks, { onEnd, withoutBuffering: true });
  } catch (error) {
    release();
    throw error;
  }
});

interface Stream {
  readonly outbox: Outbox;
  readonly filter: ChangeFilter;
  /** The position after which the stream begins; undefined: that of the client is not known. */
  readonly after: Position | undefined;
}

/**
 * Puts the events of the feed into the outbox. A stream can begin ahead of the feed, which reads
 * the history periodically.
 */
function subscriberOf({ outbox, filter, after, counts }: Stream & { readonly counts: boolean }): Subscriber {
  let start = after;
  const isNew = (position: Position) => start === undefined || isBefore(start, position);
  return {
    filter,
    onChange: ({ position, text }) => {
      if (isNew(position)) outbox.push(text);
    },
    onReset: (position) => {
      start = undefined; // it can be of a lost history
      outbox.push(reset(position));
    },
    onAlive: (position) => outbox.push(isNew(position) ? aliveAt(position) : ALIVE),
    onStop: outbox.end,
    ...(counts ? { onCounts: outbox.push } : {}),
  };
}

/** The position before the first change of a stream. */
const opened = (position: Position) => `: opened\nid: ${position}\n\n`;
/** Its position is one with which a client continues. */
const aliveAt = (position: Position) => `event: alive\nid: ${position}\ndata: {}\n\n`;
const ALIVE = 'event: alive\ndata: {}\n\n';
/**
 * The client must read the lists again, because it has not received all changes before this
 * position.
 */
const reset = (position: Position) => `event: reset\nid: ${position}\ndata: {}\n\n`;

interface Start extends Stream {
  /** The position of the subscription: the outbox contains the later changes. */
  readonly until: Position;
}

async function* eventsOf(changes: ChangeFeed, { outbox, filter, after, until }: Start): AsyncGenerator<string> {
  yield after === undefined ? reset(until) : opened(after);
  for (let from = after; from !== undefined && isBefore(from, until); ) {
    const page = await changes.replay({ after: from, until, filter });
    // Without the events that wait: the client continues after the last one that it received.
    if (outbox.isEnded) return;
    yield page === undefined ? reset(until) : page.text; // undefined: pruned meanwhile
    from = page?.next;
  }
  yield* outbox.chunks;
}
