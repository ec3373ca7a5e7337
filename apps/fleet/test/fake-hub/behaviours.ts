import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type ProblemCode, problems } from '@svc/contract';

/**
 * A successful response that is ready, and its request and response objects: the input of a
 * behaviour.
 */
export interface Exchange {
  readonly res: ServerResponse;
  readonly good: string;
}

export type Behaviour = (exchange: Exchange) => void | Promise<void>;

/** Sends a complete response. */
export const send =
  (status: number, type: string, body: string, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  ({ res }) =>
    void res.writeHead(status, { 'Content-Type': type, ...headers }).end(body);

/** Sends the successful response. */
export const answerWell: Behaviour = (exchange) => send(200, 'application/json', exchange.good)(exchange);

// biome-ignore lint/suspicious/noExplicitAny: each test knows whose response it changes
type Change = (good: any) => unknown;

/** Sends the successful response with changes. */
export const sendChanged =
  (change: Change): Behaviour =>
  (exchange) =>
    send(200, 'application/json', JSON.stringify(change(JSON.parse(exchange.good))))(exchange);

/** Answers with a problem document of the contract. */
export function refuse(code: ProblemCode, detail = '', headers: Readonly<Record<string, string>> = {}): Behaviour {
  const { status, title } = problems[code];
  const document = { type: 'about:blank', title, status, detail, code, request_id: 'of-the-hub' };
  return send(status, 'application/problem+json', JSON.stringify(document), headers);
}

export const closeConnection: Behaviour = ({ res }) => void res.destroy();

export const neverAnswer: Behaviour = () => undefined;

/** Sends the head and the first half of the body, then closes the connection. */
export const breakOff: Behaviour = ({ res, good }) => {
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': good.length });
  res.write(good.slice(0, good.length / 2), () => res.destroy());
};

/** Sends the successful response so slowly that it takes a day. */
export const trickle: Behaviour = async ({ res, good }) => {
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': good.length });
  for (const character of good) {
    if (res.destroyed) return;
    res.write(character);
    await pause(50);
  }
};

/** Starts a successful response, and continues it for as long as the fleet reads it. */
export const neverEnd: Behaviour = async ({ res, good }) => {
  const endless = function* () {
    yield good.slice(0, -1);
    for (;;) yield ' '.repeat(100_000);
  };
  res.writeHead(200, { 'Content-Type': 'application/json' });
  await pipeline(endless, res).catch(() => undefined); // ends when the connection does
};

/**
 * Responds with success (or as given) to the calls before the one with this number, and with the
 * behaviour from then on.
 */
export function fromCall(number: number, how: Behaviour, before: Behaviour = answerWell): Behaviour {
  let calls = 0;
  return (exchange) => (++calls < number ? before(exchange) : how(exchange));
}

/**
 * Prepares its responses at once, and holds them until they are released one by one, in the order
 * of arrival.
 */
export function holdAnswers() {
  const waiting: Exchange[] = [];
  const arrivals: (() => void)[] = [];
  return {
    hold: ((exchange) => {
      waiting.push(exchange);
      for (const arrived of arrivals.splice(0)) arrived();
    }) satisfies Behaviour,
    /** Resolves when this many requests have arrived. */
    arrived: async (number: number): Promise<void> => {
      while (waiting.length < number) await new Promise<void>((resolve) => arrivals.push(resolve));
    },
    release: async (index: number, how: Behaviour = answerWell): Promise<void> => {
      const exchange = waiting[index];
      if (!exchange || exchange.res.closed) throw new Error(`no caller waits for response ${index}`);
      const closed = once(exchange.res, 'close');
      await how(exchange);
      await closed;
    },
  };
}
