import { shownPrefix } from '@svc/auth';
import { type Layered, layer, type Some, type Source, secretFor } from './layers.ts';
import type { Stored } from './store.ts';

/** Which hub the catalog comes from. */
export interface HubValues {
  readonly url: string | null;
  /** Seconds; 0: only on demand. */
  readonly sync_interval: number;
}

export type HubEnvironment = Some<HubValues & { readonly api_key: string }>;

const defaults: HubValues = { url: null, sync_interval: 300 };

export interface HubInEffect extends HubValues {
  readonly api_key: string | undefined;
  readonly sources: Layered<HubValues>['sources'] & { readonly api_key: Source };
  /** The address is the environment's: the operator's word. */
  readonly isTrusted: boolean;
}

export function hubInEffect(environment: HubEnvironment, { values: set, secret }: Stored<HubValues>): HubInEffect {
  const { api_key, ...fromEnvironment } = environment;
  const { values, sources } = layer(defaults, fromEnvironment, set);
  const addresses = { inEffect: values.url, ofEnvironment: environment.url ?? undefined };
  const { value, source } = secretFor(addresses, secret, api_key);
  return {
    ...values,
    api_key: value,
    sources: { ...sources, api_key: source },
    isTrusted: values.url === environment.url,
  };
}

export const presentHub = ({ url, sync_interval, api_key, sources }: HubInEffect) => ({
  url,
  sync_interval,
  api_key_prefix: api_key === undefined ? null : shownPrefix(api_key),
  sources,
});
