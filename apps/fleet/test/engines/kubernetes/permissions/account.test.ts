// Which account of a cluster the fleet itself uses.
import { afterEach, describe, expect, test } from '@jest/globals';
import { userOfCredentials } from '../../../../src/engines/kubernetes/check/account.ts';
import { check } from '../../../../src/engines/kubernetes/check/check.ts';
import { aPair } from '../../../resources/certificates.ts';
import type { ApiServer } from '../api-server.ts';
import { anApiServer, clientOf, endAll } from '../world.ts';

afterEach(endAll);

const tokenOf = (claims: unknown) => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.signature`;
};
const asked = (server: ApiServer) => server.requests.filter(({ path }) => /selfsubjectreviews/.test(path)).length;

describe('the user of credentials', () => {
  test.each<[string, string, string | undefined]>([
    [
      'the token of a service account',
      tokenOf({ sub: 'system:serviceaccount:fleet:fleet' }),
      'system:serviceaccount:fleet:fleet',
    ],
    ['the token of an identity provider', tokenOf({ sub: 'a user' }), undefined],
    ['a token whose subject is not text', tokenOf({ sub: 1 }), undefined],
    ['a token without claims', tokenOf(null), undefined],
    ['an opaque token', 'c4n4ry', undefined],
    ['a token that only looks like a JWT', 'a.%%%.c', undefined],
  ])('is the subject of %s', (_, token, expected) => {
    expect(userOfCredentials({ kind: 'token', token })).toBe(expected);
  });

  test('is the common name of a client certificate', () => {
    const { certificate, key } = aPair('system:serviceaccount:fleet:fleet');
    expect(userOfCredentials({ kind: 'client_certificate', certificate, key })).toBe(
      'system:serviceaccount:fleet:fleet',
    );
  });
});

describe('the check of a cluster', () => {
  test('reads the account of the fleet from its token, without a request', async () => {
    const server = await anApiServer();
    const token = tokenOf({ sub: 'system:serviceaccount:fleet:own' });
    server.rotate(token);
    const facts = await check(clientOf(server, { auth: { kind: 'token', token } }));
    expect(facts.fleet_account).toBe('system:serviceaccount:fleet:own');
    expect(asked(server)).toBe(0);
  });

  test('asks the cluster if the token does not state it', async () => {
    const server = await anApiServer();
    expect((await check(clientOf(server))).fleet_account).toBe('system:serviceaccount:fleet:fleet');
    expect(asked(server)).toBe(1);
  });

  test('does not know it if the cluster does not permit the question, or is too old for it', async () => {
    const server = await anApiServer();
    server.forbidden.add('create selfsubjectreviews');
    expect((await check(clientOf(server))).fleet_account).toBeNull();
    server.gitVersion = 'v1.27.9';
    expect((await check(clientOf(server))).fleet_account).toBeNull();
    expect(asked(server)).toBe(1);
  });
});
