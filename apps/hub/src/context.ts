import { type Holds, implementFor, routeFor } from '@svc/http';
import type { Database } from './database/client.ts';
import type { Principal, Viewer } from './principal.ts';

/** What a handler knows of its request. */
export interface RequestContext {
  readonly database: Database;
  readonly principal: Principal;
  readonly viewer: Viewer;
  /** HEAD: the caller wants no body, so nothing was fetched. */
  readonly headOnly: boolean;
  /** Tells whether the caller holds the answer of an entity tag already. */
  readonly holds: Holds;
}

export const route = routeFor<RequestContext>();
export const implement = implementFor<RequestContext>();
