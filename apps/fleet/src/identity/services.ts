import type { Database } from '../database/client.ts';
import type { Providers } from '../settings/connections.ts';
import type { Settings } from '../settings/settings.ts';
import type { Passwords } from './passwords/passwords.ts';
import type { FleetPolicy } from './policy.ts';
import type { Sessions } from './sessions/sessions.ts';

/** The services that identify callers. */
export interface IdentityServices {
  readonly database: Database;
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly providers: Providers;
  readonly policy: FleetPolicy;
}
