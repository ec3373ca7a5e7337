import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { base64url, CompactSign, exportSPKI, importJWK } from 'jose';
import { AUDIENCE, aKey, anIssuer, aToken, ISSUER, seconds, verifierOf } from './issuer.ts';

const key = await aKey('key-1');
const otherKey = await aKey('key-1'); // with the key id of the issuer's key
const rsa = await aKey('rsa', 'RS256');
const issuer = anIssuer([key.jwk]);
const verify = verifierOf(issuer);

const publicRsa = async () => {
  const imported = await importJWK(rsa.jwk, 'RS256', { extractable: true });
  if (imported instanceof Uint8Array) throw new TypeError('an RSA key is not a secret');
  return imported;
};
const encode = (value: unknown) => base64url.encode(JSON.stringify(value));
const validClaims = () => ({ iss: ISSUER, aud: AUDIENCE, sub: 'user-1', exp: seconds(300) });

describe('rejects a token with', () => {
  const wrongClaims: [string, Record<string, unknown>][] = [
    ['another issuer', { iss: 'https://evil.example.test' }],
    ['a trailing slash in the issuer', { iss: `${ISSUER}/` }],
    ['an array that contains the issuer', { iss: [ISSUER] }],
    ['no issuer', { iss: undefined }],
    ['another audience', { aud: 'https://other.example.test' }],
    ['an audience that has the expected one as prefix', { aud: `${AUDIENCE}.evil.test` }],
    ['no audience', { aud: undefined }],
    ['an empty array of audiences', { aud: [] }],
    ['no expiry', { exp: undefined }],
    ['an expiry an hour ago', { exp: seconds(-3600) }],
    ['an expiry 7 seconds ago', { exp: seconds(-7) }],
    ['an expiry that is a string', { exp: String(seconds(300)) }],
    ['an expiry that is null', { exp: null }],
    ['a "not before" time in the future', { nbf: seconds(60) }],
    ['a "not before" time that is a string', { nbf: 'now' }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a number as subject', { sub: 42 }],
    ['a subject with NUL', { sub: 'user\0' }],
    ['a subject with a lone surrogate', { sub: 'user-\ud800' }],
    ['an array as subject', { sub: ['user-1'] }],
    ['an object as subject', { sub: { id: 'user-1' } }],
    ['a subject of 256 characters', { sub: 'x'.repeat(256) }],
    ['the claim of an ID token of Keycloak', { typ: 'ID' }],
    ['a key that its sender must prove to possess', { cnf: { jkt: 'x' } }],
    ['events, which is a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
  ];
  test.each(['dpop+jwt', 'logout+jwt', 'application/logout+jwt', 'secevent+jwt', 'at+jwt+x', ''])(
    'the type "%s"',
    async (typ) => {
      expect(await verify(await aToken(key, { header: { typ } }))).toBeUndefined();
    },
  );

  test.each(['JWT', 'jwt', 'at+jwt', 'application/at+jwt', undefined])('no type other than %s', async (typ) => {
    expect(await verify(await aToken(key, { header: { typ } }))).toBeDefined();
  });

  test.each(['nonce', 'at_hash', 'c_hash'])(
    '%s and without the type of an access token, which is an ID token',
    async (claim) => {
      const header = { typ: 'JWT' };
      expect(await verify(await aToken(key, { header, claims: { [claim]: 'x' } }))).toBeUndefined();
      expect(await verify(await aToken(key, { header, claims: { [claim]: 'x', typ: 'Bearer' } }))).toBeDefined();
      expect(await verify(await aToken(key, { claims: { [claim]: 'x' } }))).toBeDefined();
    },
  );

  test('no required claim, but ignores invalid claims that describe the user', async () => {
    const claims = { email: ['a@example.test'], email_verified: 'true', name: null };
    const verified = await verify(await aToken(key, { claims }));
    expect(verified).toMatchObject({ email: undefined, email_verified: undefined, name: undefined });
  });

  test.each(wrongClaims)('%s', async (_, claims) => {
    expect(await verify(await aToken(key, { claims }))).toBeUndefined();
  });

  const jwk = otherKey.jwk;
  const wrongHeaders: [string, Record<string, unknown>][] = [
    ['the signature of another key', {}],
    ['a key in the header (jwk)', { jwk }],
    ['a URL of keys in the header (jku)', { jku: 'https://evil.example.test/keys' }],
    ['a URL of a certificate in the header (x5u)', { x5u: 'https://evil.example.test/cert' }],
    ['a certificate in the header (x5c)', { x5c: ['MIIB'] }],
    ['an unknown key id and a URL of keys in the header', { kid: 'evil', jku: 'https://evil.example.test/keys' }],
  ];
  test.each(wrongHeaders)('%s, and requests keys only from the issuer', async (_, header) => {
    expect(await verify(await aToken(otherKey, { header }))).toBeUndefined();
    expect(issuer.requests.filter((url) => !url.startsWith(ISSUER))).toEqual([]);
  });

  test('no key id, if the issuer has several keys', async () => {
    const token = await aToken(key, { header: { kid: undefined } });
    expect(await verifierOf(anIssuer([key.jwk, otherKey.jwk]))(token)).toBeUndefined();
  });

  test('a critical extension (crit)', async () => {
    const header = { alg: 'ES256', kid: 'key-1', crit: ['https://example.test/x'], 'https://example.test/x': 1 };
    const signed = await new CompactSign(new TextEncoder().encode(JSON.stringify(validClaims())))
      .setProtectedHeader(header)
      .sign(key.privateKey, { crit: { 'https://example.test/x': true } });
    expect(await verify(signed)).toBeUndefined();
  });

  test.each(['none', 'None', 'NONE', ''])('no signature (alg %p)', async (alg) => {
    const unsigned = `${encode({ alg, kid: 'key-1' })}.${encode(validClaims())}`;
    expect(await verify(`${unsigned}.`)).toBeUndefined();
    expect(await verify(`${unsigned}.AAAA`)).toBeUndefined();
  });

  test.each([
    ['in PEM', async () => exportSPKI(await publicRsa())],
    ['as a JWK', async () => JSON.stringify(rsa.jwk)],
  ])('an HS256 signature by the public key %s', async (_, secretOf) => {
    const head = `${encode({ alg: 'HS256', kid: 'rsa' })}.${encode(validClaims())}`;
    const signature = createHmac('sha256', await secretOf())
      .update(head)
      .digest('base64url');
    expect(await verifierOf(anIssuer([rsa.jwk]))(`${head}.${signature}`)).toBeUndefined();
  });

  test('another algorithm than that of its key', async () => {
    expect(await verify(await aToken(await aKey('key-1', 'EdDSA')))).toBeUndefined();
  });

  test('a signature by an encryption key of the issuer', async () => {
    const encryptionIssuer = anIssuer([{ ...key.jwk, use: 'enc' }]);
    expect(await verifierOf(encryptionIssuer)(await aToken(key))).toBeUndefined();
  });

  test('a signature by a symmetric key that the issuer published by mistake', async () => {
    const k = base64url.encode('0123456789abcdef0123456789abcdef');
    const head = `${encode({ alg: 'HS256', kid: 'oct' })}.${encode(validClaims())}`;
    const signature = createHmac('sha256', base64url.decode(k)).update(head).digest('base64url');
    const misconfigured = anIssuer([{ kty: 'oct', k, kid: 'oct', alg: 'HS256' }]);
    expect(await verifierOf(misconfigured)(`${head}.${signature}`)).toBeUndefined();
  });

  test('claims that were changed after signing', async () => {
    const [header, , signature] = (await aToken(key)).split('.');
    expect(await verify(`${header}.${encode({ ...validClaims(), sub: 'admin' })}.${signature}`)).toBeUndefined();
  });

  test.each([
    ['no content', ''],
    ['no dots', 'abc'],
    ['two parts', 'a.b'],
    ['five parts', 'a.b.c.d.e'],
    ['empty parts', '..'],
    ['parts that are not JSON', 'a.b.c'],
    ['a payload that is an array', `${encode({ alg: 'ES256', kid: 'key-1' })}.${encode([])}.AAAA`],
    ['a header that is null', `${encode(null)}.${encode({})}.AAAA`],
    ['a key id that is a number', `${encode({ alg: 'ES256', kid: 1 })}.${encode({})}.AAAA`],
    ['a key id that is __proto__', `${encode({ alg: 'ES256', kid: '__proto__' })}.${encode({})}.AAAA`],
    ['an algorithm that is an array', `${encode({ alg: ['ES256'], kid: 'key-1' })}.${encode({})}.AAAA`],
  ])('%s', async (_, token) => {
    expect(await verify(token)).toBeUndefined();
  });
});
