import { Agent, createServer } from 'node:http';
import type { Express } from 'express';
import request from 'supertest';
import { conformityTo } from './conformity.ts';

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body, and fails where it is otherwise
  readonly body: any;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One caller of a service. Every answer is held against the service's OpenAPI document. */
export interface Api {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  put(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  delete(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  send(wanted: Wanted): Promise<Answered>;
}

/** A request as it is wished, sane or not. */
export interface Wanted {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it stands, anything else as JSON. */
  readonly body?: unknown;
}

/** Makes callers of a service. */
export interface Callers {
  /** A caller with this value of the Authorization header. */
  (authorization?: string): Api;
  /** Stops the server that the callers share. */
  close(): void;
}

/** Callers of a service, on one server of their own. */
export function apiOf(app: Express, document: object): Callers {
  const check = conformityTo(document);
  const server = createServer(app).on('connection', (socket) => socket.unref()); // kept connections keep no process alive
  server.keepAliveTimeout = 0; // the agent reuses connections, and must not find one that the server is closing
  const agent = new Agent({ keepAlive: true });
  const send = async ({ method, path, headers = {}, body }: Wanted): Promise<Answered> => {
    if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve).unref());
    const pending = request(server)[methodOf(method)](path).agent(agent).set(headers).redirects(0).buffer(true);
    if (body !== undefined && !Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')) {
      pending.set('Content-Type', 'application/json');
    }
    const answer = await (body === undefined
      ? pending
      : pending.send(typeof body === 'string' ? body : JSON.stringify(body)));
    const seenPath = path.split('?', 1)[0] ?? path;
    const type = answer.headers['content-type'] ?? '';
    const seenBody = /[/+]json\b/.test(type) ? answer.body : answer.text;
    check({ method, path: seenPath, status: answer.status, type, body: seenBody });
    return { status: answer.status, body: answer.body, text: answer.text, headers: answer.headers };
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
      send: (wanted) => send({ ...wanted, headers: { ...own, ...wanted.headers } }),
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
  if (!known) throw new RangeError(`no test speaks of the method ${method}`);
  return known[1];
}
