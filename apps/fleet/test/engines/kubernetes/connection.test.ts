import { afterEach, describe, expect, test } from '@jest/globals';
import { Permanent, Transient, Unreachable } from '../../../src/engines/errors.ts';
import { check } from '../../../src/engines/kubernetes/check.ts';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import { aPair } from '../../resources/certificates.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

/** Why a cluster could not be asked: how bad it is, and what is said. */
const whyOf = (asking: Promise<unknown>): Promise<[string, string]> =>
  asking.then(
    () => ['none', 'it was answered'],
    (error: Error) => [error.name, error.message],
  );

describe('a cluster is asked', () => {
  test('by TLS and with a token', async () => {
    const server = await anApiServer();
    expect(await check(clientOf(server))).toMatchObject({ version: 'v1.33.1' });
    expect(server.requests.every(({ user }) => user === 'system:serviceaccount:fleet:fleet')).toBe(true);
  });

  test('with a client certificate, and by nobody else', async () => {
    const mine = aPair('fleet-operator');
    const server = await anApiServer({ clientAuthority: mine.certificate });
    const auth = { kind: 'client_certificate' as const, certificate: mine.certificate, key: mine.key };
    expect(await check(clientOf(server, { auth }))).toMatchObject({ version: 'v1.33.1' });
    expect(new Set(server.requests.map(({ user }) => user))).toEqual(new Set(['fleet-operator']));
    const other = aPair('fleet-operator');
    const strange = { kind: 'client_certificate' as const, certificate: other.certificate, key: other.key };
    expect(await whyOf(check(clientOf(server, { auth: strange })))).toEqual([
      'Unreachable',
      expect.stringMatching(/does not accept the certificate|closed the connection/),
    ]);
  });

  test('below the path where it is', async () => {
    const server = await anApiServer();
    const client = clientOf(server, { server: `${server.url}/k8s/clusters/c-1/` });
    expect(await whyOf(check(client))).toEqual(['Transient', expect.stringMatching(/^The cluster could not /)]);
    expect(server.requests.map(({ path }) => path)).toEqual(['/k8s/clusters/c-1/version']);
  });

  test('with the token that it has now: an old one is refused', async () => {
    const server = await anApiServer();
    const client = clientOf(server);
    await check(client);
    server.rotate('the-next-token');
    const refused = ['Permanent', 'The cluster does not accept the credentials that were given.'];
    expect(await whyOf(check(client))).toEqual(refused);
    const it = aDeployment();
    expect(await whyOf(pass(client, running(it.manifest()), it.fence()))).toEqual(refused);
    const next = clientOf(server, { auth: { kind: 'token', token: 'the-next-token' } });
    expect(await check(next)).toMatchObject({ version: 'v1.33.1' });
  });

  test('and says what is not allowed', async () => {
    const server = await anApiServer();
    server.forbidden.add('list pods').add('patch deployments');
    const it = aDeployment();
    const asked = pass(clientOf(server), running(it.manifest()), it.fence());
    expect(await whyOf(asked)).toEqual([
      'Permanent',
      'The credentials that were given may not list pods in the namespace fleet.',
    ]);
    server.forbidden.delete('list pods');
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'AuthFailed', next: 'settled' });
    expect(found.message).toBe('The credentials that were given may not apply deployments in the namespace fleet.');
  });
});

describe('what an API server says of itself', () => {
  test.each([
    [429, Transient],
    [500, Transient],
    [503, Transient],
    [504, Transient],
    [405, Permanent],
  ])('with %i is as bad as that', async (status, kind) => {
    const server = await anApiServer();
    const body = JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      message: 'not now',
      code: status,
    });
    server.meddle(() => ({ status, body }));
    const error = await check(clientOf(server)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(kind);
    expect(error).not.toBeInstanceOf(Unreachable);
  });
});

test('nothing of this machine is read, and no proxy is asked', async () => {
  const server = await anApiServer();
  const before = { ...process.env };
  const nowhere = 'http://127.0.0.1:9';
  Object.assign(process.env, { KUBECONFIG: '/nonexistent', HTTPS_PROXY: nowhere, https_proxy: nowhere, NO_PROXY: '' });
  try {
    expect(await check(clientOf(server))).toMatchObject({ version: 'v1.33.1' });
  } finally {
    for (const name of ['KUBECONFIG', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});
