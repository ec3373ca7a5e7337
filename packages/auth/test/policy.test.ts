import { expect, test } from '@jest/globals';
import { Problem } from '@svc/http';
import { admit, challengesOf, type Policy } from '../src/index.ts';

type Caller = { readonly kind: 'anonymous' } | { readonly kind: 'user'; readonly admin: boolean };

const policy: Policy<'anyone' | 'admin', Caller> = {
  anyone: () => true,
  admin: (caller) => (caller.kind === 'user' && caller.admin ? true : 'Only an admin may do this.'),
};

const refusalOf = (access: 'anyone' | 'admin', principal: Caller): Problem | undefined => {
  try {
    admit({ policy, challenges: challengesOf('things') }, { access, principal });
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

test.each<['anyone' | 'admin', Caller]>([
  ['anyone', { kind: 'anonymous' }],
  ['anyone', { kind: 'user', admin: false }],
  ['admin', { kind: 'user', admin: true }],
])('%s admits %j', (access, principal) => {
  expect(refusalOf(access, principal)).toBeUndefined();
});

test('nobody where somebody must call is a 401 with a bare challenge (RFC 6750, section 3.1)', () => {
  const refusal = refusalOf('admin', { kind: 'anonymous' });
  expect(refusal).toMatchObject({ status: 401, code: 'unauthenticated' });
  expect(refusal?.headers).toEqual({ 'WWW-Authenticate': 'Bearer realm="things"' });
});

test('somebody who may not is a 403 with the reason', () => {
  const refusal = refusalOf('admin', { kind: 'user', admin: false });
  expect(refusal).toMatchObject({ status: 403, code: 'insufficient_scope', message: 'Only an admin may do this.' });
  expect(refusal?.headers).toEqual({ 'WWW-Authenticate': 'Bearer realm="things", error="insufficient_scope"' });
});

test('a bad credential is a 401, one that is sent badly a 400', () => {
  const { invalidToken, malformed } = challengesOf('things');
  expect(invalidToken()).toMatchObject({
    status: 401,
    code: 'invalid_token',
    headers: { 'WWW-Authenticate': 'Bearer realm="things", error="invalid_token"' },
  });
  expect(malformed('Send one.')).toMatchObject({
    status: 400,
    code: 'invalid_request',
    message: 'Send one.',
    headers: { 'WWW-Authenticate': 'Bearer realm="things", error="invalid_request"' },
  });
});
