import { expect, test } from '@jest/globals';
import { Problem } from '@svc/http';
import { admit, challengesOf, type Policy } from '../src/index.ts';

type Caller = { readonly kind: 'anonymous' } | { readonly kind: 'user'; readonly admin: boolean };

const policy: Policy<'anyone' | 'admin', Caller> = {
  anyone: () => true,
  admin: (caller) => (caller.kind === 'user' && caller.admin ? true : 'Only an admin can do this.'),
};

const problemOf = (access: 'anyone' | 'admin', principal: Caller): Problem | undefined => {
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
  expect(problemOf(access, principal)).toBeUndefined();
});

test('an anonymous caller without access is 401 with a challenge without an error code (RFC 6750, section 3.1)', () => {
  const problem = problemOf('admin', { kind: 'anonymous' });
  expect(problem).toMatchObject({ status: 401, code: 'unauthenticated' });
  expect(problem?.headers).toEqual({ 'WWW-Authenticate': 'Bearer realm="things"' });
});

test('an authenticated caller without access is 403 with the reason', () => {
  const problem = problemOf('admin', { kind: 'user', admin: false });
  expect(problem).toMatchObject({ status: 403, code: 'insufficient_scope', message: 'Only an admin can do this.' });
  expect(problem?.headers).toEqual({ 'WWW-Authenticate': 'Bearer realm="things", error="insufficient_scope"' });
});

test('an invalid credential is 401, and a malformed one is 400', () => {
  const { invalidToken, malformed } = challengesOf('things');
  expect(invalidToken()).toMatchObject({
    status: 401,
    code: 'invalid_token',
    headers: { 'WWW-Authenticate': 'Bearer realm="things", error="invalid_token"' },
  });
  expect(malformed('Send one header.')).toMatchObject({
    status: 400,
    code: 'invalid_request',
    message: 'Send one header.',
    headers: { 'WWW-Authenticate': 'Bearer realm="things", error="invalid_request"' },
  });
});
