import { createProvider, type Provider, type ProviderSettings } from '@svc/auth/oidc';
import type { Outbound } from '@svc/http';
import { connectHub, type Hub } from '../catalog/hub.ts';
import type { HubInEffect, OidcInEffect } from './values.ts';

type OutboundRoute = Pick<Outbound, 'send' | 'refusalOf'>;

/**
 * The outbound routes: `trusted` for addresses from the environment, `restricted` for addresses
 * that were set through the API.
 */
export interface OutboundRoutes {
  readonly trusted: OutboundRoute;
  readonly restricted: OutboundRoute;
}

/**
 * Connections by their settings. Equal settings return the same connection, with the state that it
 * has cached.
 */
interface Connections<S, C> {
  /** The connection; undefined if the settings are not complete. */
  of(settings: S): C | undefined;
  /**
   * The reason why the address in the settings is not allowed, as far as the address itself shows
   * it, without name resolution.
   */
  refusalOf(settings: S): string | undefined;
}

export type Hubs = Connections<HubInEffect, Hub>;
export type Providers = Connections<OidcInEffect, Provider>;

export const createHubs = (routes: OutboundRoutes): Hubs => ({
  of: cached(
    ({ url, api_key, isTrusted }) => [url, api_key, isTrusted],
    ({ url, api_key, isTrusted }) => {
      if (url === null || api_key === undefined) return undefined;
      return connectHub({ url, apiKey: api_key, send: routeFor(routes, isTrusted).send });
    },
  ),
  refusalOf: ({ url, isTrusted }) => refusalOf(routeFor(routes, isTrusted), url),
});

/** `resource` is the URL of the MCP endpoint, if it is known. */
export const createProviders = (
  routes: OutboundRoutes,
  { resource, maxTokenHours }: Pick<ProviderSettings, 'resource' | 'maxTokenHours'> = {},
): Providers => ({
  of: cached(
    ({ issuer, client_id, client_secret, audience, allow_userinfo, isTrusted }) => [
      issuer,
      client_id,
      client_secret,
      audience,
      allow_userinfo,
      isTrusted,
    ],
    ({ issuer, client_id, client_secret, audience, allow_userinfo, isTrusted }) => {
      if (issuer === null || client_id === null) return undefined;
      const client = { issuer, clientId: client_id, clientSecret: client_secret };
      const { send } = routeFor(routes, isTrusted);
      return createProvider(
        { ...client, audience: audience ?? undefined, resource, maxTokenHours, allowUserinfo: allow_userinfo },
        { send },
      );
    },
  ),
  refusalOf: ({ issuer, isTrusted }) => refusalOf(routeFor(routes, isTrusted), issuer),
});

const routeFor = ({ trusted, restricted }: OutboundRoutes, isTrusted: boolean): OutboundRoute =>
  isTrusted ? trusted : restricted;

const refusalOf = (route: OutboundRoute, address: string | null): string | undefined =>
  address === null ? undefined : route.refusalOf(new URL(address))?.message;

const REMEMBERED = 4;

/** Caches the most recently used connections: the one in effect, and those that were tested. */
function cached<S, C>(keyOf: (settings: S) => readonly unknown[], connect: (settings: S) => C | undefined) {
  const known = new Map<string, C | undefined>();
  return (settings: S): C | undefined => {
    const key = JSON.stringify(keyOf(settings).map((part) => part ?? null));
    const connection = known.has(key) ? known.get(key) : connect(settings);
    known.delete(key);
    known.set(key, connection);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    return connection;
  };
}
