import type { Outbound } from '@svc/http';
import { connectHub, type Hub } from '../catalog/hub.ts';
import { createProvider, type Provider } from '../oidc/provider.ts';
import type { HubInEffect, OidcInEffect } from './values.ts';

type Way = Pick<Outbound, 'send' | 'refusalOf'>;

/** How requests leave: to where the operator's environment says, and to where somebody set it through the API. */
export interface Ways {
  readonly trusted: Way;
  readonly restricted: Way;
}

/** Connections by their settings: the same settings are the same connection, with what it has learnt. */
interface Connections<S, C> {
  /** undefined where the settings name none */
  of(settings: S): C | undefined;
  /** Why the address in the settings is never called, as far as it says itself. */
  refusalOf(settings: S): string | undefined;
}

export type Hubs = Connections<HubInEffect, Hub>;
export type Providers = Connections<OidcInEffect, Provider>;

export const createHubs = (ways: Ways): Hubs => ({
  of: remembered(
    ({ url, api_key, isTrusted }) => [url, api_key, isTrusted],
    ({ url, api_key, isTrusted }) => {
      if (url === null || api_key === undefined) return undefined;
      return connectHub({ url, apiKey: api_key, send: wayOf(ways, isTrusted).send });
    },
  ),
  refusalOf: ({ url, isTrusted }) => refusalOf(wayOf(ways, isTrusted), url),
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
      const { send } = wayOf(ways, isTrusted);
      return createProvider({ ...connection, allowUserinfo: allow_userinfo }, { send });
    },
  ),
  refusalOf: ({ issuer, isTrusted }) => refusalOf(wayOf(ways, isTrusted), issuer),
});

const wayOf = ({ trusted, restricted }: Ways, isTrusted: boolean): Way => (isTrusted ? trusted : restricted);

const refusalOf = (way: Way, address: string | null): string | undefined =>
  address === null ? undefined : way.refusalOf(new URL(address))?.message;

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
