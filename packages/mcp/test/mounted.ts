import { once } from 'node:events';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { createHttpServer, createLog, createService } from '@svc/http';
import { freePort } from '@svc/testing';
import { type McpCaller, type McpOptions, mountMcp } from '../src/index.ts';

const log = createLog('test', 'silent');

/** A caller who is admitted to everything, in a service without operations. */
const anybody = (signal: AbortSignal): McpCaller => ({
  key: 'anybody',
  requestId: 'of-the-request',
  signal,
  isAdmitted: () => true,
  admit: () => undefined,
  perform: () => Promise.reject(new Error('there are no operations')),
  useTool: () => undefined,
  writeRecords: async () => undefined,
});

/** A service with only the MCP endpoint, on a port. */
export async function startMounted(serverFactory: McpServerFactory, given: Partial<McpOptions> = {}) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const app = createService({
    log,
    version: '1.0.0',
    routes: [],
    enter: () => Promise.reject(new Error('there are no routes')),
    openapi: { openapi: '3.1.1', info: { version: '1.0.0' } },
    health: { check: async () => [], stopping: false },
    rateLimit: false,
    corsOrigins: [],
    trustProxy: [],
    mountOthers: (service) =>
      mountMcp(service, {
        log,
        enter: async (_req, _res, signal) => anybody(signal),
        serverFactory,
        corsOrigins: [],
        signIn: { publicUrl: url, issuer: async () => undefined },
        stopping: new AbortController().signal,
        ...given,
      }),
  });
  const server = createHttpServer(app).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
