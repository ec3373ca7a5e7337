import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A way to PostgreSQL on which every statement is counted as it passes: the frontend messages Query and Execute
 * (protocol 3.0, section 55.7). Nothing of the service takes part in the counting.
 */
export async function countingWay(databaseUrl: string) {
  const target = new URL(databaseUrl);
  let statements = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const count = counterOfMessages((type) => {
      if (type === 'Q' || type === 'E') statements++;
    });
    client.on('data', count).pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // a server that listens on a port has one
  return {
    url: url.href,
    /** How many statements `work` sends. */
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

/** Reads the frontend's stream: a startup message without a type first, then type, length and content. */
function counterOfMessages(seen: (type: string) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const head = started ? 1 : 0;
      if (pending.length < head + 4) return;
      const length = head + pending.readInt32BE(head);
      if (pending.length < length) return;
      if (started) seen(String.fromCharCode(pending[0] ?? 0));
      started = true;
      pending = pending.subarray(length);
    }
  };
}
