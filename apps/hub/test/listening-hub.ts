import type { AddressInfo } from 'node:net';
import { createHttpServer } from '@svc/http';
import type { LocalIssuer } from '@svc/testing';
import type { PoolLimits } from '../src/database/client.ts';
import { anInstance } from './world.ts';

/** An instance of the hub that listens on the loopback address. */
export async function aListeningHub(databaseUrl: string, issuer: LocalIssuer, limits?: PoolLimits) {
  const instance = anInstance(databaseUrl, issuer, { limits });
  const server = createHttpServer(instance.app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await instance.stop();
    },
  };
}
