import { createMcpHandler, type McpServerFactory } from '@modelcontextprotocol/server';
import {
  jsonResponse,
  type Log,
  type PendingResponse,
  Problem,
  readJson,
  refuseOtherMethods,
  respond,
  streamedReply,
  unavailable,
} from '@svc/http';
import type { Express, Request as HttpRequest, Response as HttpResponse } from 'express';
import type { McpCaller } from './caller.ts';
import { carry, type Exchange } from './exchange.ts';
import { logEntryOf } from './message.ts';
import { mountMetadata, type SignIn, withSignIn } from './metadata.ts';

export interface McpOptions {
  readonly log: Log;
  /**
   * Authenticates and authorizes a request. The signal aborts when the client disconnects or the
   * process stops.
   */
  readonly enter: (req: HttpRequest, res: HttpResponse, signal: AbortSignal) => Promise<McpCaller>;
  readonly serverFactory: McpServerFactory;
  /** The origins of web pages that can call the endpoint, besides that of the service itself. */
  readonly corsOrigins: readonly string[];
  readonly signIn: SignIn;
  /** Aborts when the process is told to stop. */
  readonly stopping: AbortSignal;
}

export const MCP_PATH = '/mcp';

/** In bytes: the limit of the endpoint with the largest bodies, which reverse proxies accept. */
const BODY_LIMIT = 1024 * 1024;

/**
 * Streams of a process on which clients listen. They end at once, because the server announces no
 * changes.
 */
const MAX_SUBSCRIPTIONS = 64;

/**
 * Mounts the endpoint of the Model Context Protocol: Streamable HTTP without sessions. Revision
 * 2026-07-28 has none; clients of earlier revisions work without one.
 */
export function mountMcp(app: Express, options: McpOptions): void {
  const { log, stopping } = options;
  /**
   * The open responses. Each controller aborts when its client disconnects or the process stops.
   */
  const open = new Map<HttpResponse, AbortController>();
  const handler = createMcpHandler(options.serverFactory, {
    onerror: (error) => log.debug({ err: error }, 'an MCP request was rejected'),
    maxSubscriptions: MAX_SUBSCRIPTIONS,
  });
  const endWaits = () => {
    for (const controller of open.values()) controller.abort();
  };
  stopping.addEventListener('abort', endWaits, { once: true });
  const enter = (req: HttpRequest, res: HttpResponse, signal: AbortSignal) =>
    options.enter(req, res, signal).catch(async (error: unknown) => {
      throw await withSignIn(error, MCP_PATH, options.signIn);
    });

  app.post(MCP_PATH, async (req, res) => respond(res, await serve(req, res)));
  // Some clients look for the sign-in with another method. With a credential, it is 405.
  for (const method of ['get', 'delete'] as const) {
    app[method](MCP_PATH, async (req, res, next) => {
      await enter(req, res, stopping);
      next();
    });
  }
  refuseOtherMethods(app, MCP_PATH, ['POST']);
  mountMetadata(app, MCP_PATH, options.signIn);

  async function serve(req: HttpRequest, res: HttpResponse): Promise<PendingResponse> {
    refuseForeignOrigin(req, options);
    const controller = new AbortController();
    // Requests are still served for a while, but must not wait.
    if (stopping.aborted) controller.abort();
    open.set(res, controller);
    const onClose = () => {
      controller.abort();
      open.delete(res);
    };
    if (res.destroyed) onClose();
    else res.once('close', onClose);
    const caller = await enter(req, res, controller.signal);
    const parsedBody = await readMessage(req, res);
    if (parsedBody instanceof Rejection) return parsedBody.response;
    res.locals.mcp = logEntryOf(parsedBody);
    const exchange: Exchange = { caller, running: new Set() };
    const response = await handler.fetch(requestOf(req), { ...carry(exchange), parsedBody });
    return pendingResponseOf(response, exchange);
  }
}

/** A page that is not trusted can have resolved a name to this service (DNS rebinding). */
function refuseForeignOrigin({ headers: { origin } }: HttpRequest, { corsOrigins, signIn: { publicUrl } }: McpOptions) {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
  if (origin === undefined || [...corsOrigins, ...own].includes(origin)) return;
  throw new Problem('origin_refused', 'The origin is not that of the service, and CORS_ORIGINS does not contain it.');
}

/** An error of JSON-RPC that is sent instead of a reply. */
class Rejection {
  readonly response: PendingResponse;
  constructor(code: number, message: string) {
    const error = { jsonrpc: '2.0', id: null, error: { code, message } };
    this.response = jsonResponse(400, error, { 'Cache-Control': 'no-store' });
  }
}

/** @throws 413, 415. Other errors are those of JSON-RPC, as clients of the protocol expect. */
async function readMessage(req: HttpRequest, res: HttpResponse): Promise<unknown> {
  try {
    const message = await readJson(req, res, BODY_LIMIT);
    if (!Array.isArray(message)) return message;
    // Only the first revisions have batches, which would pass the rate limit as one request.
    return new Rejection(-32_600, 'Batches are not supported. Send one message per request.');
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    return new Rejection(-32_700, error.message);
  }
}

/** The headers that belong to the connection, or to a body that has been read. */
const CONNECTION_HEADERS: readonly string[] = [
  'content-length',
  'transfer-encoding',
  'connection',
  'expect',
  'upgrade',
];

function requestOf(req: HttpRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (value === undefined || CONNECTION_HEADERS.includes(name)) continue;
    headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return new Request(`http://service.invalid${MCP_PATH}`, { method: 'POST', headers });
}

/**
 * The response of the SDK. Nothing is sent before the operations that it reports are recorded:
 * `respond` records those of a response in one part. A stream is sent in parts, and begins with the
 * first one.
 */
async function pendingResponseOf(response: Response, exchange: Exchange): Promise<PendingResponse> {
  const headers: Record<string, string> = { ...headersOf(response), 'Cache-Control': 'no-store' };
  if (!headers['content-type']?.startsWith('text/event-stream') || !response.body) {
    const body = Buffer.from(await response.arrayBuffer());
    await Promise.allSettled(exchange.running); // a client that disconnects does not end a change
    return { status: response.status, headers, body };
  }
  const chunks = recordedChunks(response.body, exchange);
  const first = await chunks.next().catch((cause: unknown) => {
    throw unavailable('The response was withheld because its audit entries could not be stored.', cause);
  });
  async function* all() {
    if (!first.done) yield first.value;
    yield* chunks;
  }
  const unbuffered = { 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' };
  return {
    status: response.status,
    headers: { ...headers, ...unbuffered },
    stream: streamedReply('text/event-stream', all()),
  };
}

async function* recordedChunks(
  body: ReadableStream<Uint8Array>,
  { caller, running }: Exchange,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      await caller.writeRecords();
      yield Buffer.from(chunk);
    }
  } finally {
    await Promise.allSettled(running);
    await caller.writeRecords();
  }
}

/** The length and the connection are those of this response. */
function headersOf(response: Response): Record<string, string> {
  const { 'content-length': _, connection: __, ...headers } = Object.fromEntries(response.headers);
  return headers;
}
