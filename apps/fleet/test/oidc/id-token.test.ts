import { GrantRefused, ProviderUnavailable } from '@svc/auth/oidc';
import { exportSPKI, importJWK } from 'jose';
import { CLIENT, type Members } from './bendable-issuer.ts';
import { aSigner, signBySecret, unsigned } from './signer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const fleet = aFleet();
const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;
const good = (): Members => ({ iss: issuer.url, aud: CLIENT, sub: 'ada', nonce: issuer.nonce });

/** Signs in with the ID token that is made once the nonce is known. */
function signInWith(makeIdToken: () => Promise<unknown> | unknown, at = fleet) {
  issuer.bend('/token', async () => issuer.tokens({ id_token: await makeIdToken() }));
  return at.signIn();
}

test.each<[string, () => Members]>([
  ['has expired', () => ({ exp: seconds(-60) })],
  ['has no expiry', () => ({ exp: undefined })],
  ['is not valid yet', () => ({ nbf: seconds(120) })],
  ['has no time of issue', () => ({ iat: undefined })],
  ['is for another client', () => ({ aud: 'another' })],
  ['has no audience', () => ({ aud: undefined })],
  ['has several audiences, without an authorized party', () => ({ aud: [CLIENT, 'another'] })],
  ['has another authorized party', () => ({ aud: [CLIENT, 'another'], azp: 'another' })],
  ['comes from another issuer', () => ({ iss: 'https://other.example.test' })],
  ['comes from the issuer with a trailing slash', () => ({ iss: `${issuer.url}/` })],
  ['has a list of issuers', () => ({ iss: [issuer.url] })],
  ['has no subject', () => ({ sub: undefined })],
  ['has an empty subject', () => ({ sub: '' })],
  ['has a number as subject', () => ({ sub: 5 })],
  ['has a subject longer than the standard allows', () => ({ sub: 'x'.repeat(256) })],
])('an ID token that %s is rejected', async (_, claims) => {
  await expect(signInWith(() => issuer.idToken(claims()))).rejects.toThrow(GrantRefused);
});

test.each<[string, () => Promise<string> | string]>([
  ['no signature (alg none)', () => unsigned(good())],
  ['an HMAC with the client secret', () => signBySecret('the-secret', good(), { kid: issuer.signer().kid })],
  [
    'an HMAC with the public key',
    async () => {
      const key = await importJWK(issuer.signer().publicKey, 'ES256', { extractable: true });
      if (key instanceof Uint8Array) throw new Error('a key pair was expected');
      return signBySecret(await exportSPKI(key), good(), { kid: issuer.signer().kid });
    },
  ],
  ['another key with the key ID of the issuer', async () => (await aSigner(issuer.signer().kid)).sign(good())],
  [
    'its own key in its header',
    async () => {
      const stranger = await aSigner(issuer.signer().kid);
      return stranger.sign(good(), { jwk: stranger.publicKey });
    },
  ],
])('an ID token that has %s is rejected', async (_, makeIdToken) => {
  await expect(signInWith(makeIdToken)).rejects.toThrow(GrantRefused);
});

test.each<[string, () => Promise<string>]>([
  ['a key id that the issuer does not publish', async () => (await aSigner('unknown')).sign(good())],
])(
  'an ID token with %s is not accepted, but is not rejected for good: the key may be published later',
  async (_, makeIdToken) => {
    await expect(signInWith(makeIdToken)).rejects.toThrow(ProviderUnavailable);
  },
);

test('an ID token without a key id is accepted if the issuer has one key', async () => {
  await expect(signInWith(() => issuer.idToken({}, { kid: undefined }))).resolves.toBeDefined();
});

test('an ID token with a claim that was changed after signing is rejected', async () => {
  const forged = async () => {
    const [header, , signature] = (await issuer.idToken()).split('.');
    const [, payload] = (await issuer.idToken({ role: 'admin' })).split('.');
    return [header, payload, signature].join('.');
  };
  await expect(signInWith(forged)).rejects.toThrow(GrantRefused);
});

test.each(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])('an ID token signed with %s is accepted', async (alg) => {
  const signer = await aSigner(`an-${alg}`, alg);
  issuer.bend('/keys', () => ({ body: { keys: [signer.publicKey] } }));
  expect((await signInWith(() => signer.sign(good()), aFleet())).claims.sub).toBe('ada');
});

test.each(['RS512', 'PS384', 'ES384'])('an ID token signed with %s is rejected', async (alg) => {
  const signer = await aSigner(`an-${alg}`, alg);
  issuer.bend('/keys', () => ({ body: { keys: [signer.publicKey] } }));
  await expect(signInWith(() => signer.sign(good()), aFleet())).rejects.toThrow(GrantRefused);
});

test.each([
  ['a missing value', undefined],
  ['a number', 5],
  ['null', null],
])('a token response with %s as ID token is a failure of the provider', async (_, idToken) => {
  await expect(signInWith(() => idToken)).rejects.toThrow(ProviderUnavailable);
});

test.each(['not-a-jwt', 'a.b.c', 'a.b.c.d.e'])('an ID token "%s" is rejected', async (idToken) => {
  await expect(signInWith(() => idToken)).rejects.toThrow(GrantRefused);
});

test('a sign-in right after a rotation of the keys of the issuer succeeds', async () => {
  const fresh = aFleet();
  await fresh.signIn();
  await issuer.rotate();
  expect((await fresh.signIn()).claims.sub).toBe('ada');
});

test('a former key is not accepted after the issuer publishes another', async () => {
  const fresh = aFleet();
  const old = issuer.signer();
  await issuer.rotate();
  await fresh.signIn();
  await expect(signInWith(() => old.sign(good()), fresh)).rejects.toThrow(ProviderUnavailable);
});

test('without the keys of the issuer sign-ins fail, and the provider is unavailable until they can be fetched', async () => {
  const fresh = aFleet();
  issuer.bend('/keys', () => ({ status: 500 }));
  await expect(fresh.signIn()).rejects.toThrow(ProviderUnavailable);
  expect(fresh.provider.status().problem).toMatch(/\S/);
  issuer.straighten();
  await fresh.signIn();
  expect(fresh.provider.status()).toEqual({ wasReached: true, problem: undefined });
});

test('known keys are used while the keys cannot be fetched', async () => {
  const fresh = aFleet();
  await fresh.signIn();
  issuer.bend('/keys', () => ({ status: 500 }));
  fresh.wait(3_600_000);
  expect((await fresh.signIn()).claims.sub).toBe('ada');
});

test('bearer tokens with unknown keys do not delay the use of a rotated key in sign-ins', async () => {
  const fresh = aFleet({ audience: 'https://fleet.example.test' });
  await fresh.signIn();
  const stranger = await aSigner('unknown');
  for (let times = 0; times < 5; times++) await fresh.provider.verifyBearer(await stranger.sign(good()));
  await issuer.rotate();
  expect((await fresh.signIn()).claims.sub).toBe('ada');
});
