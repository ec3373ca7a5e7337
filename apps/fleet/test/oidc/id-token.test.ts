import { exportSPKI, importJWK } from 'jose';
import { GrantRefused, ProviderUnavailable } from '../../src/oidc/provider.ts';
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
  ['is over', () => ({ exp: seconds(-60) })],
  ['never ends', () => ({ exp: undefined })],
  ['begins later', () => ({ nbf: seconds(120) })],
  ['does not say when it was issued', () => ({ iat: undefined })],
  ['is for another client', () => ({ aud: 'another' })],
  ['is for nobody', () => ({ aud: undefined })],
  ['is for us and for others, without saying for whom first', () => ({ aud: [CLIENT, 'another'] })],
  ['is for others first', () => ({ aud: [CLIENT, 'another'], azp: 'another' })],
  ['comes from another issuer', () => ({ iss: 'https://other.example.test' })],
  ['comes from our issuer with a slash', () => ({ iss: `${issuer.url}/` })],
  ['comes from several issuers', () => ({ iss: [issuer.url] })],
  ['names nobody', () => ({ sub: undefined })],
  ['names somebody without a name', () => ({ sub: '' })],
  ['names somebody by a number', () => ({ sub: 5 })],
  ['has a subject longer than the standard allows', () => ({ sub: 'x'.repeat(256) })],
])('an ID token that %s is refused', async (_, claims) => {
  await expect(signInWith(() => issuer.idToken(claims()))).rejects.toThrow(GrantRefused);
});

test.each<[string, () => Promise<string> | string]>([
  ['no signature (alg none)', () => unsigned(good())],
  ['an HMAC by our client secret', () => signBySecret('the-secret', good(), { kid: issuer.signer().kid })],
  [
    'an HMAC by the public key',
    async () => {
      const key = await importJWK(issuer.signer().publicKey, 'ES256', { extractable: true });
      if (key instanceof Uint8Array) throw new Error('a key pair was expected');
      return signBySecret(await exportSPKI(key), good(), { kid: issuer.signer().kid });
    },
  ],
  [
    'a signature by a stranger under the issuer’s key id',
    async () => (await aSigner(issuer.signer().kid)).sign(good()),
  ],
  [
    'its own key in its header',
    async () => {
      const stranger = await aSigner(issuer.signer().kid);
      return stranger.sign(good(), { jwk: stranger.publicKey });
    },
  ],
])('an ID token with %s is refused', async (_, makeIdToken) => {
  await expect(signInWith(makeIdToken)).rejects.toThrow(GrantRefused);
});

test.each<[string, () => Promise<string>]>([
  ['a key id that the issuer does not publish', async () => (await aSigner('unknown')).sign(good())],
  ['no key id', () => issuer.idToken({}, { kid: undefined })],
])('an ID token with %s is not taken, though its key may be published later', async (_, makeIdToken) => {
  await expect(signInWith(makeIdToken)).rejects.toThrow(ProviderUnavailable);
});

test('a claim that was changed after signing is refused', async () => {
  const forged = async () => {
    const [header, , signature] = (await issuer.idToken()).split('.');
    const [, payload] = (await issuer.idToken({ role: 'admin' })).split('.');
    return [header, payload, signature].join('.');
  };
  await expect(signInWith(forged)).rejects.toThrow(GrantRefused);
});

test.each(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])('an ID token signed with %s is taken', async (alg) => {
  const signer = await aSigner(`an-${alg}`, alg);
  issuer.bend('/keys', () => ({ body: { keys: [signer.publicKey] } }));
  expect((await signInWith(() => signer.sign(good()), aFleet())).claims.sub).toBe('ada');
});

test.each(['RS512', 'PS384', 'ES384'])('an ID token signed with %s is refused', async (alg) => {
  const signer = await aSigner(`an-${alg}`, alg);
  issuer.bend('/keys', () => ({ body: { keys: [signer.publicKey] } }));
  await expect(signInWith(() => signer.sign(good()), aFleet())).rejects.toThrow(GrantRefused);
});

test.each([
  ['none at all', undefined],
  ['one that is a number', 5],
  ['one that is null', null],
])('an answer with %s for an ID token is the provider’s failure', async (_, idToken) => {
  await expect(signInWith(() => idToken)).rejects.toThrow(ProviderUnavailable);
});

test.each(['not-a-jwt', 'a.b.c', 'a.b.c.d.e'])('an ID token that is "%s" is refused', async (idToken) => {
  await expect(signInWith(() => idToken)).rejects.toThrow(GrantRefused);
});

test('a sign-in right after the issuer’s keys were rotated succeeds', async () => {
  const fresh = aFleet();
  await fresh.signIn();
  await issuer.rotate();
  expect((await fresh.signIn()).claims.sub).toBe('ada');
});

test('an old key is no longer good once the issuer publishes another', async () => {
  const fresh = aFleet();
  const old = issuer.signer();
  await issuer.rotate();
  await fresh.signIn();
  await expect(signInWith(() => old.sign(good()), fresh)).rejects.toThrow(ProviderUnavailable);
});

test('without the issuer’s keys nobody signs in, and the provider is failing until they are back', async () => {
  const fresh = aFleet();
  issuer.bend('/keys', () => ({ status: 500 }));
  await expect(fresh.signIn()).rejects.toThrow(ProviderUnavailable);
  expect(fresh.provider.failing()).toBe(true);
  issuer.straighten();
  await fresh.signIn();
  expect(fresh.provider.failing()).toBe(false);
});

test('known keys go on working while the keys’ address is down', async () => {
  const fresh = aFleet();
  await fresh.signIn();
  issuer.bend('/keys', () => ({ status: 500 }));
  fresh.wait(3_600_000);
  expect((await fresh.signIn()).claims.sub).toBe('ada');
});

test('bearer tokens with unknown keys do not keep a rotated key from those who sign in', async () => {
  const fresh = aFleet({ audience: 'https://fleet.example.test' });
  await fresh.signIn();
  const stranger = await aSigner('unknown');
  for (let times = 0; times < 5; times++) await fresh.provider.verifyBearer(await stranger.sign(good()));
  await issuer.rotate();
  expect((await fresh.signIn()).claims.sub).toBe('ada');
});
