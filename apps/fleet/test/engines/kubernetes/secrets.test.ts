import { inspect } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { EngineFailure } from '../../../src/engines/errors.ts';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import { scrubberFor } from '../../../src/engines/kubernetes/redact.ts';
import { revealed } from '../../../src/render/secrets.ts';
import { CANARY } from '../../render/renderings.ts';
import { aPair } from '../../resources/certificates.ts';
import * as fates from './api-server/fates.ts';
import type { Received } from './api-server/request.ts';
import type { Meddling } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

const secretive = {
  registry_url: 'registry.example.com',
  registry_credentials: 'registry',
  secret_refs: [{ name: 'database', key: 'password', env: 'PASSWORD' }],
  env: [{ name: 'GREETING', value: 'a-value-of-a-variable' }],
};

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SECRETS = [CANARY, 'c4n4ry-token', 'a-value-of-a-variable', 'PRIVATE KEY'];
const hidden = [...SECRETS, ...['database-password', 'registry-password'].map((key) => base64(`${CANARY}-${key}`))];

function demandNoSecret(what: unknown): void {
  const shown = `${inspect(what, { depth: 10, showHidden: true })} ${JSON.stringify(what)}`;
  for (const secret of hidden) expect(shown).not.toContain(secret);
}

/** An answer that echoes all that it was sent, and more. */
const echo =
  (status: number) =>
  (request: Received): Meddling => {
    const message = `invalid: ${base64(`${CANARY}-database-password`)} ${request.body}`; // messages are cut, so the secret comes first
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
  'no secret is in what a pass comes to where %i is answered',
  async (status) => {
    const server = await anApiServer();
    const it = aDeployment(secretive);
    server.meddle((request) => (request.method === 'PATCH' ? echo(status)(request) : undefined));
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(found.reason).not.toBeNull();
    demandNoSecret(found);
  },
);

test('no secret is in what is told of pods', async () => {
  const said = `bad: ${CANARY}-database-password, a-value-of-a-variable, ${CANARY}-registry-password`;
  for (const fate of [fates.waiting('ErrImagePull', said), fates.unschedulable(said), fates.evicted(said)]) {
    const server = await anApiServer();
    server.hands.fate = fate;
    const it = aDeployment({ ...secretive, kind: 'job' });
    const found = await pass(clientOf(server), running(it.manifest()), it.fence());
    expect(JSON.stringify(found)).toContain('•••');
    demandNoSecret(found);
  }
  const server = await anApiServer();
  server.hands.refusesPods = `${'x'.repeat(280)} ${said}`;
  const it = aDeployment(secretive);
  demandNoSecret(await pass(clientOf(server), running(it.manifest()), it.fence()));
});

test('no part of a secret is left where what is told of a pod is cut', async () => {
  const server = await anApiServer();
  const it = aDeployment(secretive);
  const client = clientOf(server);
  for (let pad = 230; pad < 300; pad += 10) {
    server.become(fates.unschedulable(`${'x'.repeat(pad)} ${CANARY}-database-password`));
    demandNoSecret(await pass(client, running(it.manifest()), it.fence()));
  }
});

test('no credential is in what goes wrong, or in a client', async () => {
  const server = await anApiServer();
  const mine = aPair('fleet-operator');
  const certificate = { kind: 'client_certificate' as const, certificate: mine.certificate, key: mine.key };
  const broken = { ...certificate, key: mine.key.replace(/[A-Z]/, '!') };
  const newline = { kind: 'token' as const, token: 'c4n4ry-token\nof-two-lines' };
  for (const auth of [undefined, certificate, broken, newline]) {
    const client = clientOf(server, auth && { auth });
    const it = aDeployment(secretive);
    server.meddle(echo(401));
    const error: unknown = await pass(client, running(it.manifest()), it.fence()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EngineFailure);
    demandNoSecret(error);
    demandNoSecret((error as EngineFailure).stack);
  }
});

test('what secrets hold is never read back', async () => {
  const server = await anApiServer();
  const it = aDeployment(secretive);
  const client = clientOf(server);
  await pass(client, running(it.manifest()), it.fence());
  await pass(client, running(it.manifest({ generation: 8 })), it.fence(8));
  const asked = server.requests.filter(({ path, method }) => path.includes('/secrets') && method !== 'DELETE');
  expect(asked.map(({ method }) => method)).toEqual(expect.arrayContaining(['GET', 'PATCH']));
  for (const { headers } of asked) expect(headers.accept).toMatch(/as=PartialObjectMetadata(?:List)?;/);
});

test('values are taken out of a cluster’s words, as they were given and as they were sent', () => {
  const secrets = revealed([
    { name: 'database', version: 1, values: { password: 'multi\nline "secret"' } },
    { name: 'registry', version: 1, values: { username: 'somebody', password: 'p4ssword' } },
  ]);
  const clean = scrubberFor(aDeployment(secretive, { secrets }).manifest());
  const said = `${base64('multi\nline "secret"')} multi line "secret" a-value-of-a-variable somebody:p4ssword ${base64('somebody:p4ssword')}`;
  expect(clean(said)).toBe('••• ••• ••• •••:••• •••');
});
