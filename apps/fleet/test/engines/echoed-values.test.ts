// An engine may repeat the values that it received when it rejects a request.

import { afterEach, expect, test } from '@jest/globals';
import { reconcile as passOnHost } from '../../src/engines/docker/reconcile.ts';
import { reconcile as passOnCluster } from '../../src/engines/kubernetes/reconcile.ts';
import type { Observation } from '../../src/engines/observation.ts';
import { CANARY } from '../render/renderings.ts';
import * as clusters from './kubernetes/world.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';
import * as hosts from './world.ts';

afterEach(async () => {
  await endAll();
  await clusters.endAll();
});

const WITH_SECRET = { secret_refs: [{ name: 'database', key: 'password', env: 'PASSWORD' }] };
const ECHO = `invalid value ${CANARY}-database-password`;

function expectRedacted(observed: Observation): void {
  expect(observed.message).toContain('The engine reported: invalid value •••');
  expect(JSON.stringify(observed)).not.toContain(CANARY);
}

test.each([400, 500])(
  'the observation does not contain a secret that Docker repeats in a response with the status %i',
  async (status) => {
    const docker = anEngine((req, res) => {
      const { pathname } = new URL(req.url ?? '', 'http://docker');
      if (pathname.endsWith('/containers/json')) res.end('[]');
      else if (pathname.includes('/images/')) res.end('{}');
      else res.writeHead(status).end(JSON.stringify({ message: ECHO }));
    });
    const deployment = await hosts.aDeployment(hosts.aScript('', WITH_SECRET));
    const client = clientOf(await serve(docker));
    expectRedacted(await passOnHost(client, hosts.running(await deployment.manifest()), deployment.fence()));
  },
);

test('the observation does not contain a secret that an API server repeats in a response', async () => {
  const server = await clusters.anApiServer();
  const refusal = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'InternalError', message: ECHO };
  server.inject(({ method }) => (method === 'PATCH' ? { status: 500, body: JSON.stringify(refusal) } : undefined));
  const deployment = clusters.aDeployment(WITH_SECRET);
  expectRedacted(
    await passOnCluster(clusters.clientOf(server), clusters.running(deployment.manifest()), deployment.fence()),
  );
});
