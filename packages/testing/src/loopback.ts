import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback that can leave its port and come back to it. */
export interface LoopbackServer {
  readonly url: string;
  /** Nothing listens at its address any more, and no connection is left. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

/** Answers at a free port of loopback. */
export async function onLoopback(answer: RequestListener): Promise<LoopbackServer> {
  const server = createServer(answer);
  const open = async (wanted: number) => {
    server.listen(wanted, '127.0.0.1');
    await once(server, 'listening');
  };
  await open(0);
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  return {
    url: `http://127.0.0.1:${port}`,
    goAway: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    comeBack: () => open(port),
  };
}
