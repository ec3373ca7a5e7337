import path from 'node:path';
import type { Secrets } from './secrets.ts';
import type { Program } from './services.ts';
import type { Settings } from './settings.ts';

export const hubAudience = 'https://hub.example.test';
const fleetAudience = 'https://fleet.example.test';
export const people = { admin: 'admin@example.test', user: 'user@example.test', password: 'development' };
export const temporaryAdmin = 'admin';

export type Addresses = { hub: string; fleet: string; identityProvider: string };

export function addressesOf({ ports }: Settings): Addresses {
  const at = (port: number) => `http://127.0.0.1:${port}`;
  return { hub: at(ports.hub), fleet: at(ports.fleet), identityProvider: at(ports.identityProvider) };
}

export function identityProviderProgram(settings: Settings, secrets: Pick<Secrets, 'fleetClientSecret'>): Program {
  const url = addressesOf(settings).identityProvider;
  return {
    name: 'identity-provider',
    url,
    readyUrl: `${url}/.well-known/openid-configuration`,
    env: {
      ...settings.passedOn,
      PORT: String(settings.ports.identityProvider),
      HOST: '127.0.0.1',
      KEYS_FILE: path.join(settings.dataDir, 'identity-provider-keys.json'),
      AUDIENCES: [hubAudience, fleetAudience, `${addressesOf(settings).fleet}/mcp`].join(','),
      FLEET_CLIENT_SECRET: secrets.fleetClientSecret,
      DEV_PASSWORD: people.password,
    },
  };
}

export function hubProgram(
  settings: Settings,
  databaseUrl: string,
  secrets: Pick<Secrets, 'hubEncryptionKeys'>,
): Program {
  const addresses = addressesOf(settings);
  return {
    name: 'hub',
    url: addresses.hub,
    readyUrl: `${addresses.hub}/readyz`,
    env: {
      ...settings.passedOn,
      DATABASE_URL: databaseUrl,
      PORT: String(settings.ports.hub),
      HOST: '127.0.0.1',
      PUBLIC_URL: addresses.hub,
      OIDC_ISSUER: addresses.identityProvider,
      OIDC_AUDIENCE: hubAudience,
      OIDC_CLIENT_ID: 'dashboard', // a public client, which needs no secret
      ENCRYPTION_KEYS: secrets.hubEncryptionKeys,
      OUTBOUND_ALLOW: 'http,loopback,private', // receivers of webhooks of a development machine are local
      SUPERADMIN_EMAILS: people.admin,
    },
  };
}

export function fleetProgram(
  settings: Settings,
  databaseUrl: string,
  secrets: Secrets & { hubApiKey: string },
): Program {
  const addresses = addressesOf(settings);
  return {
    name: 'fleet',
    url: addresses.fleet,
    readyUrl: `${addresses.fleet}/readyz`,
    env: {
      ...settings.passedOn,
      DATABASE_URL: databaseUrl,
      PORT: String(settings.ports.fleet),
      HOST: '127.0.0.1',
      PUBLIC_URL: addresses.fleet,
      ENCRYPTION_KEYS: secrets.encryptionKeys,
      SVC_TEMP_ADMIN_USERNAME: temporaryAdmin,
      SVC_TEMP_ADMIN_PASSWORD: secrets.temporaryAdminPassword,
      OIDC_ISSUER: addresses.identityProvider,
      OIDC_CLIENT_ID: 'fleet',
      OIDC_CLIENT_SECRET: secrets.fleetClientSecret,
      OIDC_AUDIENCE: fleetAudience,
      OIDC_DEFAULT_ROLE: 'viewer',
      HUB_URL: addresses.hub,
      HUB_API_KEY: secrets.hubApiKey,
      HUB_SYNC_INTERVAL: '30',
      OUTBOUND_ALLOW: 'http,loopback,private,unix', // all hosts and clusters of a development machine are local
    },
  };
}
