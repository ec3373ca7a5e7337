import { afterEach, describe, expect, test } from '@jest/globals';
import { Permanent, Transient, Unreachable } from '../../../src/engines/errors.ts';
import { check } from '../../../src/engines/kubernetes/check/check.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { aPair } from '../../resources/certificates.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

/** The name and message of the error with which a call to a cluster fails. */
const whyOf = (asking: Promise<unknown>): Promise<[string, string]> =>
  asking.then(
    () => ['none', 'the call succeeded'],
    (error: Error) => [error.name, error.message],
  );

describe('the client of a cluster', () => {
  test('connects over TLS with a token', async () => {
    const server = await anApiServer();
    expect(await check(clientOf(server))).toMatchObject({ version: 'v1.33.1' });
    expect(server.requests.every(({ user }) => user === 'system:serviceaccount:fleet:fleet')).toBe(true);
  });

  test('connects with a client certificate, and the cluster rejects others', async () => {
    const mine = aPair('fleet-operator');
    const server = await anApiServer({ clientAuthority: mine.certificate });
    const auth = { kind: 'client_certificate' as const, certificate: mine.certificate, key: mine.key };
    expect(await check(clientOf(server, { auth }))).toMatchObject({ version: 'v1.33.1' });
    expect(new Set(server.requests.map(({ user }) => user))).toEqual(new Set(['fleet-operator']));
    const other = aPair('fleet-operator');
    const strange = { kind: 'client_certificate' as const, certificate: other.certificate, key: other.key };
    expect(await whyOf(check(clientOf(server, { auth: strange })))).toEqual([
      'Unreachable',
      expect.stringMatching(/does not accept the configured client certificate|closed the connection/),
    ]);
  });

  test('sends requests below the path of its address', async () => {
    const server = await anApiServer();
    const client = clientOf(server, { server: `${server.url}/k8s/clusters/c-1/` });
    expect(await whyOf(check(client))).toEqual(['Transient', expect.stringMatching(/^The cluster could not /)]);
    expect(server.requests.map(({ path }) => path)).toEqual(['/k8s/clusters/c-1/version']);
  });

  test('uses the current token, and reports a rejected one', async () => {
    const server = await anApiServer();
    const client = clientOf(server);
    await check(client);
    server.rotate('the-next-token');
    const refused = ['Permanent', 'The cluster does not accept the credentials.'];
    expect(await whyOf(check(client))).toEqual(refused);
    const deployment = aDeployment();
    expect(await whyOf(reconcile(client, running(deployment.manifest()), deployment.fence()))).toEqual(refused);
    const next = clientOf(server, { auth: { kind: 'token', token: 'the-next-token' } });
    expect(await check(next)).toMatchObject({ version: 'v1.33.1' });
  });

  test('reports which permission is missing', async () => {
    const server = await anApiServer();
    server.forbidden.add('list pods').add('patch deployments');
    const deployment = aDeployment();
    const reconciling = reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(await whyOf(reconciling)).toEqual([
      'Permanent',
      'The credentials lack permission to list pods in the namespace fleet.',
    ]);
    server.forbidden.delete('list pods');
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'AuthFailed', next: 'settled' });
    expect(found.message).toBe('The credentials lack permission to apply deployments in the namespace fleet.');
  });
});

describe('a response of an API server', () => {
  test.each([
    [429, Transient],
    [500, Transient],
    [503, Transient],
    [504, Transient],
    [405, Permanent],
  ])('with the status %i is classified by the status', async (status, kind) => {
    const server = await anApiServer();
    const body = JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      message: 'not now',
      code: status,
    });
    server.inject(() => ({ status, body }));
    const error = await check(clientOf(server)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(kind);
    expect(error).not.toBeInstanceOf(Unreachable);
  });
});

test('the client of a cluster reads neither a kubeconfig file nor proxy variables', async () => {
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
