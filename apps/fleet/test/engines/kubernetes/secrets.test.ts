import { inspect } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { EngineFailure } from '../../../src/engines/errors.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { redactorFor } from '../../../src/engines/kubernetes/redact.ts';
import { secretsWithValues } from '../../../src/render/secrets.ts';
import { CANARY } from '../../render/renderings.ts';
import { aPair } from '../../resources/certificates.ts';
import * as podStatuses from './api-server/controller/pod-status.ts';
import type { Received } from './api-server/request.ts';
import type { InjectedResponse } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

const withSecrets = {
  registry_url: 'registry.example.com',
  registry_credentials: 'registry',
  secret_refs: [{ name: 'database', key: 'password', env: 'PASSWORD' }],
  env: [{ name: 'GREETING', value: 'a-value-of-a-variable' }],
};

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SECRETS = [CANARY, 'c4n4ry-token', 'a-value-of-a-variable', 'PRIVATE KEY'];
const hidden = [...SECRETS, ...['database-password', 'registry-password'].map((key) => base64(`${CANARY}-${key}`))];

function expectNoSecret(what: unknown): void {
  const shown = `${inspect(what, { depth: 10, showHidden: true })} ${JSON.stringify(what)}`;
  for (const secret of hidden) expect(shown).not.toContain(secret);
}

/** A response that repeats what the server received. */
const echo =
  (status: number) =>
  (request: Received): InjectedResponse => {
    // Messages are truncated, so the secret comes first.
    const message = `invalid: ${base64(`${CANARY}-database-password`)} ${request.body}`;
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.template', message }];
    const body = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'Invalid',
      message,
      details: { causes },
    };
    return { status, body: JSON.stringify(body) };
  };

test.each([400, 403, 409, 422, 500, 503])(
  'the observation contains no secret when the cluster responds with %i',
  async (status) => {
    const server = await anApiServer();
    const deployment = aDeployment(withSecrets);
    server.inject((request) => (request.method === 'PATCH' ? echo(status)(request) : undefined));
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(found.reason).not.toBeNull();
    expectNoSecret(found);
  },
);

test('the observation contains no secret from the status of pods', async () => {
  const message = `bad: ${CANARY}-database-password, a-value-of-a-variable, ${CANARY}-registry-password`;
  for (const podStatus of [
    podStatuses.waiting('ErrImagePull', message),
    podStatuses.unschedulable(message),
    podStatuses.evicted(message),
  ]) {
    const server = await anApiServer();
    server.controls.podStatus = podStatus;
    const deployment = aDeployment({ ...withSecrets, kind: 'job' });
    const found = await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(JSON.stringify(found)).toContain('•••');
    expectNoSecret(found);
  }
  const server = await anApiServer();
  server.controls.refusesPods = `${'x'.repeat(280)} ${message}`;
  const deployment = aDeployment(withSecrets);
  expectNoSecret(await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence()));
});

test('the observation contains no part of a secret where the status of a pod is truncated', async () => {
  const server = await anApiServer();
  const deployment = aDeployment(withSecrets);
  const client = clientOf(server);
  for (let pad = 230; pad < 300; pad += 10) {
    server.setPodStatus(podStatuses.unschedulable(`${'x'.repeat(pad)} ${CANARY}-database-password`));
    expectNoSecret(await reconcile(client, running(deployment.manifest()), deployment.fence()));
  }
});

test('neither errors nor clients contain credentials', async () => {
  const server = await anApiServer();
  const mine = aPair('fleet-operator');
  const certificate = { kind: 'client_certificate' as const, certificate: mine.certificate, key: mine.key };
  const broken = { ...certificate, key: mine.key.replace(/[A-Z]/, '!') };
  const newline = { kind: 'token' as const, token: 'c4n4ry-token\nof-two-lines' };
  for (const auth of [undefined, certificate, broken, newline]) {
    const client = clientOf(server, auth && { auth });
    const deployment = aDeployment(withSecrets);
    server.inject(echo(401));
    const error: unknown = await reconcile(client, running(deployment.manifest()), deployment.fence()).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(EngineFailure);
    expectNoSecret(error);
    expectNoSecret((error as EngineFailure).stack);
  }
});

test('the data of Secrets is never read back', async () => {
  const server = await anApiServer();
  const deployment = aDeployment(withSecrets);
  const client = clientOf(server);
  await reconcile(client, running(deployment.manifest()), deployment.fence());
  await reconcile(client, running(deployment.manifest({ generation: 8 })), deployment.fence(8));
  const secretRequests = server.requests.filter(({ path, method }) => path.includes('/secrets') && method !== 'DELETE');
  expect(secretRequests.map(({ method }) => method)).toEqual(expect.arrayContaining(['GET', 'PATCH']));
  for (const { headers } of secretRequests) expect(headers.accept).toMatch(/as=PartialObjectMetadata(?:List)?;/);
});

test('values are redacted in messages of a cluster, both plain and in base64', () => {
  const secrets = secretsWithValues([
    { name: 'database', version: 1, values: { password: 'multi\nline "secret"' } },
    { name: 'registry', version: 1, values: { username: 'somebody', password: 'p4ssword' } },
  ]);
  const clean = redactorFor(aDeployment(withSecrets, { secrets }).manifest());
  const message = `${base64('multi\nline "secret"')} multi line "secret" a-value-of-a-variable somebody:p4ssword ${base64('somebody:p4ssword')}`;
  expect(clean(message)).toBe('••• ••• ••• •••:••• •••');
});
