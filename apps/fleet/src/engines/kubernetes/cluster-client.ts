import type { ClusterAddress, Timing } from './address.ts';
import type { Apis } from './apis.ts';

/** What is answered bit by bit: it may stand still for `idleMs` (0: for ever). */
export interface Streamed {
  /** Below the server's address. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept?: string;
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A Kubernetes API server. Everything rejects with an `EngineFailure`, which holds nothing of the credentials. */
export interface Client {
  readonly address: ClusterAddress;
  readonly timing: Timing;
  /** The typed API, each of whose requests is bounded in time and size. */
  apis(): Promise<Apis>;
  /** An answer as it comes, never kept: whoever stops reading ends it. */
  open(request: Streamed): Promise<AsyncGenerator<Buffer, void, void>>;
  /** The clock of the API server, as far as it was heard of. */
  now(): number;
  /** The same client, for work that ends with `signal`. */
  within(signal: AbortSignal | undefined): Client;
  /** The same client, which asks before each request whether it may still be sent: `mustHold` throws where it may not. */
  whileHeld(mustHold: () => void): Client;
  close(): Promise<void>;
}
