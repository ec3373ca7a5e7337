import { implementFor, type Matches, routeFor } from '@svc/http';
import type { Recording } from '../audit/recording.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { Sync } from '../catalog/sync.ts';
import type { Database } from '../database/client.ts';
import type { Principal } from '../principal.ts';
import type { Machines } from '../reconciler/engine-runtime.ts';
import type { Hubs, Providers } from '../settings/connections.ts';
import type { Settings } from '../settings/settings.ts';

/** What every handler can use. */
export interface Services {
  readonly database: Database;
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly providers: Providers;
  readonly hubs: Hubs;
  readonly sync: Sync;
  readonly machines: Machines;
  /** Why a target that somebody registers is never called, as far as its address says. */
  readonly refusalOf: (target: URL) => Error | undefined;
  /** Under which browsers reach the fleet: sign-ins come back to it. */
  readonly publicUrl: string | undefined;
  /** Of frontends elsewhere, which may do their own sign-in. */
  readonly corsOrigins: readonly string[];
}

/** What a handler knows of its request. */
export interface RequestContext extends Services {
  readonly principal: Principal;
  readonly recording: Recording;
  /** The caller's address, as far as the configured proxies can be believed. */
  readonly address: string;
  /** Which versions of what it changes the caller has seen: `If-Match`. @throws 400 for a malformed one */
  readonly seen: () => Matches;
  /** `Idempotency-Key`, as it was given. */
  readonly idempotencyKey: string | undefined;
  /** A cookie that the browser sent. */
  readonly cookie: (name: string) => string | undefined;
}

export const route = routeFor<RequestContext>();
export const implement = implementFor<RequestContext>();

/** Which rows a page of a list has. */
export const rowsOf = ({ page, limit }: { readonly page: number; readonly limit: number }) => ({
  skip: (page - 1) * limit,
  take: limit,
});
