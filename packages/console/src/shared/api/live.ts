import type { Query, QueryClient } from '@tanstack/react-query';
import { toServerTime } from './clock.ts';
import { expectStream, noteSignOfLife } from './connection.ts';
import { effectOn, isListed, type ListPage } from './effects.ts';

/** A change of one object, as the stream of changes sends it. */
interface Change {
  readonly operation: 'put' | 'deleted';
  readonly kind: string;
  readonly id: string;
  readonly object: unknown;
}

type News =
  /** `position` is that of the last change. */
  | { readonly type: 'changes'; readonly changes: readonly Change[]; readonly position: string }
  | { readonly type: 'counts'; readonly counts: unknown }
  | { readonly type: 'reset' }
  | { readonly type: 'alive' }
  /** The stream begins now: what was read before can lack a change. */
  | { readonly type: 'opened' };

/**
 * What tabs tell each other. `hello`: a tab was opened. `reopen`: a tab misses signs of life, and
 * the connection may be lost.
 */
type Message = News | { readonly type: 'hello' } | { readonly type: 'reopen' };

/** The counts that the stream sends are cached with this key. */
export const COUNTS_KEY = ['counts'] as const;

/** Tabs with a console of version 0.2, which does not know all messages, use another name. */
const LOCK = 'changes-2';
const BATCH_MS = 200;
const RETRY_MS = 3000;

interface Followed {
  /** The address of the stream, after a position; empty: from now on. */
  readonly urlAfter: (position: string) => string;
  /**
   * Resolves at once if the user is signed in, and otherwise after the next sign-in. It never
   * rejects.
   */
  readonly whenSignedIn: () => Promise<void>;
}

/**
 * Applies the changes of the service to the cache of this tab. All tabs of a browser share one
 * connection: the tab that holds a lock receives the stream, and forwards it to the others. When
 * that tab closes, the browser gives the lock to another one.
 */
export function followChanges(queries: QueryClient, { urlAfter, whenSignedIn }: Followed): void {
  const channel = new BroadcastChannel(LOCK);
  const applier = createApplier(queries);
  let greet = () => {};
  let reopen = () => channel.postMessage({ type: 'reopen' } satisfies Message);
  let isReceiver = false;
  let position = '';
  const apply = (message: News) => {
    noteSignOfLife();
    if (message.type === 'changes') position = message.position;
    applier.apply(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === 'hello') greet();
    else if (data.type === 'reopen') {
      if (isReceiver) reopen();
    } else apply(data);
  };
  const publish = (message: News) => {
    channel.postMessage(message);
    apply(message);
  };
  channel.postMessage({ type: 'hello' } satisfies Message);
  expectStream(() => reopen());
  void navigator.locks.request(LOCK, () => {
    greet = () => {
      const counts = queries.getQueryData(COUNTS_KEY);
      if (counts !== undefined) channel.postMessage({ type: 'counts', counts } satisfies Message);
    };
    reopen = receive({ urlOf: () => urlAfter(position), whenSignedIn }, publish);
    isReceiver = true;
    return new Promise(() => undefined); // until the tab closes
  });
}

interface Source extends Pick<Followed, 'whenSignedIn'> {
  /** The address of the stream, after the last change that this tab has received. */
  readonly urlOf: () => string;
}

/**
 * Receives the stream until the tab closes.
 *
 * @returns a function that opens it again, because the connection can be lost without an error
 */
function receive({ urlOf, whenSignedIn }: Source, publish: (message: News) => void): () => void {
  let waiting: Change[] = [];
  let position = '';
  const flush = () => {
    publish({ type: 'changes', changes: waiting, position });
    waiting = [];
  };
  let current: EventSource | undefined;
  const open = () => {
    current?.close();
    const source = new EventSource(urlOf());
    current = source;
    source.addEventListener('open', () => publish({ type: 'opened' }), { once: true });
    source.addEventListener('alive', () => publish({ type: 'alive' }));
    source.addEventListener('change', ({ data, lastEventId }: MessageEvent<string>) => {
      if (waiting.length === 0) setTimeout(flush, BATCH_MS);
      waiting.push(JSON.parse(data));
      position = lastEventId;
    });
    source.addEventListener('counts', ({ data }: MessageEvent<string>) =>
      publish({ type: 'counts', counts: JSON.parse(data) }),
    );
    source.addEventListener('reset', () => publish({ type: 'reset' }));
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return; // the browser connects again by itself
      current = undefined;
      setTimeout(() => void whenSignedIn().then(open), RETRY_MS);
    };
  };
  open();
  // Without a source, one is opened when the user is signed in.
  return () => current && open();
}

/**
 * Pages of lists are read again after a change: soon if rows are concerned, at most once per pause,
 * and later for the total or the end of the page.
 */
const MIN_PAUSE_MS = 300;
const MAX_PAUSE_MS = 1500;
const TOTAL_PAUSE_MS = 20_000;

interface Reread {
  pauseMs: number;
  lastAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  dueAt: number;
}

