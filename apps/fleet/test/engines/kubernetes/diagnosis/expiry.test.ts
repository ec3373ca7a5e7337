import { expect, test } from '@jest/globals';
import { expiryOf } from '../../../../src/engines/kubernetes/check/expiry.ts';
import { aPair } from '../../../resources/certificates.ts';

const part = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
const token = (payload: string) => ({
  kind: 'token' as const,
  token: `${part({ alg: 'RS256' })}.${payload}.c2lnbmF0dXJl`,
});

test('the credentials of a cluster expire with their token or certificate', () => {
  expect(expiryOf(token(part({ exp: 1_800_000_000 })))).toEqual(new Date(1_800_000_000_000));
  const { certificate, key } = aPair('client', '270301120000Z');
  expect(expiryOf({ kind: 'client_certificate', certificate, key })).toEqual(new Date('2027-03-01T12:00:00Z'));
});

test.each([
  ['no claim', token(part({ sub: 'fleet' }))],
  ['a claim that is no number', token(part({ exp: 'soon' }))],
  ['a claim beyond all dates', token(part({ exp: 1e300 }))],
  ['no JSON', token('%')],
  ['an opaque token', { kind: 'token' as const, token: 'a.b' }],
  ['no certificate', { kind: 'client_certificate' as const, certificate: 'none', key: '' }],
])('the end of credentials with %s is not known', (_what, auth) => {
  expect(expiryOf(auth)).toBeNull();
});
