import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Endpoint } from '@svc/contract';
import { createHttpServer } from '@svc/http';
import type { Express } from 'express';
import { z } from 'zod';
import { createFigures } from './figures.ts';
import { oracleOf } from './oracle.ts';
import type { Target } from './requests.ts';
import type { Known } from './schema-values.ts';
import { openWire } from './wire.ts';
import { type Callers, type HostileRequest, plainRequest } from './written.ts';

export interface HostileInput {
  readonly endpoints: readonly Endpoint[];
  readonly app: Express;
  /** The service's OpenAPI document. */
  readonly document: object;
  readonly callers: Callers;
  /**
   * What exists when the turn of an endpoint comes, by the member or parameter that names it, so that requests reach more
   * than a 404. A function is called only for the endpoints whose input has that member.
   */
  readonly known: (endpoint: Endpoint) => Promise<Readonly<Record<string, Values | (() => Promise<Values>)>>>;
}

type Values = readonly unknown[];

export type Session = ReturnType<typeof createSession>;

/** How much more often admitted callers are chosen than all callers together: their requests reach more code. */
const ADMITTED_WEIGHT = 2;

/** One server that listens, one connection to it, and every answer checked and counted. */
export function createSession({ app, document, callers, known }: Omit<HostileInput, 'endpoints'>) {
  const check = oracleOf(document);
  const figures = createFigures();
  const server = createHttpServer(app);
  let wire: ReturnType<typeof openWire>;

  const send = async (request: HostileRequest) => {
    if (request.unreadable) wire.close(); // judged by itself, on a connection of its own
    const answer = await wire.send(request);
    if (request.unreadable) wire.close(); // the parser may have found the start of another request in it
    figures.count(answer);
    check(request, answer);
    return answer;
  };
  const plainly = (endpoint: Endpoint, caller: string) => send(plainRequest(endpoint, caller, callers));
  const names = Object.keys(callers);
  const admittedByAccess = new Map<string, readonly string[]>();
  /** Callers whom the policy admits to the endpoints of an access, as one of these answers. */
  const admittedTo = async (endpoint: Endpoint) => {
    const known = admittedByAccess.get(endpoint.access);
    if (known) return known;
    const admitted: string[] = [];
    for (const name of names) {
      const answer = await plainly(endpoint, name);
      if (answer?.status !== 401 && answer?.status !== 403) admitted.push(name);
    }
    admittedByAccess.set(endpoint.access, admitted);
    return admitted;
  };
  const knownTo = async (endpoint: Endpoint): Promise<Known> => {
    const members = inputMembers(endpoint);
    const found: [string, Values][] = [];
    for (const [name, values] of Object.entries(await known(endpoint))) {
      if (members.has(name)) found.push([name, typeof values === 'function' ? await values() : values]);
    }
    return Object.fromEntries(found);
  };
  const targetOf = async (endpoint: Endpoint, seed: number): Promise<Target> => {
    const admitted = await admittedTo(endpoint);
    const weighted = [...names, ...Array.from({ length: ADMITTED_WEIGHT * names.length }, () => admitted).flat()];
    return { endpoint, known: await knownTo(endpoint), callers: weighted, authorizations: callers, seed };
  };
  const start = async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    wire = openWire((server.address() as AddressInfo).port); // a server that listens on a port has one
  };
  const stop = async () => {
    wire.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { send, plainly, targetOf, figures, start, stop };
}

/** The names of an endpoint's parameters and of the members of its body. */
const inputMembers = ({ params, query, body }: Endpoint): ReadonlySet<string> =>
  new Set([params, query, body].flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])));
