import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { anInstance, type World } from '../world.ts';

/** Another instance of the hub of a world, whose statements are counted. */
export async function startCountedInstance({ databaseUrl, issuer }: World) {
  const proxy = await startCountingProxy(databaseUrl);
  const { api, catalog, stop } = anInstance(proxy.url, issuer);
  return {
    api,
    catalog,
    /** The number of statements that `work` sends. */
    during: proxy.during,
    stop: async () => {
      await stop();
      await proxy.close();
    },
  };
}

/**
 * A proxy for PostgreSQL that counts statements: the frontend messages Query and Execute (protocol
 * 3.0, section 55.7). The count does not depend on code of the hub.
 */
async function startCountingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  let statements = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const count = createMessageParser((type) => {
      if (type === 'Q' || type === 'E') statements++;
    });
    client.on('data', count).pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  // A server that listens on a port has one.
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    during: async (work: () => Promise<unknown>): Promise<number> => {
      const before = statements;
      await work();
      return statements - before;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/**
 * Parses the stream of the frontend: a startup message without a type, then messages of type,
 * length and content.
 */
function createMessageParser(onMessage: (type: string) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const head = started ? 1 : 0;
      if (pending.length < head + 4) return;
      const length = head + pending.readInt32BE(head);
      if (pending.length < length) return;
      if (started) onMessage(String.fromCharCode(pending[0] ?? 0));
      started = true;
      pending = pending.subarray(length);
    }
  };
}
