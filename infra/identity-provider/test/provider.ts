import type { JSONWebKeySet } from 'jose';
import { type IdentityProvider, startIdentityProvider } from '../src/server.ts';
import { parseSettings } from '../src/settings.ts';

export const hubAudience = 'https://hub.example.test';
const fleetSecret = 'fleet-secret-of-the-tests';

/** A provider on a free port, with the environment's defaults and what a test names. */
export function aProvider(env: NodeJS.ProcessEnv = {}): Promise<IdentityProvider> {
  return startIdentityProvider(parseSettings({ PORT: '0', FLEET_CLIENT_SECRET: fleetSecret, ...env }));
}

/** Asks introspection about a token, as the confidential client `fleet`. */
export async function introspect(issuer: string, token: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`fleet:${fleetSecret}`).toString('base64')}` },
    body: new URLSearchParams({ token }),
  });
  // Introspection answers are JSON objects (RFC 7662).
  return (await response.json()) as Record<string, unknown>;
}

/** The provider's public keys. */
export async function jwksOf(issuer: string): Promise<JSONWebKeySet> {
  // jose checks each key when it is used.
  return (await (await fetch(`${issuer}/jwks`)).json()) as JSONWebKeySet;
}
