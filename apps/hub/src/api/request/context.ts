import type { BrowserSessions } from '@svc/auth';
import type { Endpoint, Input } from '@svc/contract';
import {
  type Diagnosis,
  type HasEtag,
  implementFor,
  type LargeReads,
  type Matches,
  type Rendered,
  type Route,
  routeFor,
  type TurnQueue,
} from '@svc/http';
import type { StreamSlots } from '../../catalog/changes/stream-slots.ts';
import type { CachedCatalog } from '../../catalog/memory/cached-catalog.ts';
import type { Usage } from '../../catalog/usage.ts';
import type { Database } from '../../database/client.ts';
import type { IdentityProvider } from '../../identity/authenticate.ts';
import { callerKey, type Principal, type Viewer } from '../../identity/principal.ts';
import type { Revision } from '../../revision/revision.ts';
import type { Keys } from '../../webhooks/keys.ts';

/** The parts of the service that handlers use. */
export interface Services {
  readonly database: Database;
  readonly catalog: CachedCatalog;
  readonly usage: Usage;
  readonly provider: IdentityProvider;
  readonly diagnosis: Diagnosis;
  /** What seals the signing secrets of webhooks. */
  readonly keys: Keys;
  /** The reason why the hub must not connect to a target, as far as its URL shows; undefined if it is allowed. */
  readonly refusalOf: (target: URL) => Error | undefined;
  /** The URL at which browsers reach the hub. The identity provider redirects sign-ins to it. */
  readonly publicUrl: string | undefined;
  readonly browserSessions: BrowserSessions;
  readonly streamSlots: StreamSlots;
  /** For pages of changes. */
  readonly pageQueue: TurnQueue;
  /** For all changes since a time. They are usually few, and never wait for pages. */
  readonly changeQueue: TurnQueue;
  /** For pages of the catalog that are large. Their weight are their bytes. */
  readonly listQueue: TurnQueue;
  /** For imports and exports of the catalog. Each needs memory for its files, and time to parse them. */
  readonly publishQueue: TurnQueue;
}

/** The caller of a request. */
interface Caller {
  readonly principal: Principal;
  readonly viewer: Viewer;
  /** The address of the client. */
  readonly address: string;
  /** The value of a cookie of the request. */
  readonly cookie: (name: string) => string | undefined;
  /** The start of the `User-Agent` of the request. */
  readonly userAgent: string | null;
  /** A revision that was read after the request arrived. */
  readonly revision: () => Promise<Revision>;
}

/** What all operations of a request receive. A request to the MCP endpoint can have several. */
export type CallerContext = Services & Caller;

/** What a handler receives beside the validated input. */
export interface RequestContext extends Services, Caller {
  readonly request: { readonly id: string; readonly method: string; readonly path: string };
  /**
   * Requires that the console sends the request. @throws 403 wrong_origin, 409
   * browser_session_unavailable
   */
  readonly requireConsole: () => void;
  /** `BrowserSessions.keyHashOf` */
  readonly keyHash: string | undefined;
  /** The method is HEAD: no body is sent, so the request does not count as a download. */
  readonly headOnly: boolean;
  /** Whether `If-None-Match` of the request contains an entity tag. */
  readonly hasEtag: HasEtag;
  /**
   * The versions of the object that the request permits: `If-Match`. @throws 400 if it is malformed
   */
  readonly ifMatch: () => Matches;
  /**
   * Refuses to read more bytes than a caller without HTTP receives at once. Undefined: the response
   * can have any size. @throws 413
   */
  readonly refuseLargeRead?: ((bytes: number) => void) | undefined;
}

/** How the caller of a request reads large pages. */
export const largeReadsOf = ({ listQueue, principal, address, refuseLargeRead }: RequestContext): LargeReads => ({
  inTurn: (work, bytes) => listQueue.run(callerKey(principal, address), work, bytes),
  refuse: refuseLargeRead,
});

/** What an answer from memory depends on, beside the input and the revision. */
export type MemoryContext = Pick<RequestContext, 'catalog' | 'usage' | 'principal' | 'viewer' | 'headOnly'>;

/** Reads the reply from memory. @returns undefined if it needs more @throws Problem */
type FromMemory<E extends Endpoint> = (
  context: MemoryContext,
  revision: Revision,
  input: Input<E>,
) => Rendered | undefined;

/** A frequent read, which is usually answered from memory. */
export interface FrequentRead<E extends Endpoint = Endpoint> extends Route<RequestContext, E> {
  // Method syntax makes the parameters bivariant, as in `Route`.
  fromMemory(...given: Parameters<FromMemory<E>>): Rendered | undefined;
}

/** Declares a frequent read. `handle` runs if it cannot be answered from memory. */
export const frequentRead = <E extends Endpoint>(
  endpoint: E,
  fromMemory: FromMemory<E>,
  handle: Route<RequestContext, E>['handle'],
): FrequentRead<E> => ({
  ...route(endpoint, async (context, input) => {
    const answer = fromMemory(context, await context.revision(), input);
    return answer ?? handle(context, input);
  }),
  fromMemory,
});

export const route = routeFor<RequestContext>();
export const implement = implementFor<RequestContext>();
