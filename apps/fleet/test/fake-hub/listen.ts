import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback that can leave its port and come back to it. */
export async function listen(answer: RequestListener) {
  const server = createServer(answer);
  const open = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port; // a server that listens on a port has one
  };
  const port = await open(0);
  return {
    url: `http://127.0.0.1:${port}`,
    goAway: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    comeBack: () => open(port),
  };
}
