import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { base64url, CompactSign, createLocalJWKSet, exportSPKI, importJWK } from 'jose';
import { createJwtVerifier } from '../src/index.ts';
import { AUDIENCE, aKey, anIssuer, aToken, ISSUER, seconds, verifierOf } from './issuer.ts';

const key = await aKey('key-1');
const stranger = await aKey('key-1'); // claims the issuer's key id
const rsa = await aKey('rsa', 'RS256');
const issuer = anIssuer([key.jwk]);
const verify = verifierOf(issuer);

const publicRsa = async () => {
  const imported = await importJWK(rsa.jwk, 'RS256', { extractable: true });
  if (imported instanceof Uint8Array) throw new TypeError('an RSA key is no secret');
  return imported;
};
const encode = (value: unknown) => base64url.encode(JSON.stringify(value));
const goodClaims = () => ({ iss: ISSUER, aud: AUDIENCE, sub: 'user-1', exp: seconds(300) });

describe('refused is a token with', () => {
  const wrongClaims: [string, Record<string, unknown>][] = [
    ['another issuer', { iss: 'https://evil.example.test' }],
    ['the issuer with a slash behind', { iss: `${ISSUER}/` }],
    ['a list of issuers, ours among them', { iss: [ISSUER] }],
    ['no issuer', { iss: undefined }],
    ['another audience', { aud: 'https://other.example.test' }],
    ['an audience that begins like ours', { aud: `${AUDIENCE}.evil.test` }],
    ['no audience', { aud: undefined }],
    ['an empty list of audiences', { aud: [] }],
    ['no end', { exp: undefined }],
    ['an end long ago', { exp: seconds(-3600) }],
    ['an end 7 seconds ago', { exp: seconds(-7) }],
    ['an end of 1e20', { exp: 1e20 }],
    ['an end beyond a day', { exp: seconds(24 * 3600 + 60) }],
    ['an end that is text', { exp: String(seconds(300)) }],
    ['an end that is null', { exp: null }],
    ['a beginning in the future', { nbf: seconds(60) }],
    ['a beginning that is text', { nbf: 'now' }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a number for a subject', { sub: 42 }],
    ['a list for a subject', { sub: ['user-1'] }],
    ['an object for a subject', { sub: { id: 'user-1' } }],
    ['a subject of 256 characters', { sub: 'x'.repeat(256) }],
    ['an ID token as Keycloak marks it', { typ: 'ID' }],
  ];
  test.each(['nonce', 'at_hash', 'c_hash'])(
    '%s without the type of an access token: it is an ID token',
    async (claim) => {
      const header = { typ: 'JWT' };
      expect(await verify(await aToken(key, { header, claims: { [claim]: 'x' } }))).toBeUndefined();
      expect(await verify(await aToken(key, { header, claims: { [claim]: 'x', typ: 'Bearer' } }))).toBeDefined();
      expect(await verify(await aToken(key, { claims: { [claim]: 'x' } }))).toBeDefined();
    },
  );

  test('a description of the person that is not in order is left out, and refuses nobody', async () => {
    const claims = { email: ['a@example.test'], email_verified: 'true', name: null };
    const verified = await verify(await aToken(key, { claims }));
    expect(verified).toMatchObject({ email: undefined, email_verified: undefined, name: undefined });
  });

  test.each(wrongClaims)('%s', async (_, claims) => {
    expect(await verify(await aToken(key, { claims }))).toBeUndefined();
  });

  const jwk = stranger.jwk;
  const wrongHeaders: [string, Record<string, unknown>][] = [
    ['the signature of a stranger', {}],
    ['a key of its own in the header (jwk)', { jwk }],
    ['an address of its own keys (jku)', { jku: 'https://evil.example.test/keys' }],
    ['an address of its own certificate (x5u)', { x5u: 'https://evil.example.test/cert' }],
    ['a certificate of its own (x5c)', { x5c: ['MIIB'] }],
    ['an unknown key id, and an address of its own keys', { kid: 'evil', jku: 'https://evil.example.test/keys' }],
  ];
  test.each(wrongHeaders)('%s, and nobody else is asked for keys', async (_, header) => {
    expect(await verify(await aToken(stranger, { header }))).toBeUndefined();
    expect(issuer.visits.filter((url) => !url.startsWith(ISSUER))).toEqual([]);
  });

  test('no key id, though the issuer has only one key', async () => {
    const token = await aToken(key, { header: { kid: undefined } });
    const keys = createLocalJWKSet({ keys: [key.jwk] }); // finds the only key without its id
    expect(await createJwtVerifier({ issuer: ISSUER, audience: AUDIENCE, keys })(token)).toBeUndefined();
    expect(await verify(token)).toBeUndefined();
  });

  test('an extension that must be understood (crit)', async () => {
    const header = { alg: 'ES256', kid: 'key-1', crit: ['https://example.test/x'], 'https://example.test/x': 1 };
    const signed = await new CompactSign(new TextEncoder().encode(JSON.stringify(goodClaims())))
      .setProtectedHeader(header)
      .sign(key.privateKey, { crit: { 'https://example.test/x': true } });
    expect(await verify(signed)).toBeUndefined();
  });

  test.each(['none', 'None', 'NONE', ''])('no signature (alg %p)', async (alg) => {
    const unsigned = `${encode({ alg, kid: 'key-1' })}.${encode(goodClaims())}`;
    expect(await verify(`${unsigned}.`)).toBeUndefined();
    expect(await verify(`${unsigned}.AAAA`)).toBeUndefined();
  });

  test.each([
    ['in PEM', async () => exportSPKI(await publicRsa())],
    ['as a JWK', async () => JSON.stringify(rsa.jwk)],
  ])('HS256 by the public key %s', async (_, secretOf) => {
    const head = `${encode({ alg: 'HS256', kid: 'rsa' })}.${encode(goodClaims())}`;
    const signature = createHmac('sha256', await secretOf())
      .update(head)
      .digest('base64url');
    expect(await verifierOf(anIssuer([rsa.jwk]))(`${head}.${signature}`)).toBeUndefined();
  });

  test('another algorithm than its key is for', async () => {
    expect(await verify(await aToken(await aKey('key-1', 'EdDSA')))).toBeUndefined();
  });

  test('a key of the issuer that is for encryption', async () => {
    const encrypting = anIssuer([{ ...key.jwk, use: 'enc' }]);
    expect(await verifierOf(encrypting)(await aToken(key))).toBeUndefined();
  });

  test('a symmetric key that the issuer published by mistake', async () => {
    const k = base64url.encode('0123456789abcdef0123456789abcdef');
    const head = `${encode({ alg: 'HS256', kid: 'oct' })}.${encode(goodClaims())}`;
    const signature = createHmac('sha256', base64url.decode(k)).update(head).digest('base64url');
    const careless = anIssuer([{ kty: 'oct', k, kid: 'oct', alg: 'HS256' }]);
    expect(await verifierOf(careless)(`${head}.${signature}`)).toBeUndefined();
  });

  test('claims that were changed after it was signed', async () => {
    const [header, , signature] = (await aToken(key)).split('.');
    expect(await verify(`${header}.${encode({ ...goodClaims(), sub: 'admin' })}.${signature}`)).toBeUndefined();
  });

  test.each([
    ['nothing', ''],
    ['no dots', 'abc'],
    ['two parts', 'a.b'],
    ['five parts', 'a.b.c.d.e'],
    ['empty parts', '..'],
    ['no JSON in it', 'a.b.c'],
    ['a payload that is a list', `${encode({ alg: 'ES256', kid: 'key-1' })}.${encode([])}.AAAA`],
    ['a header that is null', `${encode(null)}.${encode({})}.AAAA`],
    ['a key id that is a number', `${encode({ alg: 'ES256', kid: 1 })}.${encode({})}.AAAA`],
    ['a key id that is __proto__', `${encode({ alg: 'ES256', kid: '__proto__' })}.${encode({})}.AAAA`],
    ['an algorithm that is a list', `${encode({ alg: ['ES256'], kid: 'key-1' })}.${encode({})}.AAAA`],
  ])('%s', async (_, token) => {
    expect(await verify(token)).toBeUndefined();
  });
});