/** Reads pages of lists again. If changes continue, the pause doubles up to the maximum. */
function createRereads(queries: QueryClient) {
  const states = new WeakMap<Query, Reread>();
  const schedule = (query: Query, state: Reread, pauseMs: number) => {
    const dueAt = Date.now() + pauseMs;
    if (state.timer !== undefined && state.dueAt <= dueAt) return;
    clearTimeout(state.timer);
    state.dueAt = dueAt;
    state.timer = setTimeout(() => {
      state.timer = undefined;
      state.lastAt = Date.now();
      void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    }, pauseMs);
  };
  return (query: Query, effect: 'rows' | 'total') => {
    const state = states.get(query) ?? { pauseMs: MIN_PAUSE_MS, lastAt: 0, timer: undefined, dueAt: 0 };
    states.set(query, state);
    if (effect === 'total') return schedule(query, state, TOTAL_PAUSE_MS * (1 + Math.random() / 2));
    const isQuiet = Date.now() - state.lastAt > 2 * state.pauseMs;
    if (state.timer === undefined) state.pauseMs = isQuiet ? MIN_PAUSE_MS : Math.min(MAX_PAUSE_MS, 2 * state.pauseMs);
    schedule(query, state, state.pauseMs);
  };
}

/**
 * Replaces changed objects in cached responses. Pages of lists are read again if other rows can be
 * right now.
 */
function createApplier(queries: QueryClient) {
  const readAgain = createRereads(queries);
  const applyTo = (query: Query, change: Change) => {
    const { data, fetchStatus } = query.state;
    // The response can be older than the change.
    if (fetchStatus === 'fetching') readAgain(query, 'rows');
    if (typeof data !== 'object' || data === null) return;
    const page = pageOf(change.kind, query);
    if (page) return applyToPage(query, page, change);
    const next = replaced(data, change);
    if (next) show(query, next);
  };
  const applyToPage = (query: Query, { list, pagination, ...page }: CachedPage, { id, object }: Change) => {
    const { rows, total, reread } = effectOn(page, { id, object: isListed(object) ? object : null });
    if (rows !== page.rows) {
      const totals = total === undefined ? {} : { total, totalPages: Math.ceil(total / page.limit) };
      show(query, { ...Object(query.state.data), [list]: rows, pagination: { ...pagination, ...totals } });
    }
    if (reread !== 'none') readAgain(query, reread);
  };
  /** The object is shown now, but the response was sent earlier: its time stays the same. */
  const show = (query: Query, data: unknown) =>
    queries.setQueryData(query.queryKey, data, { updatedAt: query.state.dataUpdatedAt });
  return {
    apply(message: News) {
      if (message.type === 'alive') return;
      if (message.type === 'reset') {
        void queries.invalidateQueries();
        return;
      }
      if (message.type === 'opened') {
        const now = Date.now();
        // Only what is visible, and was read before: a page that is being loaded is not read twice.
        const isOld = ({ queryKey: [tag], state: { dataUpdatedAt, fetchStatus } }: Query) =>
          tag !== 'auth' && fetchStatus === 'idle' && dataUpdatedAt > 0 && dataUpdatedAt < now;
        void queries.invalidateQueries({ predicate: isOld });
        return;
      }
      if (message.type === 'counts') {
        queries.setQueryData(COUNTS_KEY, message.counts);
        return;
      }
      for (const change of message.changes) {
        for (const query of queries.getQueryCache().findAll({ queryKey: [change.kind] })) applyTo(query, change);
      }
      rereadParts(queries, message.changes);
    },
  };
}

/**
 * A response that is no page of a list, with the changed object in place of the earlier one.
 *
 * @returns undefined if the response does not contain the object
 */
function replaced(data: object, { id, object }: Change): object | undefined {
  const isChanged = (value: unknown) => isListed(value) && value.id === id;
  const contains = (value: unknown) =>
    Array.isArray(value) ? value.some(isChanged) : object !== null && isChanged(value);
  if (!Object.values(data).some(contains)) return undefined;
  const replace = (value: unknown) => {
    if (!contains(value)) return value;
    if (!Array.isArray(value)) return object;
    return value.flatMap((row) => (!isChanged(row) ? [row] : object === null ? [] : [object]));
  };
  return Object.fromEntries(Object.entries(data).map(([name, member]) => [name, replace(member)]));
}

interface CachedPage extends ListPage {
  /** The member of the response that contains the rows. */
  readonly list: string;
  readonly pagination: object;
}

/**
 * A cached page of the list of a kind; undefined for other responses, such as the events of one
 * object.
 */
function pageOf(kind: string, { queryKey: [, , input], state }: Query): CachedPage | undefined {
  const { data, dataUpdatedAt } = state;
  const { query = {}, params } = Object(input);
  if (typeof data !== 'object' || data === null || !('pagination' in data) || params) return undefined;
  const list = Object.entries(data).find((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  if (!list?.[1].every(isListed)) return undefined;
  const { page, limit, total, totalPages } = Object(data.pagination);
  return {
    tag: kind,
    list: list[0],
    rows: list[1],
    pagination: Object(data.pagination),
    query,
    number: page,
    limit,
    total,
    totalPages,
    sentAt: toServerTime(dataUpdatedAt),
  };
}

/** Reads again what belongs to the changed objects, such as their events. */
function rereadParts(queries: QueryClient, changes: readonly Change[]): void {
  const isPart = ([tag, name, input]: readonly unknown[]) =>
    typeof name === 'string' &&
    BELONGING.test(name) &&
    changes.some(({ kind, id }) => kind === tag && hasId(input, id));
  void queries.invalidateQueries({ predicate: ({ queryKey }) => isPart(queryKey) });
}

const BELONGING = /^list.+(?:Events|Revisions|Orphans)$|Manifest$/;

const hasId = (input: unknown, id: string): boolean =>
  typeof input === 'object' && input !== null && 'params' in input && isListed(input.params) && input.params.id === id;
