import { randomInt } from 'node:crypto';
import net from 'node:net';

/**
 * Below the range from which systems take the ports of outgoing connections (RFC 6335, section 6), where one found free
 * may be taken a moment later.
 */
const [FIRST, LAST] = [10_240, 32_767];

/** A port of 127.0.0.1 that nobody listens on at this moment; any one, so that two who ask hardly get the same. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = await listenOnce(randomInt(FIRST, LAST + 1)).catch(() => undefined);
    if (port !== undefined) return port;
  }
  throw new Error('No free port of 127.0.0.1 was found.');
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
