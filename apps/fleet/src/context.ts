import { implementFor, routeFor } from '@svc/http';
import type { Sessions } from './auth/sessions.ts';
import type { Sync } from './catalog/sync.ts';
import type { Database } from './database/client.ts';
import type { Principal } from './principal.ts';

/** What a handler knows of its request. */
export interface RequestContext {
  readonly database: Database;
  readonly principal: Principal;
  readonly sessions: Sessions;
  readonly sync: Sync;
  /** The caller's address, as far as the configured proxies can be believed. */
  readonly address: string;
}

export const route = routeFor<RequestContext>();
export const implement = implementFor<RequestContext>();
