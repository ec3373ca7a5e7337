import net from 'node:net';

/** A port of 127.0.0.1 that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  return listenOnce(0);
}

/** Throws one sentence when nobody may listen on that port of 127.0.0.1 just now. */
export async function requireFreePort(port: number): Promise<void> {
  try {
    await listenOnce(port);
  } catch (cause) {
    const inUse = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'; // what net throws always is one
    const reason = inUse ? 'is in use by another program: stop that program or' : "can't be listened on:";
    throw new Error(`Port ${port} of 127.0.0.1 ${reason} choose another port for PostgreSQL.`, { cause });
  }
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer().once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
}
