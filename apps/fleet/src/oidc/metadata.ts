import type { Send } from '@svc/contract';
import { z } from 'zod';
import { ProviderUnavailable } from './errors.ts';
import { isSecure, parseObject, reach } from './provider-fetch.ts';

const FRESH_MS = 3_600_000;
const RETRY_MS = 2000;

const address = z.url({ protocol: /^https?$/ });
/** Those that are addresses. */
const endpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'jwks_uri',
  'userinfo_endpoint',
  'introspection_endpoint',
] as const;
const words = z.array(z.string()).optional().catch(undefined);

const metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: address,
  token_endpoint: address,
  jwks_uri: address,
  userinfo_endpoint: address.optional(),
  introspection_endpoint: address.optional(),
  scopes_supported: words,
  response_types_supported: words,
  grant_types_supported: words,
  code_challenge_methods_supported: words,
  token_endpoint_auth_methods_supported: words,
  authorization_response_iss_parameter_supported: z.boolean().optional().catch(undefined),
});

/** What a provider says of itself (Discovery 1.0, section 3), as far as it concerns us. */
export type Metadata = z.output<typeof metadata>;

/** Fetches the metadata at a provider's address, whosever they are. Rejects with ProviderUnavailable. */
export async function fetchMetadata(issuer: string, send: Send): Promise<Metadata> {
  const url = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const answer = await reach(send, { method: 'GET', url, headers: { accept: 'application/json' } });
  if (answer.status !== 200)
    throw new ProviderUnavailable(`The provider has no metadata at its address (${answer.status}).`);
  const said = metadata.safeParse(parseObject(answer.body));
  if (!said.success) {
    const members = said.error.issues.map(({ path }) => path.join('.')).filter(Boolean);
    throw new ProviderUnavailable(`The provider’s metadata can’t be used: ${members.join(', ')}.`);
  }
  const bare = endpoints.filter((name) => !isSecure(said.data[name] ?? issuer));
  if (isSecure(issuer) && bare.length > 0)
    throw new ProviderUnavailable(`The provider’s metadata name addresses without https: ${bare.join(', ')}.`);
  return said.data;
}

export interface MetadataSource {
  /** Rejects with ProviderUnavailable where nothing is known yet. */
  get(): Promise<Metadata>;
  /** Whether the last fetch failed. */
  failing(): boolean;
}

/** A provider's metadata: fetched at first use, anew every hour, and kept while the provider is away. */
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
        if (fetched.issuer !== issuer) throw new ProviderUnavailable('The metadata are another issuer’s.');
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
      if (now() - known.at > FRESH_MS) refresh().catch(() => undefined); // what is known serves meanwhile
      return known.metadata;
    },
    failing: () => failure !== undefined,
  };
}
