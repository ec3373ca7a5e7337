import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startProxy } from '../proxy.ts';

/** A proxy in front of the socket of an engine. */
export async function startEngineProxy(engine: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-proxy-'));
  const socketPath = path.join(folder, 'engine.sock');
  const { server: _, ...proxy } = await startProxy({
    createServer,
    listen: (server) => server.listen(socketPath),
    ask: ({ method, path: asked, headers }) =>
      request({ socketPath: new URL(engine).pathname, path: asked, method, headers, agent: false }),
    isStream: (asked) => asked.includes('/events?'),
    refusal: ({ body, headers }) => ({
      status: 500,
      body: { message: `out of order: ${body} ${JSON.stringify(headers)}` },
    }),
  });
  return {
    ...proxy,
    endpoint: `unix://${socketPath}`,
    stop: async () => {
      await proxy.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type EngineProxy = Awaited<ReturnType<typeof startEngineProxy>>;
