import type { BrowserSessions } from '@svc/auth';
import { offsetOf, type Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { type Diagnosis, implementFor, type Matches, routeFor, type TurnQueue } from '@svc/http';
import type { Recording } from '../../audit/recording.ts';
import type { Sync } from '../../catalog/sync.ts';
import type { ChangeFeed } from '../../changes/feed.ts';
import type { Candidates } from '../../deployments/candidates.ts';
import type { Authentication } from '../../identity/authentication.ts';
import type { Principal } from '../../identity/principal.ts';
import type { IdentityServices } from '../../identity/services.ts';
import type { Subnet } from '../../placement/subnets.ts';
import type { HookProof } from '../../plans/sources/secrets.ts';
import type { EngineRuntime } from '../../reconciler/engine-runtime.ts';
import type { DefaultLimits } from '../../render/defaults.ts';
import type { Hubs } from '../../settings/connections.ts';

export type Usage = Reply<typeof fleetEndpoints.getDeploymentUsage>['usage'];

/** The services that every handler can use. */
export interface Services extends IdentityServices {
  readonly hubs: Hubs;
  readonly sync: Sync;
  readonly engineRuntime: EngineRuntime;
  readonly changes: ChangeFeed;
  /**
   * The reason why the fleet must not connect to a target, as far as its URL shows; undefined if it
   * is allowed.
   */
  readonly refusalOf: (target: URL) => Error | undefined;
  /** The limits of containers whose workload requests nothing. */
  readonly defaultLimits: DefaultLimits;
  /** The subnets from which networks of hosts are allocated; undefined: the default. */
  readonly networkPool: Subnet | undefined;
  /** The port at which this process serves its API; undefined: not known. */
  readonly servicePort?: number | undefined;
  /** The URL at which browsers reach the fleet. The identity provider redirects sign-ins to it. */
  readonly publicUrl: string | undefined;
  /** Signs the confirmations of tools; the same in all replicas. */
  readonly confirmationKey: Uint8Array;
  /** The origins of frontends that can call the API and redirect sign-ins themselves. */
  readonly corsOrigins: readonly string[];
  readonly diagnosis: Diagnosis;
}

/** The connection of a request whose response takes long. */
interface CallerConnection {
  /**
   * Closes the connection soon after the credential is revoked or expires, or its caller gets
   * another role.
   */
  endWithCredential(): void;
  /** Calls a listener when the response was sent or the connection is closed. */
  onClose(listener: () => void): void;
  /** Closes the connection of a client that does not read fast enough. */
  closeAsTooSlow(): void;
}

/** The services, and the values that a handler receives about its request beside its input. */
export interface RequestContext extends Services {
  readonly principal: Principal;
  /** The id of the request, which calls of the hub carry as well. */
  readonly requestId: string;
  readonly recording: Recording;
  /** For transactions that acquire the placement lock. */
  readonly placementQueue: TurnQueue;
  /** For applications of plans, before they wait for their turns among other changes. */
  readonly applicationQueue: TurnQueue;
  /** For plans. Consoles request one whenever the user pauses. */
  readonly planQueue: TurnQueue;
  /** For pages of lists that are large. Their weight are their bytes. */
  readonly pageQueue: TurnQueue;
  /** For readings of usage, which wait for an engine. */
  readonly usageQueue: TurnQueue;
  /** Readings in progress by the id of the deployment, whose results callers share. */
  readonly usageReadings: Map<string, Promise<Usage>>;
  readonly candidates: Candidates;
  /** The address of the caller, as reported by the trusted proxies. */
  readonly address: string;
  /**
   * The versions of the resource that the request permits: `If-Match`. @throws 400 if it is
   * malformed
   */
  readonly ifMatch: () => Matches;
  /** The value of `Idempotency-Key`, not validated. */
  readonly idempotencyKey: string | undefined;
  /** The value of `Last-Event-ID`, not validated. */
  readonly lastEventId: string | undefined;
  /** What a server of git repositories sends to prove who it is, not validated. */
  readonly hookProof: HookProof;
  readonly connection: CallerConnection;
  /** Receives the states of a deployment while the request waits for one of them. */
  readonly onState?: ((state: unknown) => void) | undefined;
  /**
   * Refuses to read more bytes than a caller without HTTP receives at once. Undefined: the response
   * can have any size. @throws 413
   */
  readonly refuseLargeRead?: ((bytes: number) => void) | undefined;
  /** The value of a cookie of the request. */
  readonly cookie: (name: string) => string | undefined;
  readonly browserSessions: BrowserSessions;
  readonly admitTo: Authentication['admitTo'];
  /**
   * Requires that the console sends the request. @throws 403 wrong_origin, 409
   * browser_session_unavailable
   */
  readonly requireConsole: () => void;
  /** `BrowserSessions.keyHashOf` */
  readonly keyHash: string | undefined;
  /** The start of the `User-Agent` of the request. */
  readonly userAgent: string | null;
}

export const route = routeFor<RequestContext>();
export const implement = implementFor<RequestContext>();

/** The rows of a page as options of a Prisma query. */
export const pageOptions = (query: { readonly page: number; readonly limit: number }) => ({
  skip: offsetOf(query),
  take: query.limit,
});
