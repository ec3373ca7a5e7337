import { isSecretToken } from '@svc/auth';
import { given, invalid } from '@svc/http';
import type { HubInEffect, HubValues } from './hub.ts';
import type { OidcInEffect, OidcValues } from './oidc.ts';
import type { Stored } from './store.ts';

type Change<V> = { readonly [K in keyof V]?: V[K] | undefined };

const OIDC = [
  'issuer',
  'client_id',
  'audience',
  'role_claim',
  'role_map',
  'default_role',
  'allow_userinfo',
] as const satisfies readonly (keyof OidcValues)[];

/** What is stored after a change of the provider. @throws 400 for another issuer without its secret */
export function changeOidc(
  before: Stored<OidcValues>,
  body: Change<OidcValues> & { readonly client_secret?: string | null | undefined },
  inEffect: OidcInEffect,
): Stored<OidcValues> {
  const issuer = body.issuer ?? inEffect.issuer;
  const { client_secret } = body;
  if (issuer !== inEffect.issuer && client_secret === undefined && inEffect.client_secret !== undefined) {
    throw again('client_secret', 'issuer (null for a client without one)');
  }
  if (client_secret !== undefined && issuer === null)
    throw invalid([{ path: 'issuer', message: 'is required with a client_secret' }]);
  return {
    values: { ...before.values, ...given(body, OIDC) },
    secret: client_secret === undefined ? before.secret : { value: client_secret, address: issuer ?? '' },
  };
}

/** What is stored after a change of the hub. @throws 400 for another address without its key */
export function changeHub(
  before: Stored<HubValues>,
  body: Change<HubValues> & { readonly api_key?: string | undefined },
  inEffect: HubInEffect,
): Stored<HubValues> {
  const url = body.url ?? inEffect.url;
  const { api_key } = body;
  if (url !== inEffect.url && api_key === undefined) throw again('api_key', 'url');
  if (api_key !== undefined && !isSecretToken('svcc_', api_key)) {
    throw invalid([{ path: 'api_key', message: 'must be an API key of the hub, whole: svcc_ and 49 characters' }]);
  }
  if (api_key !== undefined && url === null) throw invalid([{ path: 'url', message: 'is required with an api_key' }]);
  return {
    values: { ...before.values, ...given(body, ['url', 'sync_interval']) },
    secret: api_key === undefined ? before.secret : { value: api_key, address: url ?? '' },
  };
}

/** Else a secret that is kept would be sent to a stranger. */
const again = (path: string, address: string) =>
  invalid([
    { path, message: `must be given again with another ${address}: the one that is kept is for the former one` },
  ]);
