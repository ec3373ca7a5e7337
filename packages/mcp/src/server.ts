import {
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import { type Log, validateArguments } from '@svc/http';
import { z } from 'zod';
import { createConfirmations } from './confirmation.ts';
import { type Exchange, exchangeOf } from './exchange.ts';
import { type CallLimits, createCallLimiter } from './limits.ts';
import { type Ask, createAsk } from './operations.ts';
import { getPrompt } from './prompts.ts';
import type { AnyMcpService } from './service.ts';
import { callTool, createToolList, problemOf } from './tools.ts';

interface ServerOptions {
  readonly service: AnyMcpService;
  readonly log: Log;
  /** Signs confirmations; the same in all replicas. At least 32 bytes. */
  readonly confirmationKey: Uint8Array;
  /** The limits of production apply unless given. */
  readonly limits?: CallLimits | undefined;
}

const DAY_MS = 24 * 3_600_000;
const FIVE_MINUTES_MS = 5 * 60_000;

/** How long clients can cache lists. The tools depend on the role of the caller. */
const CACHE_HINTS = {
  'server/discover': { ttlMs: DAY_MS, cacheScope: 'public' },
  'tools/list': { ttlMs: FIVE_MINUTES_MS, cacheScope: 'private' },
  'prompts/list': { ttlMs: DAY_MS, cacheScope: 'public' },
  'resources/templates/list': { ttlMs: DAY_MS, cacheScope: 'public' },
} as const;

/**
 * Creates the server for one request. It has no state beyond the request, so that any replica can
 * serve the next one.
 */
export function createServerFactory({ service, log, confirmationKey, limits }: ServerOptions): McpServerFactory {
  const { resources, prompts } = service;
  const limiter = createCallLimiter(limits);
  const confirmations = createConfirmations(confirmationKey);
  const toolsFor = createToolList(service);
  return ({ authInfo }) => {
    const exchange = exchangeOf(authInfo);
    const { caller } = exchange;
    const server = new Server(
      { name: service.name, title: service.title, version: service.version },
      {
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
        instructions: service.instructions,
        requestState: { verify: confirmations.verify },
        // A request to a client of an earlier revision would be answered in another request, which
        // another replica can receive.
        inputRequired: { legacyShim: false },
        cacheHints: CACHE_HINTS,
      },
    );
    /** A method that performs operations, and whose rejections are protocol errors. */
    const reads = <T>(read: (ask: Ask) => Promise<T>, uri?: string): Promise<T> =>
      track(
        exchange,
        limiter
          .run(caller.key, false, () => read(createAsk(caller)))
          .catch((error: unknown) => {
            throw protocolErrorOf(error, caller.requestId, uri);
          }),
      );

    server.setRequestHandler('tools/list', () => ({ tools: toolsFor(caller) }));
    server.setRequestHandler('tools/call', ({ params }, context) =>
      track(
        exchange,
        callTool(
          { service, limiter, confirmations, log },
          { name: params.name, given: params.arguments ?? {}, caller, context },
        ),
      ),
    );
    server.setRequestHandler('resources/list', ({ params }) => reads((ask) => resources.list(ask, params?.cursor)));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resources.templates] }));
    server.setRequestHandler('resources/read', ({ params: { uri } }) =>
      reads((ask) => resources.read(ask, validateArguments(z.string(), uri)), uri),
    );
    server.setRequestHandler('prompts/list', () => ({ prompts: prompts.map(({ declaration }) => declaration) }));
    server.setRequestHandler('prompts/get', ({ params }) => getPrompt(prompts, params.name, params.arguments ?? {}));
    server.setRequestHandler('completion/complete', ({ params }) => reads((ask) => service.complete(ask, params)));
    return server;

    function protocolErrorOf(error: unknown, requestId: string, uri: string | undefined): ProtocolError {
      const problem = problemOf(error);
      if (problem.code === 'internal') log.error({ err: error, request_id: requestId }, 'an MCP request failed');
      if (problem.code === 'not_found' && uri !== undefined) return new ResourceNotFoundError(uri, problem.message);
      const code = problem.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
      return new ProtocolError(code, `${problem.code}: ${problem.message}`, problem.document(requestId));
    }
  };
}

function track<T>({ running }: Exchange, call: Promise<T>): Promise<T> {
  running.add(call);
  return call;
}
