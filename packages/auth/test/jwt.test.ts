import { beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@svc/http';
import { base64url, exportJWK, generateKeyPair } from 'jose';
import { createJwtVerifier, createKeySource, isJwtShaped } from '../src/index.ts';
import { AUDIENCE, aKey, anIssuer, aToken, ISSUER, seconds, verifierOf } from './issuer.ts';

const key = await aKey('key-1');
const verify = verifierOf(anIssuer([key.jwk]));

describe('an access token', () => {
  test('that is valid resolves to its claims', async () => {
    const claims = { email: 'a@example.test', email_verified: true, name: 'A' };
    expect(await verify(await aToken(key, { claims }))).toMatchObject({ iss: ISSUER, sub: 'user-1', ...claims });
  });

  test.each(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])('can be signed with %s', async (alg) => {
    const signing = await aKey('key-1', alg);
    expect(await verifierOf(anIssuer([signing.jwk]))(await aToken(signing))).toMatchObject({ sub: 'user-1' });
  });

  test.each(['RS384', 'RS512', 'PS512', 'ES384', 'ES512'])(
    'signed with %s, which is not allowed, is rejected',
    async (alg) => {
      const signing = await aKey('key-1', alg);
      expect(await verifierOf(anIssuer([signing.jwk]))(await aToken(signing))).toBeUndefined();
    },
  );

  test('can have several audiences', async () => {
    const aud = ['https://other.example.test', AUDIENCE];
    expect(await verify(await aToken(key, { claims: { aud } }))).toMatchObject({ sub: 'user-1' });
  });

  test('is valid until 5 seconds after its expiry, because clocks differ', async () => {
    expect(await verify(await aToken(key, { claims: { exp: seconds(-3) } }))).toMatchObject({ sub: 'user-1' });
  });

  test('is valid from 5 seconds before its "not before" time', async () => {
    expect(await verify(await aToken(key, { claims: { nbf: seconds(3) } }))).toMatchObject({ sub: 'user-1' });
  });

  test('can have a lifetime of a day', async () => {
    expect(await verify(await aToken(key, { claims: { exp: seconds(24 * 3600) } }))).toMatchObject({ sub: 'user-1' });
  });

  test('can have an expiry with a fraction', async () => {
    expect(await verify(await aToken(key, { claims: { exp: seconds(300) + 0.25 } }))).toMatchObject({ sub: 'user-1' });
  });

  test('can have no key id if the issuer has one key', async () => {
    expect(await verify(await aToken(key, { header: { kid: undefined } }))).toMatchObject({ sub: 'user-1' });
  });

  test.each([25 * 3600, 1e20])(
    'that is valid for %d seconds is rejected with the setting of the limit',
    async (lifetime) => {
      const token = await aToken(key, { claims: { exp: seconds() + lifetime } });
      await expect(verify(token)).rejects.toThrow(/more than 24 hours\. .* OIDC_MAX_TOKEN_HOURS\.$/);
    },
  );

  test('can have the lifetime that the setting permits', async () => {
    const options = { issuer: ISSUER, audience: AUDIENCE, maxHours: 48 };
    const { send } = anIssuer([key.jwk]);
    const verifyLong = createJwtVerifier({ ...options, keys: createKeySource({ issuer: ISSUER, send }) });
    expect(await verifyLong(await aToken(key, { claims: { exp: seconds(47 * 3600) } }))).toMatchObject({
      sub: 'user-1',
    });
  });

  test.each(['a\0b@example.test', 'a\udc00@example.test'])(
    'with an e-mail that cannot be stored has none: %j',
    async (email) => {
      const claims = { email, name: 'x\0' };
      expect(await verify(await aToken(key, { claims }))).toMatchObject({ email: undefined, name: undefined });
    },
  );

  test('has an e-mail without blanks around it', async () => {
    expect(await verify(await aToken(key, { claims: { email: ' ada@example.test\n' } }))).toMatchObject({
      email: 'ada@example.test',
    });
  });

  test('is accepted when the issuer uses the key id for another key, after one more fetch', async () => {
    const other = await aKey('key-1');
    const issuer = anIssuer([key.jwk]);
    let clock = 0;
    const keys = createKeySource({ issuer: ISSUER, send: issuer.send, now: () => clock });
    const verifyAt = createJwtVerifier({ issuer: ISSUER, audience: AUDIENCE, keys });
    expect(await verifyAt(await aToken(key))).toBeDefined();
    issuer.publish([other.jwk]);
    expect(await verifyAt(await aToken(other))).toBeUndefined(); // the keys are younger than 30 seconds
    clock += 30_000;
    expect(await verifyAt(await aToken(other))).toBeDefined();
    expect(await verifyAt(await aToken(key))).toBeUndefined();
    expect(issuer.refreshes()).toBe(2);
  });

  test('with a name that is not a string is valid and has no name', async () => {
    const claims = await verify(await aToken(key, { claims: { name: { given: 'A' } } }));
    expect(claims?.sub).toBe('user-1');
    expect(claims?.name).toBeUndefined();
  });
});

describe('the problem is 503 and not 401 for', () => {
  let failingIssuer: ReturnType<typeof anIssuer>;
  beforeEach(() => {
    failingIssuer = anIssuer([key.jwk]);
  });

  const unavailable = async (token: string) => {
    const refusal = await verifierOf(failingIssuer)(token).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Problem);
    expect(refusal).toMatchObject({ code: 'unavailable', status: 503, headers: { 'Retry-After': '1' } });
  };

  test('an issuer that is not reachable', async () => {
    failingIssuer.state.isDown = true;
    await unavailable(await aToken(key));
  });

  test('an invalid key of the issuer', async () => {
    failingIssuer.publish([{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'key-1', alg: 'ES256' }]);
    await unavailable(await aToken(key));
  });

  test('a key of the issuer that is too weak', async () => {
    const { publicKey } = await generateKeyPair('RS256', { modulusLength: 2048, extractable: true });
    const { n = '', ...rest } = await exportJWK(publicKey);
    const half = base64url.encode(base64url.decode(n).slice(0, 128));
    failingIssuer.publish([{ ...rest, n: half, kid: 'weak', alg: 'RS256' }]);
    await unavailable(await aToken(await aKey('weak', 'RS256')));
  });
});

test.each([
  ['a.b.c', true],
  ['aZ-_.09.x', true],
  ['a.b', false],
  ['a.b.', false],
  ['a.b.c.d', false],
  ['svcc_abc', false],
  ['2YotnFZFEjr1zCsicMWpAA', false],
  ['', false],
])('%p has the form of a JWT: %p', (token, expected) => {
  expect(isJwtShaped(token)).toBe(expected);
});
