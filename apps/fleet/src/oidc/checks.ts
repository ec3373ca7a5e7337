import type { Send } from '@svc/contract';
import { type Configuration, genericGrantRequest, tokenIntrospection } from 'openid-client';
import { z } from 'zod';
import { ALGORITHMS, createClient } from './client.ts';
import { GrantRefused, ProviderUnavailable } from './errors.ts';
import { fetchMetadata, type Metadata } from './metadata.ts';
import { parseObject, reach } from './provider-fetch.ts';
import type { ProviderSettings } from './settings.ts';

/** One thing that was tried. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Nothing that a provider has issued. */
const NONSENSE = 'a-test-of-the-settings';

/** Tries a provider. Nothing of what it sent is repeated. */
export async function testProvider(settings: ProviderSettings, send: Send): Promise<readonly Check[]> {
  const found = await fetchMetadata(settings.issuer, send).catch(messageOf);
  if (typeof found === 'string')
    return [check('discovery', false, `${found} Is the issuer right, and may the fleet reach it?`)];
  const discovery = check('discovery', true, 'The provider answers with its metadata.');
  const issuer = checkIssuer(found, settings);
  if (!issuer.ok) return [discovery, issuer]; // no secret goes to somebody else
  const { clientId, clientSecret } = settings;
  const metadata = { get: () => Promise.resolve(found), failing: () => false };
  const client = createClient({ clientId, clientSecret, metadata, send });
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
  if (issuer === settings.issuer) return check('issuer', true, 'The provider calls itself by the configured issuer.');
  const bySlash = issuer.replace(/\/$/, '') === settings.issuer.replace(/\/$/, '');
  return check(
    'issuer',
    false,
    bySlash
      ? `The provider calls itself by the configured issuer ${issuer.endsWith('/') ? 'with' : 'without'} a slash at the end: configure it so.`
      : 'The provider calls itself by another issuer than the configured one: both must agree to the letter.',
  );
}

function checkSignIn(metadata: Metadata): Check {
  const { response_types_supported: flows, code_challenge_methods_supported: methods } = metadata;
  if (flows && !flows.includes('code'))
    return check('sign-in', false, 'The provider does not offer the authorization code flow (response type “code”).');
  if (methods && !methods.includes('S256'))
    return check('sign-in', false, 'The provider does not offer PKCE with S256.');
  return check(
    'sign-in',
    true,
    methods
      ? 'The provider offers the authorization code flow with PKCE (S256).'
      : 'The provider offers the authorization code flow; it does not say whether it checks PKCE (S256).',
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
  const answer = await reach(send, request).catch(messageOf);
  if (typeof answer === 'string') return check('keys', false, `The provider’s keys can’t be had. ${answer}`);
  const { data } = keySet.safeParse(parseObject(answer.body));
  if (!data) return check('keys', false, 'What the provider publishes as its keys is no JSON Web Key Set.');
  const usable = data.keys.filter((key) => usableKey.safeParse(key).success && forSignatures.safeParse(key).success);
  return usable.length > 0
    ? check('keys', true, `The provider publishes ${usable.length} usable signing key${usable.length > 1 ? 's' : ''}.`)
    : check('keys', false, `None of the provider’s keys has an id and fits ${ALGORITHMS.join(', ')}.`);
}

async function checkClient({ clientSecret }: ProviderSettings, call: Call): Promise<Check> {
  const form = {
    code: NONSENSE,
    redirect_uri: 'https://fleet.invalid/callback',
    code_verifier: NONSENSE.padEnd(43, '-'),
  };
  const failure = await call((configuration) => genericGrantRequest(configuration, 'authorization_code', form)).then(
    () => new ProviderUnavailable('The provider takes any code.'),
    (error: unknown) => error,
  );
  if (failure instanceof GrantRefused) {
    const proof = clientSecret ? 'and its secret' : 'without a secret';
    return check('client', true, `The provider takes this client ${proof}.`);
  }
  const detail = messageOf(failure);
  return failure instanceof ProviderUnavailable && failure.refuses === 'request'
    ? check('client', true, `Whether the client is right can’t be told before somebody signs in. ${detail}`)
    : check('client', false, detail);
}

function checkRefresh({ grant_types_supported: grants, scopes_supported: scopes }: Metadata): Check {
  const name = 'refresh tokens';
  if (grants?.includes('refresh_token') || scopes?.includes('offline_access'))
    return check(name, true, 'The provider offers refresh tokens.');
  if (!grants && !scopes) return check(name, true, 'The provider does not say whether it offers refresh tokens.');
  return check(
    name,
    false,
    'The provider offers no refresh tokens: what it takes from people shows at their next sign-in.',
  );
}

async function checkIntrospection(
  { introspection_endpoint }: Metadata,
  { clientSecret, allowUserinfo }: ProviderSettings,
  call: Call,
): Promise<Check> {
  const name = 'introspection';
  const otherwise = allowUserinfo
    ? 'opaque access tokens are proved by userinfo.'
    : 'opaque access tokens are refused.';
  if (!introspection_endpoint) return check(name, true, `The provider has no introspection endpoint: ${otherwise}`);
  if (!clientSecret) return check(name, true, `Introspection needs a client secret: ${otherwise}`);
  const failure = await call((configuration) => tokenIntrospection(configuration, NONSENSE)).then(
    ({ active }) => (active ? 'The provider calls any token active.' : undefined),
    messageOf,
  );
  return failure === undefined
    ? check(name, true, 'The provider tells this client about opaque access tokens.')
    : check(name, false, `The provider does not tell this client about access tokens. ${failure}`);
}
