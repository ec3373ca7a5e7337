import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { endpoint, line, queryInteger } from '@svc/contract';
import request from 'supertest';
import { z } from 'zod';
import { createService, implementFor, type Route, routeFor, type ServiceOptions } from '../src/index.ts';
import { createLogTo, type HoldBack } from '../src/observe/log.ts';

const common = { access: 'anyone', tag: 'things' };
const thing = z.object({ id: z.string(), note: z.string().optional() });
const thingBody = z.strictObject({
  name: line(20),
  count: z.int().optional(),
  nested: z.unknown().optional(),
  labels: z.record(z.string().regex(/^[a-z]+$/, 'must be lower-case letters'), z.string()).optional(),
});
const thingParams = z.strictObject({ id: z.string().max(20) });

export const BODY_LIMIT = 256 * 1024;

/** The contract of the service in these tests. */
const contract = {
  listThings: endpoint({
    ...common,
    operationId: 'listThings',
    method: 'get',
    path: '/things',
    summary: 'List things',
    query: z.strictObject({ limit: queryInteger(1, 100).default(50), search: line(20).optional() }),
    reply: z.object({ things: z.array(thing) }),
  }),
  createThing: endpoint({
    ...common,
    operationId: 'createThing',
    method: 'post',
    path: '/things',
    summary: 'Create a thing',
    status: 201,
    body: thingBody,
    bodyLimit: BODY_LIMIT,
    reply: z.object({ thing: z.unknown() }),
  }),
  // Declared before the literal path: the order of declaration must not matter.
  getThing: endpoint({
    ...common,
    operationId: 'getThing',
    method: 'get',
    path: '/things/:id',
    summary: 'Get a thing',
    params: thingParams,
    reply: thing,
    problems: ['not_found'],
  }),
  latestThing: endpoint({
    ...common,
    operationId: 'latestThing',
    method: 'get',
    path: '/things/latest',
    summary: 'Get the latest thing',
    reply: thing,
  }),
  removeThing: endpoint({
    ...common,
    operationId: 'removeThing',
    method: 'delete',
    path: '/things/:id',
    summary: 'Remove a thing',
    status: 204,
    params: thingParams,
    reply: z.undefined(),
  }),
  getSecret: endpoint({
    ...common,
    operationId: 'getSecret',
    method: 'get',
    path: '/secret',
    summary: 'Get a secret',
    reply: z.object({ secret: z.string() }),
    secret: true,
  }),
};

type Contract = typeof contract;
type Handlers = { [K in keyof Contract]: Route<unknown, Contract[K]>['handle'] };

/** The default handlers, which return their input. */
const handlers: Handlers = {
  listThings: async (_, { query }) => ({ things: [{ id: JSON.stringify(query) }] }),
  createThing: async (_, { body }) => ({ thing: body }),
  getThing: async (_, { params }) => ({ id: params.id }),
  latestThing: async () => ({ id: 'the latest' }),
  removeThing: async () => undefined,
  getSecret: async () => ({ secret: 's3cret' }),
};

type Entry = Readonly<Record<string, unknown>>;
type Given = Partial<Omit<ServiceOptions<unknown>, 'log' | 'routes' | 'fastRoutes'>> & {
  readonly handlers?: Partial<Handlers>;
  /** Whether GET requests are handled without Express. */
  readonly isFast?: boolean;
};

const running: (() => Promise<void>)[] = [];

/** For afterEach: stops all services that the test started. */
export async function stopServices(): Promise<void> {
  await Promise.all(running.splice(0).map((stop) => stop()));
}

/** A service on a free loopback port, with its log. */
export async function startService({ handlers: own = {}, isFast = false, ...options }: Given = {}) {
  const log = aLog('debug');
  const implementation = { ...handlers, ...own };
  const route = routeFor<unknown>();
  const routes = implementFor<unknown>()(contract, {
    listThings: route(contract.listThings, implementation.listThings),
    createThing: route(contract.createThing, implementation.createThing),
    getThing: route(contract.getThing, implementation.getThing),
    latestThing: route(contract.latestThing, implementation.latestThing),
    removeThing: route(contract.removeThing, implementation.removeThing),
    getSecret: route(contract.getSecret, implementation.getSecret),
  });
  const app = createService<unknown>({
    version: '1.2.3',
    log: log.log,
    routes,
    ...(isFast ? { fastRoutes: routes.filter(({ endpoint }) => endpoint.method === 'get') } : {}),
    enter: async () => undefined,
    openapi: { openapi: '3.1.1', info: { version: '1.0.0' } },
    health: { check: async () => [], stopping: false },
    rateLimit: false,
    corsOrigins: [],
    trustProxy: [],
    ...options,
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  return { api: request(server), port, entries: log.entries, entry: log.entry };
}

/** A log whose entries a test can read and wait for. */
export function aLog(level: 'info' | 'debug' = 'info', holdBack?: HoldBack) {
  const entries: Entry[] = [];
  const stream = new PassThrough();
  stream.on('data', (text: Buffer) => entries.push(JSON.parse(text.toString('utf8'))));
  const entry = async (matches: (entry: Entry) => boolean): Promise<Entry> => {
    const found = entries.find(matches);
    if (found) return found;
    await once(stream, 'data');
    return entry(matches);
  };
  return { log: createLogTo(stream, { level, base: {}, holdBack }), entries, entry };
}

/** Sends bytes unchanged, and reads until the server closes the connection. */
export async function sendRaw(port: number, text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** The bytes of a request after which the server closes the connection. */
export const wire = (start: string, headers: readonly string[] = [], body = '') =>
  [`${start} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...headers, '', body].join('\r\n');
