import type { Sealer } from '@svc/database';
import type { Database } from '../database/client.ts';
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

/** The settings from the environment. Settings from the API override them. */
export interface SettingsEnvironment {
  readonly oidc: OidcEnvironment;
  readonly hub: HubEnvironment;
}

type Client = Parameters<typeof readStored>[0];

/**
 * The settings in effect. They are read at each call, so that a change takes effect immediately on
 * all replicas.
 */
export interface Settings {
  readonly environment: SettingsEnvironment;
  readonly sealer: Sealer;
  /** With a transaction, the settings that it sees. */
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
