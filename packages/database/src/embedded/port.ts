import { randomInt } from 'node:crypto';
import net from 'node:net';

/**
 * Below the range of ephemeral ports (RFC 6335, section 6), in which a free port can be used by an
 * outgoing connection a moment later.
 */
const FIRST_PORT = 10_240;
const LAST_PORT = 32_767;

/**
 * A free port of 127.0.0.1. It is random, so that two processes are unlikely to get the same port.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = await listenOnce(randomInt(FIRST_PORT, LAST_PORT + 1)).catch(() => undefined);
    if (port !== undefined) return port;
  }
  throw new Error('No free port found on 127.0.0.1.');
}

/** Rejects with a message for the user if the port of 127.0.0.1 is not available. */
export async function requireFreePort(port: number): Promise<void> {
  try {
    await listenOnce(port);
  } catch (cause) {
    // Net throws only such errors.
    const inUse = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const reason = inUse ? 'in use by another program. Stop that program, or choose' : 'not available. Choose';
    throw new Error(`Port ${port} of 127.0.0.1 is ${reason} another port for PostgreSQL.`, { cause });
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
