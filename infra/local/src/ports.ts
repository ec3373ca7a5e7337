import { createServer } from 'node:net';
import type { PortName } from './settings.ts';
import { StartError } from './start-error.ts';

/** Throws StartError with one sentence when nobody may listen on that port of 127.0.0.1 now. */
export async function requireFreePort(name: PortName, port: number): Promise<void> {
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return;
  const reason = code === 'EADDRINUSE' ? 'is in use: stop what listens there, or' : `can't be listened on (${code}):`;
  throw new StartError(`Port ${port} ${reason} choose another one with ${name}.`);
}
