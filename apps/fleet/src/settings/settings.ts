import type { Database } from '../database/client.ts';
import type { Sealer } from '../sealing.ts';
import {
  type HubEnvironment,
  type HubInEffect,
  type HubValues,
  hubInEffect,
  type OidcEnvironment,
  type OidcInEffect,
  type OidcValues,
  oidcInEffect,
  readStored,
} from './values.ts';

/** What the environment says; what is set while the fleet runs wins over it. */
export interface SettingsEnvironment {
  readonly oidc: OidcEnvironment;
  readonly hub: HubEnvironment;
}

type Client = Parameters<typeof readStored>[0];

/** Settings as they are in effect now: read each time, so that a change counts at once on every replica. */
export interface Settings {
  readonly environment: SettingsEnvironment;
  readonly sealer: Sealer;
  /** Within a transaction: as that sees them. */
  oidc(transaction?: Client): Promise<OidcInEffect>;
  hub(): Promise<HubInEffect>;
}

export const createSettings = (database: Database, sealer: Sealer, environment: SettingsEnvironment): Settings => ({
  environment,
  sealer,
  oidc: async (client = database.client) =>
    oidcInEffect(environment.oidc, await readStored<OidcValues>(client, sealer, 'oidc')),
  hub: async () => hubInEffect(environment.hub, await readStored<HubValues>(database.client, sealer, 'hub')),
});
