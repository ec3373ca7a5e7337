import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Endpoint } from '@svc/contract';
import { createHttpServer } from '@svc/http';
import type { Express } from 'express';
import { z } from 'zod';
import { createFigures } from './figures.ts';
import { oracleOf } from './oracle.ts';
import type { Target } from './requests.ts';
import type { Known } from './schema-values.ts';
import { openWire, type WireResponse } from './wire.ts';
import { type Callers, type HostileRequest, plainRequest } from './written.ts';

export interface HostileInput {
  readonly endpoints: readonly Endpoint[];
  readonly app: Express;
  /** The OpenAPI document of the service. */
  readonly document: object;
  readonly callers: Callers;
  /**
   * Identifiers of existing rows when an endpoint is tested, by member or parameter, so that not
   * all responses are 404. A function is called only for endpoints whose input has this member.
   */
  readonly known: (endpoint: Endpoint) => Promise<Readonly<Record<string, Values | (() => Promise<Values>)>>>;
}

type Values = readonly unknown[];

export type Session = ReturnType<typeof createSession>;

/** How much more often admitted callers are chosen, because their requests cover more code. */
const ADMITTED_WEIGHT = 2;

/**
 * A request is repeated if the service still serves an earlier one whose connection has ended, and serves only one of them at a time. At the end
 * of these repetitions, the response counts.
 */
const REPETITIONS = { most: 100, afterMs: 100 };

/** A server, a connection to it, and checks and counts of all responses. */
export function createSession({ app, document, callers, known }: Omit<HostileInput, 'endpoints'>) {
  const check = oracleOf(document);
  const figures = createFigures();
  const server = createHttpServer(app);
  server.keepAliveTimeout = 0; // the connection must not end between two requests, however busy the machine is
  let wire: ReturnType<typeof openWire>;

  const send = async (request: HostileRequest) => {
    // Needs its own connection, so that its response is unambiguous.
    if (request.unreadable) wire.close();
    let response = await wire.send(request);
    for (let repeated = 0; isOverloaded(response) && repeated < REPETITIONS.most; repeated += 1) {
      await delay(REPETITIONS.afterMs);
      response = await wire.send(request);
    }
    if (request.unreadable) wire.close(); // the parser can find the start of another request in it
    figures.count(response);
    check(request, response);
    return response;
  };
  const plainly = (endpoint: Endpoint, caller: string) => send(plainRequest(endpoint, caller, callers));
  const names = Object.keys(callers);
  const admittedByAccess = new Map<string, readonly string[]>();
  /** The callers that the policy admits, determined with one endpoint for each kind of access. */
  const admittedTo = async (endpoint: Endpoint) => {
    const known = admittedByAccess.get(endpoint.access);
    if (known) return known;
    const admitted: string[] = [];
    for (const name of names) {
      const response = await plainly(endpoint, name);
      if (response?.status !== 401 && response?.status !== 403) admitted.push(name);
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
    return { endpoint, known: await knownTo(endpoint), callers: weighted, credentials: callers, seed };
  };
  const start = async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A server that listens on a port has one.
    wire = openWire((server.address() as AddressInfo).port);
  };
  const stop = async () => {
    wire.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { send, plainly, targetOf, figures, start, stop };
}

const isOverloaded = (response: WireResponse | undefined) =>
  response?.status === 503 && response.body.includes('"code":"overloaded"');

/** The names of the parameters and body members of an endpoint. */
const inputMembers = ({ params, query, body }: Endpoint): ReadonlySet<string> =>
  new Set([params, query, body].flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])));
