import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { check } from '../../../src/engines/kubernetes/check/check.ts';
import { connectKubernetes } from '../../../src/engines/kubernetes/client.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { aPair } from '../../resources/certificates.ts';
import { addressOf, type InjectedResponse } from './api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, ending, running } from './world.ts';

afterEach(endAll);

/** The name and message of the error with which a call to a cluster fails. */
const whyOf = (asking: Promise<unknown>): Promise<[string, string]> =>
  asking.then(
    () => ['none', 'the call succeeded'],
    (error: Error) => [error.name, error.message],
  );

const UNREACHABLE = (message: string) => ['Unreachable', message];
const NO_API_SERVER = UNREACHABLE('The server at its endpoint is not a Kubernetes API server.');

describe('the client of a cluster reports the target as unreachable', () => {
  test('when its certificate has expired, is not valid yet, is for another host name, or is not signed by the CA', async () => {
    const server = await anApiServer();
    const expired = await anApiServer({ pair: aPair('localhost', '260102000000Z') });
    const elsewhere = await anApiServer({ pair: aPair('api.example.com') });
    expect(await whyOf(check(clientOf(expired)))).toEqual(UNREACHABLE('Its certificate has expired.'));
    const early = await anApiServer({ pair: aPair('localhost', '490102000000Z', '490101000000Z') });
    expect(await whyOf(check(clientOf(early)))).toEqual(
      UNREACHABLE('Its certificate is not valid yet. Compare the clocks of the machines.'),
    );
    expect(await whyOf(check(clientOf(elsewhere)))).toEqual(UNREACHABLE('Its certificate is for another host name.'));
    const unsigned = UNREACHABLE('Its certificate is not signed by the configured CA.');
    expect(await whyOf(check(clientOf(server, { ca_certificate: aPair('localhost').certificate })))).toEqual(unsigned);
    expect(await whyOf(check(clientOf(server, { ca_certificate: null })))).toEqual(unsigned);
    expect(server.requests).toEqual([]);
  });

  test('when nothing listens at the endpoint, or its address is not permitted', async () => {
    const server = await anApiServer();
    const restrictTo = new Set(['http' as const]);
    const [name, message] = await whyOf(check(clientOf(server, { restrictTo })));
    expect({ name, message }).toEqual({
      name: 'Unreachable',
      message: expect.stringMatching(/on the machine of this service/),
    });
    expect(server.requests).toEqual([]);
    await server.stop();
    expect(await whyOf(check(clientOf(server)))).toEqual(UNREACHABLE('The connection to its endpoint was refused.'));
  });

  test('when the cluster does not respond to any one of the requests in time', async () => {
    const server = await anApiServer();
    const deployment = aDeployment();
    await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    const before = server.requests.length;
    await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    const steps = server.requests.length - before;
    for (let step = 0; step < steps; step += 1) {
      const client = clientOf(server, {}, { answer: 200, change: 200 }); // it has not applied anything yet
      let left = step;
      server.inject(() => {
        left -= 1;
        return left < 0 ? 'hang' : undefined;
      });
      const reconciling = reconcile(client, running(deployment.manifest()), deployment.fence());
      expect(await whyOf(reconciling)).toEqual(UNREACHABLE('It did not respond in time.'));
    }
    expect(steps).toBeGreaterThan(6);
  });

  test.each<[string, InjectedResponse, readonly string[]]>([
    ['is interrupted', 'reset', UNREACHABLE('It closed the connection without a response.')],
    ['is the page of a web site', { status: 200, body: '<html></html>' }, NO_API_SERVER],
    ['is JSON with another schema', { status: 200, body: '{"hello":"there"}' }, NO_API_SERVER],
    ['is a list without items', { status: 200, body: '{"kind":"PodList","apiVersion":"v1","items":5}' }, NO_API_SERVER],
    ['is an error that is not JSON', { status: 404, body: 'not here' }, NO_API_SERVER],
    [
      'is from a proxy without a backend',
      { status: 503, body: '<html>no backend</html>' },
      UNREACHABLE('An intermediary reports that the API server is unavailable (503).'),
    ],
    [
      'is a redirect',
      { status: 302, body: '', headers: { location: 'https://elsewhere.example.com/' } },
      UNREACHABLE('It responds with a redirect. Redirects are not followed.'),
    ],
    [
      'exceeds the maximum length',
      { status: 200, body: `{"kind":"PodList","apiVersion":"v1","items":["${'x'.repeat(17 * 1024 * 1024)}"]}` },
      UNREACHABLE('Its response is longer than 16 MiB.'),
    ],
  ])('when the response %s', async (_title, injected, why) => {
    const server = await anApiServer();
    server.inject(() => injected);
    const client = clientOf(server, {}, { answer: 20_000 });
    expect(await whyOf(check(client))).toEqual(why);
    const deployment = aDeployment();
    expect(await whyOf(reconcile(client, { kind: 'stopped' }, deployment.fence()))).toEqual(why);
  });

  test('when the response never completes', async () => {
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
    expect(await whyOf(check(client))).toEqual(UNREACHABLE('It did not respond in time.'));
  });
});
