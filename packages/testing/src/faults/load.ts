import { setTimeout as wait } from 'node:timers/promises';
import { scaled } from '../run/deadlines.ts';

export interface RequestOptions {
  readonly method?: string;
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** The response that a client received; status 0: no response. */
export interface LoadResult {
  readonly status: number;
  readonly ms: number;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the members of bodies that they use
  readonly body: any;
}

/**
 * Sends a request on a keep-alive connection. A failed request is not retried, except that a request
 * to the replica that `url` chooses goes to another choice if the connection is refused, as
 * docs/upgrade.md permits.
 */
export async function ask(url: string | (() => string), options: RequestOptions = {}): Promise<LoadResult> {
  const started = performance.now();
  const { method = 'GET', body } = options;
  const signal = AbortSignal.timeout(scaled(20_000));
  const sent = { method, headers: headersOf(options), signal };
  const send = (to: string) => fetch(to, body === undefined ? sent : { ...sent, body: JSON.stringify(body) });
  try {
    const response = typeof url === 'string' ? await send(url) : await sendToAny(url, send);
    const text = await response.text();
    const seen = { retryAfter: response.headers.get('retry-after'), body: text === '' ? undefined : JSON.parse(text) };
    return { status: response.status, ...seen, ms: performance.now() - started };
  } catch (error) {
    return { status: 0, ms: performance.now() - started, retryAfter: null, body: error };
  }
}

const MAX_CHOICES = 10;

/** Sends nothing twice: a refused connection has transferred nothing. */
async function sendToAny(choose: () => string, send: (url: string) => Promise<Response>): Promise<Response> {
  for (let choice = 1; ; choice += 1) {
    try {
      return await send(choose());
    } catch (error) {
      if (choice === MAX_CHOICES || !isRefused(error)) throw error;
    }
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === 'ECONNREFUSED';

const headersOf = ({ authorization, headers, body }: RequestOptions): Record<string, string> => ({
  ...headers,
  ...(authorization === undefined ? {} : { Authorization: authorization }),
  ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
});

const MAX_REQUESTS = 2000;

/** Sends the requests of each lane sequentially until it is stopped. Lanes run concurrently. */
export function startLoad<R = LoadResult>(
  lanes: readonly (() => Promise<R>)[],
  { pauseMs = 10 }: { readonly pauseMs?: number } = {},
) {
  const seen: R[] = [];
  const byLane = lanes.map((): R[] => []);
  let stopping = false;
  const running = lanes.map(async (lane, index) => {
    for (let count = 1; !stopping && count <= MAX_REQUESTS; count++) {
      const response = await lane();
      seen.push(response);
      byLane[index]?.push(response);
      await wait(pauseMs);
    }
  });
  return {
    /** All responses so far. */
    seen: seen as readonly R[],
    /** The responses so far, by lane. */
    lanes: byLane as readonly (readonly R[])[],
    /** Ends the load. @returns all responses */
    stop: async (): Promise<readonly R[]> => {
      stopping = true;
      await Promise.all(running);
      return seen;
    },
  };
}

export const statusesOf = (seen: readonly Pick<LoadResult, 'status'>[]): number[] =>
  [...new Set(seen.map(({ status }) => status))].sort((a, b) => a - b);

/** A summary: the number of responses by status, and the longest response time. */
export function summaryOf(seen: readonly LoadResult[]): string {
  const counts = statusesOf(seen).map((status) => `${status}: ${seen.filter((one) => one.status === status).length}`);
  return `${counts.join(', ')}; longest ${Math.round(Math.max(...seen.map(({ ms }) => ms)))} ms`;
}
