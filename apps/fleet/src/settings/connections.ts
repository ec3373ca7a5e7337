import type { Send } from '@svc/contract';
import { connectHub, type Hub } from '../catalog/hub.ts';
import { createProvider, type Provider } from '../oidc/provider.ts';
import type { HubInEffect } from './hub.ts';
import type { OidcInEffect } from './oidc.ts';

/** How requests leave: to where the operator's environment says, and to where somebody set it through the API. */
export interface Ways {
  readonly trusted: Send;
  readonly restricted: Send;
}

/** Connections by their settings: the same settings are the same connection, with what it has learnt. */
export interface Connections<S, C> {
  /** undefined where the settings name none */
  of(settings: S): C | undefined;
}

export type Hubs = Connections<HubInEffect, Hub>;
export type Providers = Connections<OidcInEffect, Provider>;

export const createHubs = (ways: Ways): Hubs => ({
  of: remembered(
    ({ url, api_key, isTrusted }) => [url, api_key, isTrusted],
    ({ url, api_key, isTrusted }) => {
      if (url === null || api_key === undefined) return undefined;
      return connectHub({ url, apiKey: api_key, send: isTrusted ? ways.trusted : ways.restricted });
    },
  ),
});

export const createProviders = (ways: Ways): Providers => ({
  of: remembered(
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
      const connection = { issuer, clientId: client_id, clientSecret: client_secret, audience: audience ?? undefined };
      const send = isTrusted ? ways.trusted : ways.restricted;
      return createProvider({ ...connection, allowUserinfo: allow_userinfo }, { send });
    },
  ),
});

const REMEMBERED = 4;

/** Keeps the few that were used last: the one in effect, and those that were tried. */
function remembered<S, C>(keyOf: (settings: S) => readonly unknown[], connect: (settings: S) => C | undefined) {
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
