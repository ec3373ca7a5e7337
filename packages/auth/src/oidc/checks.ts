import type { Send } from '@svc/contract';
import { type Configuration, genericGrantRequest, tokenIntrospection } from 'openid-client';
import { z } from 'zod';
import { ALGORITHMS, createClient, type ProviderSettings } from './client.ts';
import { GrantRefused, ProviderUnavailable } from './errors.ts';
import { fetchMetadata, type Metadata } from './metadata.ts';
import { fetchProvider, parseObject } from './provider-fetch.ts';

/** The result of one check of a provider. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A value that no provider has issued as a code or token. */
const PROBE = 'a-test-of-the-settings';

/** Checks a provider and its settings. The details contain no text that the provider sent. */
export async function testProvider(settings: ProviderSettings, send: Send): Promise<readonly Check[]> {
  const found = await fetchMetadata(settings.issuer, send).catch(messageOf);
  if (typeof found === 'string')
    return [check('discovery', false, `${found} Check the issuer, and that the fleet can connect to it.`)];
  const discovery = check('discovery', true, 'The provider publishes its metadata.');
  const issuer = checkIssuer(found, settings);
  if (!issuer.ok) return [discovery, issuer]; // the client secret is not sent to another issuer
  const { clientId, clientSecret } = settings;
  const client = createClient({ clientId, clientSecret, metadata: async () => found, send });
  return [
    discovery,
    issuer,
    checkSignIn(found),
    await checkKeys(found, send),
    await checkClient(settings, client.call),
    checkRefresh(found),
    await checkIntrospection(found, settings, client.call),
  ];
}

type Call = <T>(use: (configuration: Configuration) => Promise<T>) => Promise<T>;

const check = (name: string, ok: boolean, detail: string): Check => ({ name, ok, detail });

function messageOf(error: unknown): string {
  if (error instanceof ProviderUnavailable || error instanceof GrantRefused) return error.message;
  throw error;
}

function checkIssuer({ issuer }: Metadata, settings: ProviderSettings): Check {
  if (issuer === settings.issuer) return check('issuer', true, 'The issuer in the metadata is the configured issuer.');
  const bySlash = issuer.replace(/\/$/, '') === settings.issuer.replace(/\/$/, '');
  return check(
    'issuer',
    false,
    bySlash
      ? `The issuer in the metadata is the configured issuer ${issuer.endsWith('/') ? 'with' : 'without'} a slash at the end. Configure it in this form.`
      : 'The issuer in the metadata is not the configured issuer. Both must be identical.',
  );
}

function checkSignIn(metadata: Metadata): Check {
  const { response_types_supported: flows, code_challenge_methods_supported: methods } = metadata;
  if (flows && !flows.includes('code'))
    return check('sign-in', false, 'The provider does not support the authorization code flow (response type "code").');
  if (methods && !methods.includes('S256'))
    return check('sign-in', false, 'The provider does not support PKCE with S256.');
  return check(
    'sign-in',
    true,
    methods
      ? 'The provider supports the authorization code flow with PKCE (S256).'
      : 'The provider supports the authorization code flow. Its metadata do not state whether it supports PKCE (S256).',
  );
}

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });
const usableKey = z.union([
  z.looseObject({ kty: z.literal('RSA') }),
  z.looseObject({ kty: z.literal('EC'), crv: z.literal('P-256') }),
  z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519') }),
]);
const forSignatures = z.looseObject({
  kid: z.string(),
  use: z.literal('sig').optional(),
  alg: z.enum(ALGORITHMS).optional(),
});

async function checkKeys({ jwks_uri }: Metadata, send: Send): Promise<Check> {
  const request = { method: 'GET', url: new URL(jwks_uri), headers: { accept: 'application/json' } };
  const response = await fetchProvider(send, request).catch(messageOf);
  if (typeof response === 'string')
    return check('keys', false, `The provider’s keys could not be fetched. ${response}`);
  const { data } = keySet.safeParse(parseObject(response.body));
  if (!data) return check('keys', false, 'The response at the jwks_uri of the provider is not a JSON Web Key Set.');
  const usable = data.keys.filter((key) => usableKey.safeParse(key).success && forSignatures.safeParse(key).success);
  return usable.length > 0
    ? check('keys', true, `The provider publishes ${usable.length} usable signing key${usable.length > 1 ? 's' : ''}.`)
    : check('keys', false, `None of the provider’s keys has an id and can be used with ${ALGORITHMS.join(', ')}.`);
}

async function checkClient({ clientSecret }: ProviderSettings, call: Call): Promise<Check> {
  const form = {
    code: PROBE,
    redirect_uri: 'https://fleet.invalid/callback',
    code_verifier: PROBE.padEnd(43, '-'),
  };
  const failure = await call((configuration) => genericGrantRequest(configuration, 'authorization_code', form)).then(
    () => new ProviderUnavailable('The provider accepts an invalid authorization code.'),
    (error: unknown) => error,
  );
  if (failure instanceof GrantRefused) {
    const proof = clientSecret ? 'and its secret' : 'without a secret';
    return check('client', true, `The provider accepts this client ${proof}.`);
  }
  const detail = messageOf(failure);
  return failure instanceof ProviderUnavailable && failure.refuses === 'request'
    ? check('client', true, `The client cannot be verified before the first sign-in. ${detail}`)
    : check('client', false, detail);
}

function checkRefresh({ grant_types_supported: grants, scopes_supported: scopes }: Metadata): Check {
  const name = 'refresh tokens';
  if (grants?.includes('refresh_token') || scopes?.includes('offline_access'))
    return check(name, true, 'The provider supports refresh tokens.');
  if (!grants && !scopes)
    return check(name, true, 'The metadata of the provider do not state whether it supports refresh tokens.');
  return check(
    name,
    false,
    'The provider supports no refresh tokens. Changes and removals of users take effect at their next sign-in.',
  );
}

async function checkIntrospection(
  { introspection_endpoint }: Metadata,
  { clientSecret, allowUserinfo }: ProviderSettings,
  call: Call,
): Promise<Check> {
  const name = 'introspection';
  const otherwise = allowUserinfo
    ? 'opaque access tokens are verified with userinfo.'
    : 'opaque access tokens are rejected.';
  if (!introspection_endpoint) return check(name, true, `The provider has no introspection endpoint: ${otherwise}`);
  if (!clientSecret) return check(name, true, `Introspection requires a client secret: ${otherwise}`);
  const failure = await call((configuration) => tokenIntrospection(configuration, PROBE)).then(
    ({ active }) => (active ? 'It reports an invalid token as active.' : undefined),
    messageOf,
  );
  return failure === undefined
    ? check(name, true, 'The provider allows this client to introspect access tokens.')
    : check(name, false, `Introspection of access tokens failed. ${failure}`);
}
