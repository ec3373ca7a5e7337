import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type ProblemCode, problems } from '@svc/contract';

/** A good answer that is ready, and where it goes: what a failing hub does with it. */
export interface Exchange {
  readonly res: ServerResponse;
  readonly good: string;
}

export type Behaviour = (exchange: Exchange) => void | Promise<void>;

/** A whole answer. */
export const send =
  (status: number, type: string, body: string, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  ({ res }) =>
    void res.writeHead(status, { 'Content-Type': type, ...headers }).end(body);

/** The good answer. */
export const answerWell: Behaviour = (exchange) => send(200, 'application/json', exchange.good)(exchange);

// biome-ignore lint/suspicious/noExplicitAny: each test knows whose answer it changes
type Change = (good: any) => unknown;

/** The good answer, changed. */
export const sendChanged =
  (change: Change): Behaviour =>
  (exchange) =>
    send(200, 'application/json', JSON.stringify(change(JSON.parse(exchange.good))))(exchange);

/** Answers with a problem document, as the contract has it. */
export function refuse(code: ProblemCode, detail = '', headers: Readonly<Record<string, string>> = {}): Behaviour {
  const { status, title } = problems[code];
  const document = { type: 'about:blank', title, status, detail, code, request_id: 'of-the-hub' };
  return send(status, 'application/problem+json', JSON.stringify(document), headers);
}

export const closeConnection: Behaviour = ({ res }) => void res.destroy();

export const neverAnswer: Behaviour = () => undefined;

/** The head and the first half of the body come, then the connection breaks. */
export const breakOff: Behaviour = ({ res, good }) => {
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': good.length });
  res.write(good.slice(0, good.length / 2), () => res.destroy());
};

/** The answer is good, and whole in a day. */
export const trickle: Behaviour = async ({ res, good }) => {
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': good.length });
  for (const character of good) {
    if (res.destroyed) return;
    res.write(character);
    await pause(50);
  }
};

/** The answer begins well, and continues for as long as the fleet reads it. */
export const neverEnd: Behaviour = async ({ res, good }) => {
  const endless = function* () {
    yield good.slice(0, -1);
    for (;;) yield ' '.repeat(100_000);
  };
  res.writeHead(200, { 'Content-Type': 'application/json' });
  await pipeline(endless, res).catch(() => undefined); // ends when the connection does
};

/** Answers well (or as told) until the call with that number, which it answers like this, and all after it. */
export function fromCall(number: number, how: Behaviour, before: Behaviour = answerWell): Behaviour {
  let calls = 0;
  return (exchange) => (++calls < number ? before(exchange) : how(exchange));
}

/** Makes its answers at once and keeps them until they are let go, one by one, in the order of arrival. */
export function holdAnswers() {
  const waiting: Exchange[] = [];
  const arrivals: (() => void)[] = [];
  return {
    hold: ((exchange) => {
      waiting.push(exchange);
      for (const arrived of arrivals.splice(0)) arrived();
    }) satisfies Behaviour,
    /** Resolves when so many have arrived. */
    arrived: async (number: number): Promise<void> => {
      while (waiting.length < number) await new Promise<void>((resolve) => arrivals.push(resolve));
    },
    letGo: async (index: number, how: Behaviour = answerWell): Promise<void> => {
      const exchange = waiting[index];
      if (!exchange || exchange.res.closed) throw new Error(`nobody waits for answer ${index}`);
      const closed = once(exchange.res, 'close');
      await how(exchange);
      await closed;
    },
  };
}
