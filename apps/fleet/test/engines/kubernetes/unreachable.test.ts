import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { check } from '../../../src/engines/kubernetes/check.ts';
import { connectKubernetes } from '../../../src/engines/kubernetes/client.ts';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import { aPair } from '../../resources/certificates.ts';
import { addressOf, type Meddling } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, ending, running } from './world.ts';

afterEach(endAll);

/** Why a cluster could not be asked: how bad it is, and what is said. */
const whyOf = (asking: Promise<unknown>): Promise<[string, string]> =>
  asking.then(
    () => ['none', 'it was answered'],
    (error: Error) => [error.name, error.message],
  );

const UNREACHABLE = (message: string) => ['Unreachable', message];
const NO_API_SERVER = UNREACHABLE('What answers at its endpoint is no Kubernetes API server.');

describe('a cluster is not reached', () => {
  test('where its certificate has expired, is for another name, or is signed by somebody else', async () => {
    const server = await anApiServer();
    const expired = await anApiServer({ pair: aPair('localhost', '260102000000Z') });
    const elsewhere = await anApiServer({ pair: aPair('api.example.com') });
    expect(await whyOf(check(clientOf(expired)))).toEqual(UNREACHABLE('Its certificate has expired.'));
    expect(await whyOf(check(clientOf(elsewhere)))).toEqual(UNREACHABLE('Its certificate is for another host name.'));
    const unsigned = UNREACHABLE('Its certificate is not signed by the CA that was given.');
    expect(await whyOf(check(clientOf(server, { ca_certificate: aPair('localhost').certificate })))).toEqual(unsigned);
    expect(await whyOf(check(clientOf(server, { ca_certificate: null })))).toEqual(unsigned);
    expect(server.requests).toEqual([]);
  });

  test('where nothing listens, or its address is not one that may be called', async () => {
    const server = await anApiServer();
    const restrictTo = new Set(['http' as const]);
    const [name, message] = await whyOf(check(clientOf(server, { restrictTo })));
    expect([name, message]).toEqual(['Unreachable', expect.stringMatching(/on the machine of this service/)]);
    expect(server.requests).toEqual([]);
    await server.stop();
    expect(await whyOf(check(clientOf(server)))).toEqual(UNREACHABLE('Nothing listens at its endpoint.'));
  });

  test('where it hangs: every request has its time', async () => {
    const server = await anApiServer();
    const it = aDeployment();
    await pass(clientOf(server), running(it.manifest()), it.fence());
    const before = server.requests.length;
    await pass(clientOf(server), running(it.manifest()), it.fence());
    const steps = server.requests.length - before;
    const client = clientOf(server, {}, { answer: 200, change: 200 });
    for (let step = 0; step < steps; step += 1) {
      let left = step;
      server.meddle(() => {
        left -= 1;
        return left < 0 ? 'hang' : undefined;
      });
      const asked = pass(client, running(it.manifest()), it.fence());
      expect(await whyOf(asked)).toEqual(UNREACHABLE('It did not answer in time.'));
    }
    expect(steps).toBeGreaterThan(6);
  });

  test.each<[string, Meddling, readonly string[]]>([
    ['breaks off', 'reset', UNREACHABLE('It closed the connection without an answer.')],
    ['is a web site', { status: 200, body: '<html></html>' }, NO_API_SERVER],
    ['is JSON of another kind', { status: 200, body: '{"hello":"there"}' }, NO_API_SERVER],
    ['is a list of nothing', { status: 200, body: '{"kind":"PodList","apiVersion":"v1","items":5}' }, NO_API_SERVER],
    ['is no JSON, and an error', { status: 404, body: 'not here' }, NO_API_SERVER],
    [
      'is of what stands before it',
      { status: 503, body: '<html>no backend</html>' },
      UNREACHABLE('What stands before the API server answers that it is away (503).'),
    ],
    [
      'leads elsewhere',
      { status: 302, body: '', headers: { location: 'https://elsewhere.example.com/' } },
      UNREACHABLE('It answers with a redirect, and those are not followed.'),
    ],
    [
      'is longer than any',
      { status: 200, body: `{"kind":"PodList","apiVersion":"v1","items":["${'x'.repeat(17 * 1024 * 1024)}"]}` },
      UNREACHABLE('Its answer is longer than any that is expected of an engine.'),
    ],
  ])('where the answer %s', async (_title, meddling, why) => {
    const server = await anApiServer();
    server.meddle(() => meddling);
    const client = clientOf(server, {}, { answer: 20_000 });
    expect(await whyOf(check(client))).toEqual(why);
    const it = aDeployment();
    expect(await whyOf(pass(client, { kind: 'stopped' }, it.fence()))).toEqual(why);
  });

  test('where it drips', async () => {
    const drip: RequestListener = (_request, response) => {
      response.write('{');
      const more = setInterval(() => response.write(' '), 30);
      response.once('close', () => clearInterval(more));
    };
    const pair = aPair('localhost');
    const server = createServer({ cert: pair.certificate, key: pair.key }, drip).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const address = addressOf({ url, ca: pair.certificate, token: 'x' });
    const client = connectKubernetes(address, { answer: 300 });
    ending.push(client.close, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    expect(await whyOf(check(client))).toEqual(UNREACHABLE('It did not answer in time.'));
  });
});
