import type { Endpoint } from '@svc/contract';
import { type GivenInput, type Performed, Problem, type Route } from '@svc/http';

/**
 * What a request to an endpoint states in headers, and how a waiting operation reports what it
 * sees.
 */
export interface OperationRequest extends GivenInput {
  /** The only version of the resource that the operation may change: `If-Match`. */
  readonly version?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Receives the states of a resource while the operation waits for one of them. */
  readonly onState?: ((state: unknown) => void) | undefined;
}

/** The caller of one HTTP request, and what the service does for it. */
export interface McpCaller {
  /** Identifies the principal, for limits and confirmations. */
  readonly key: string;
  readonly requestId: string;
  /**
   * Aborts when the client disconnects or the process stops: what waits or streams then ends with
   * what it has.
   */
  readonly signal: AbortSignal;
  isAdmitted(endpoint: Endpoint): boolean;
  /**
   * Enforces the policy before a tool runs, and records a rejection with the arguments that name the
   * object. @throws 403
   */
  admit(endpoint: Endpoint, given: Readonly<Record<string, unknown>>): void;
  /**
   * Performs an operation as a request to its endpoint would: admits, validates, handles, presents
   * and records.
   */
  perform(endpoint: Endpoint, request: OperationRequest): Promise<Performed>;
  /** Names the tool in the records of the request. */
  useTool(name: string): void;
  /** Records what was performed so far. It is called before each part of a streamed response. */
  writeRecords(): Promise<void>;
}

/** Whether a function that enforces a policy admits a caller to an endpoint. */
export const isAdmittedBy =
  (admit: (endpoint: Endpoint) => void) =>
  (endpoint: Endpoint): boolean => {
    try {
      admit(endpoint);
      return true;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  };

/** The route of an endpoint. @throws Error if the service does not implement it */
export function routeTo<Context>(routes: readonly Route<Context>[], endpoint: Endpoint): Route<Context> {
  const route = routes.find((each) => each.endpoint === endpoint);
  if (!route) throw new Error(`no route has the endpoint ${endpoint.operationId}`);
  return route;
}
