import type { z } from 'zod';
import type { HostAddress, Timing } from './address.ts';
import type { Hello } from './hello.ts';

export interface Request {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Without the version of the API. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses beside 2xx that are an answer, too. */
  readonly accept?: readonly number[];
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  /** The clock of the engine's machine. */
  readonly at: number;
  readonly text: string;
}

/** What is answered bit by bit: it may stand still for `idleMs` (0: for ever), and ends with its signal, if it has one. */
export interface Streamed extends Request {
  readonly idleMs: number;
  readonly signal?: AbortSignal;
}

/** An engine that speaks the Docker Engine API. Everything rejects with an `EngineFailure`. */
export interface Client {
  readonly address: HostAddress;
  readonly timing: Timing;
  /** Who answers, asked once. */
  hello(): Promise<Hello>;
  /** One bounded exchange. */
  ask(request: Request): Promise<Answer>;
  /** The body of a GET, as far as the schema knows it. */
  read<S extends z.ZodType>(request: Request, schema: S): Promise<{ readonly body: z.output<S>; readonly at: number }>;
  /** An answer as it comes, never kept: whoever stops reading ends it. */
  open(request: Streamed): Promise<AsyncGenerator<Buffer, void, void>>;
  /** The same client, for work that ends with `signal`. */
  within(signal: AbortSignal | undefined): Client;
  /** The same client, which asks before each request whether it may still be sent: `mustHold` throws where it may not. */
  whileHeld(mustHold: () => void): Client;
  close(): Promise<void>;
}
