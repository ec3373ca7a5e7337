import { createServer } from 'node:net';
import type { PortName } from './settings.ts';
import { StartError } from './start-error.ts';

/** Rejects with a StartError if the port of 127.0.0.1 is not available. */
export async function requireFreePort(name: PortName, port: number): Promise<void> {
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return;
  const reason =
    code === 'EADDRINUSE' ? 'in use. Stop the program that uses it, or choose' : `not available (${code}). Choose`;
  throw new StartError(`Port ${port} is ${reason} another port with ${name}.`);
}
