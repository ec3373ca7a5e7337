import { setTimeout as wait } from 'node:timers/promises';

export interface Asked {
  readonly method?: string;
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** What a client saw; a status of 0: no answer at all. */
export interface Seen {
  readonly status: number;
  readonly ms: number;
  readonly retryAfter: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON, which each test reads by its own expectation
  readonly body: any;
}

/** One request on kept-alive connections, as any client sends it: not repeated when it fails. */
export async function ask(url: string, asked: Asked = {}): Promise<Seen> {
  const started = performance.now();
  const { method = 'GET', body } = asked;
  const sent = { method, headers: headersOf(asked), signal: AbortSignal.timeout(20_000) };
  try {
    const answer = await fetch(url, body === undefined ? sent : { ...sent, body: JSON.stringify(body) });
    const text = await answer.text();
    const seen = { retryAfter: answer.headers.get('retry-after'), body: text === '' ? undefined : JSON.parse(text) };
    return { status: answer.status, ...seen, ms: performance.now() - started };
  } catch (error) {
    return { status: 0, ms: performance.now() - started, retryAfter: null, body: error };
  }
}

const headersOf = ({ authorization, headers, body }: Asked): Record<string, string> => ({
  ...headers,
  ...(authorization === undefined ? {} : { Authorization: authorization }),
  ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
});

const MOST_REQUESTS = 2000;

/** Sends the requests of each lane one after the other until it is stopped. Lanes run concurrently. */
export function startLoad(
  lanes: readonly (() => Promise<Seen>)[],
  { pauseMs = 10 }: { readonly pauseMs?: number } = {},
) {
  const seen: Seen[] = [];
  const byLane = lanes.map((): Seen[] => []);
  let stopping = false;
  const running = lanes.map(async (lane, index) => {
    for (let count = 1; !stopping && count <= MOST_REQUESTS; count++) {
      const answer = await lane();
      seen.push(answer);
      byLane[index]?.push(answer);
      await wait(pauseMs);
    }
  });
  return {
    /** What was seen so far. */
    seen: seen as readonly Seen[],
    /** What was seen so far, by lane. */
    lanes: byLane as readonly (readonly Seen[])[],
    /** Ends the load. @returns everything that was seen */
    stop: async (): Promise<readonly Seen[]> => {
      stopping = true;
      await Promise.all(running);
      return seen;
    },
  };
}

export const statusesOf = (seen: readonly Seen[]): number[] =>
  [...new Set(seen.map(({ status }) => status))].sort((a, b) => a - b);

/** For people: how many answers there were of each status, and the longest wait for one. */
export function summaryOf(seen: readonly Seen[]): string {
  const counts = statusesOf(seen).map((status) => `${status}: ${seen.filter((one) => one.status === status).length}`);
  return `${counts.join(', ')}; longest ${Math.round(Math.max(...seen.map(({ ms }) => ms)))} ms`;
}
