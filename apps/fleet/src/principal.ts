import type { FleetRole } from '@svc/contract/fleet';

/** Who can call the fleet. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'temporary-admin'; readonly name: string; readonly role: FleetRole; readonly sessionId: string }
  | { readonly kind: 'token'; readonly id: string; readonly name: string; readonly role: FleetRole };

/** Somebody, rather than nobody. */
export type Caller = Exclude<Principal, { readonly kind: 'anonymous' }>;
