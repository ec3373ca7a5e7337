import type { JSONWebKeySet } from 'jose';
import { type IdentityProvider, startIdentityProvider } from '../src/server.ts';
import { parseSettings } from '../src/settings.ts';

export const hubAudience = 'https://hub.example.test';
const fleetSecret = 'fleet-secret-of-the-tests';

/** Starts a provider on a free port with the given environment. */
export function aProvider(env: NodeJS.ProcessEnv = {}): Promise<IdentityProvider> {
  return startIdentityProvider(parseSettings({ PORT: '0', FLEET_CLIENT_SECRET: fleetSecret, ...env }));
}

/** Introspects a token as the confidential client `fleet`. */
export async function introspect(issuer: string, token: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`fleet:${fleetSecret}`).toString('base64')}` },
    body: new URLSearchParams({ token }),
  });
  // Introspection responses are JSON objects (RFC 7662).
  return (await response.json()) as Record<string, unknown>;
}

/** The public keys of the provider. */
export async function jwksOf(issuer: string): Promise<JSONWebKeySet> {
  // jose validates each key when it is used.
  return (await (await fetch(`${issuer}/jwks`)).json()) as JSONWebKeySet;
}
