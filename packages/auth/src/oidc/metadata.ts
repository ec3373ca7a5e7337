import type { Send } from '@svc/contract';
import { z } from 'zod';
import type { ProviderStatus } from '../provider-status.ts';
import { ProviderUnavailable } from './errors.ts';
import { fetchProvider, isSecure, parseObject } from './provider-fetch.ts';

const FRESH_MS = 3_600_000;
const RETRY_MS = 2000;

const address = z.url({ protocol: /^https?$/ });
/** Members of the metadata that are URLs. */
const endpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'jwks_uri',
  'userinfo_endpoint',
  'introspection_endpoint',
] as const;
const stringList = z.array(z.string()).optional().catch(undefined);

const metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  userinfo_endpoint: address.optional(),
  introspection_endpoint: address.optional(),
  scopes_supported: stringList,
  response_types_supported: stringList,
  grant_types_supported: stringList,
  code_challenge_methods_supported: stringList,
  token_endpoint_auth_methods_supported: stringList,
  authorization_response_iss_parameter_supported: z.boolean().optional().catch(undefined),
});

/**
 * The members of the provider metadata that the fleet uses (OpenID Connect Discovery 1.0, section
 * 3).
 */
export type Metadata = z.output<typeof metadata>;

/**
 * Fetches the metadata at the URL of an issuer. Does not compare the issuer in them. Rejects with
 * ProviderUnavailable.
 */
export async function fetchMetadata(issuer: string, send: Send): Promise<Metadata> {
  const url = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const response = await fetchProvider(send, { method: 'GET', url, headers: { accept: 'application/json' } });
  if (response.status !== 200)
    throw new ProviderUnavailable(`The provider publishes no metadata at its issuer URL (${response.status}).`);
  const parsed = metadata.safeParse(parseObject(response.body));
  if (!parsed.success) {
    const members = parsed.error.issues.map(({ path }) => path.join('.')).filter(Boolean);
    throw new ProviderUnavailable(`The provider’s metadata have missing or invalid members: ${members.join(', ')}.`);
  }
  const insecure = endpoints.filter((name) => !isSecure(parsed.data[name] ?? issuer));
  if (isSecure(issuer) && insecure.length > 0)
    throw new ProviderUnavailable(`The provider’s metadata contain URLs without https: ${insecure.join(', ')}.`);
  return parsed.data;
}

export interface MetadataSource {
  /** Rejects with ProviderUnavailable if no metadata have been fetched yet. */
  get(): Promise<Metadata>;
  /** Fetches them again. Rejects with ProviderUnavailable. */
  refresh(): Promise<Metadata>;
  status(): ProviderStatus;
}

/**
 * Caches the metadata of a provider: fetches them at first use, refreshes them every hour, and
 * keeps them while the provider is unavailable.
 */
export function createMetadataSource(options: {
  readonly issuer: string;
  readonly send: Send;
  readonly now: () => number;
}): MetadataSource {
  const { issuer, send, now } = options;
  let known: { readonly metadata: Metadata; readonly at: number } | undefined;
  let running: Promise<Metadata> | undefined;
  let failure: { readonly error: unknown; readonly at: number } | undefined;

  const refresh = (): Promise<Metadata> => {
    if (running) return running;
    if (failure && now() - failure.at < RETRY_MS) return Promise.reject(failure.error);
    running = fetchMetadata(issuer, send)
      .then((fetched) => {
        if (fetched.issuer !== issuer) throw new ProviderUnavailable('The metadata are of another issuer.');
        known = { metadata: fetched, at: now() };
        failure = undefined;
        return fetched;
      })
      .catch((error: unknown) => {
        failure = { error, at: now() };
        throw error;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  return {
    get: async () => {
      if (!known) return refresh();
      // The cached metadata are used meanwhile.
      if (now() - known.at > FRESH_MS) refresh().catch(() => undefined);
      return known.metadata;
    },
    refresh,
    status: () => ({
      wasReached: known !== undefined,
      problem: failure && (failure.error instanceof Error ? failure.error.message : String(failure.error)),
    }),
  };
}
