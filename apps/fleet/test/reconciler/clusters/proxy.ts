import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ApiServer } from '../../engines/kubernetes/api-server.ts';
import { aPair } from '../../resources/certificates.ts';
import { startProxy } from '../proxy.ts';

/** A proxy in front of an API server. */
export async function startClusterProxy(behind: Pick<ApiServer, 'url' | 'ca' | 'token'>) {
  const pair = aPair('localhost');
  const agent = new Agent({ keepAlive: true });
  let port = 0;
  const proxy = await startProxy({
    createServer: (answer) => createServer({ cert: pair.certificate, key: pair.key }, answer),
    listen: (server) => server.listen(port, '127.0.0.1'),
    // The certificate of the API server is for another host name.
    ask: ({ method, path, headers: { host: _ours, ...headers } }) =>
      request(new URL(path, behind.url), { method, headers, ca: behind.ca, agent }),
    refusal: () => (Math.random() < 0.5 ? INTERNAL : TOO_MANY),
  });
  ({ port } = proxy.server.address() as AddressInfo);
  return {
    ...proxy,
    url: `https://localhost:${port}`,
    ca: pair.certificate,
    token: behind.token,
    stop: async () => {
      await proxy.stop();
      agent.destroy();
    },
  };
}

export type ClusterProxy = Awaited<ReturnType<typeof startClusterProxy>>;

const aStatus = (code: number, reason: string, message: string) => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message },
});

const INTERNAL = aStatus(500, 'InternalError', 'etcdserver: request timed out');
const TOO_MANY = aStatus(429, 'TooManyRequests', 'too many requests, please try again later');
