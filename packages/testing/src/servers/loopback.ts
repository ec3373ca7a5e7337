import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on a loopback address that can be stopped and restarted on the same port. */
export interface LoopbackServer {
  readonly url: string;
  /** Stops listening, and closes all connections. */
  stopListening(): Promise<void>;
  startListening(): Promise<void>;
}

/** Starts a server on a free loopback port. */
export async function onLoopback(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(listener);
  const open = async (requestedPort: number) => {
    server.listen(requestedPort, '127.0.0.1');
    await once(server, 'listening');
  };
  await open(0);
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  return {
    url: `http://127.0.0.1:${port}`,
    stopListening: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    startListening: () => open(port),
  };
}
