import { Agent, createServer } from 'node:http';
import type { Express } from 'express';
import request from 'supertest';
import { conformityTo } from './conformity.ts';

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the members of bodies that they use
  readonly body: any;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A caller of a service. Each response is validated against the OpenAPI document of the service.
 */
export interface Api {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  put(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  delete(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  send(apiRequest: ApiRequest): Promise<Answered>;
}

/** A request, which can be invalid. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, other values as JSON. */
  readonly body?: unknown;
}

/** Creates callers of a service. */
export interface Callers {
  /** A caller that sends this Authorization header. */
  (authorization?: string): Api;
  /** Stops the server of the callers. */
  close(): void;
}

/** Creates callers of a service, which share one server. */
export function apiOf(app: Express, document: object): Callers {
  const check = conformityTo(document);
  // Must not keep the process alive.
  const server = createServer(app).on('connection', (socket) => socket.unref());
  server.keepAliveTimeout = 0; // the agent reuses connections, which the server must not close
  const agent = new Agent({ keepAlive: true });
  let listening: Promise<void> | undefined;
  const send = async ({ method, path, headers = {}, body }: ApiRequest): Promise<Answered> => {
    listening ??= new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve).unref());
    await listening;
    const pending = request(server)[methodOf(method)](path).agent(agent).set(headers).redirects(0).buffer(true);
    if (body !== undefined && !Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')) {
      pending.set('Content-Type', 'application/json');
    }
    const response = await (body === undefined
      ? pending
      : pending.send(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)));
    const pathWithoutQuery = path.split('?', 1)[0] ?? path;
    const type = response.headers['content-type'] ?? '';
    const documentedBody = /[/+]json\b/.test(type) ? response.body : response.text;
    const { status, headers: sent } = response;
    const seen = { method, path: pathWithoutQuery, status, type, body: documentedBody, headers: sent };
    check(seen);
    return { status: response.status, body: response.body, text: response.text, headers: response.headers };
  };
  const callers = (authorization?: string): Api => {
    const own = authorization === undefined ? {} : { Authorization: authorization };
    const call =
      (method: string) =>
      (path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
        send({ method, path, body, headers: { ...own, ...headers } });
    return {
      get: (path, headers) => call('GET')(path, undefined, headers),
      post: call('POST'),
      put: call('PUT'),
      delete: call('DELETE'),
      send: (apiRequest) => send({ ...apiRequest, headers: { ...own, ...apiRequest.headers } }),
    };
  };
  const close = () => {
    agent.destroy();
    server.close();
  };
  return Object.assign(callers, { close });
}

const METHODS = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  DELETE: 'delete',
  PATCH: 'patch',
  HEAD: 'head',
  OPTIONS: 'options',
} as const;

function methodOf(method: string) {
  const known = Object.entries(METHODS).find(([name]) => name === method);
  if (!known) throw new RangeError(`unsupported method ${method}`);
  return known[1];
}
