import type { ServerResponse } from 'node:http';
import { assertAccess, callerOf, type Forbidden, reviewed } from './access.ts';
import type { Admission } from './admission/admission.ts';
import type { Logs } from './logs.ts';
import { at, isTree, type Stored } from './objects.ts';
import { list, read, shownTo, versionOf } from './read.ts';
import { notFound, Refusal } from './refusal.ts';
import { type Received, type Target, targetOf } from './request.ts';
import { scale } from './scale.ts';
import type { Store } from './store.ts';
import type { Watchers } from './watch.ts';
import { apply, create, remove } from './write.ts';

/** The parts of the server that process requests. */
export interface Parts {
  readonly store: Store;
  readonly watchers: Watchers;
  readonly logs: Logs;
  readonly forbidden: Forbidden;
  readonly gitVersion: string;
  readonly admission: Admission;
}

/** Responds to a request as an API server does. */
export function answer(parts: Parts, request: Received, response: ServerResponse): void {
  try {
    const target = targetOf(request);
    assertAccess(parts.forbidden, request, target);
    if (target === undefined) send(response, 200, versionAt(request, parts));
    else if (request.method === 'GET' && request.query.watch === 'true')
      parts.watchers.watch(target, request, response);
    else if (target.part === 'log') sendLog(parts, { target, request, response });
    else sendObject(parts, { target, request, response });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    send(response, error.code, error.body);
  }
}

function versionAt({ path }: Received, { gitVersion }: Parts): object {
  if (path === '/version') return versionOf(gitVersion);
  throw new Refusal(404, 'NotFound', { message: 'the server could not find the requested resource' });
}

interface ReceivedRequest {
  readonly target: Target;
  readonly request: Received;
  readonly response: ServerResponse;
}

function sendObject(parts: Parts, { target, request, response }: ReceivedRequest): void {
  const { code, body } = answerTo(parts, target, request);
  send(response, code, body);
}

function answerTo(
  { store, forbidden, admission }: Parts,
  target: Target,
  request: Received,
): { code: number; body: object } {
  if (target.kind.kind === 'SelfSubjectAccessReview') return { code: 201, body: reviewed(forbidden, request) };
  if (target.kind.kind === 'SelfSubjectReview') return { code: 201, body: callerOf(request) };
  if (target.part === 'scale') return scale(store, target, request);
  if (request.method === 'GET') {
    return { code: 200, body: target.name === '' ? list(store, target, request) : read(store, target, request) };
  }
  if (request.method === 'DELETE') return remove(store, target, request);
  const write = request.method === 'POST' ? create : apply;
  const { code, body } = write({ store, admission }, target, request);
  return { code, body: shownTo(request, store, target)(body as Stored) };
}

const containersOf = (pod: Stored): string[] =>
  ['spec.containers', 'spec.initContainers'].flatMap((path) => {
    const found = at(pod, path);
    return Array.isArray(found) ? found.filter(isTree).map(({ name }) => String(name)) : [];
  });

function sendLog({ store, logs }: Parts, { target, request, response }: ReceivedRequest): void {
  const pod = store.find('pods', target.namespace, target.name);
  if (!pod) throw notFound(target);
  logs.send(target.name, containersOf(pod), request, response);
}

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
