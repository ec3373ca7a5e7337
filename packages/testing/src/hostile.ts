import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { rawRequests } from './hostile/raw-requests.ts';
import { hostileRequests, type Target } from './hostile/requests.ts';
import { createSession, type HostileInput } from './hostile/session.ts';
import type { HostileRequest } from './hostile/written.ts';

export type { HostileInput };

const DEFAULT_REQUESTS = 200;

/** Bytes; loose, since the garbage collector takes its time. */
const MEMORY_GROWTH_LIMIT = 1_000_000_000;

/**
 * Tests every endpoint with generated requests: no 5xx, each refusal a problem of the closed table, each success as the
 * OpenAPI document says. HOSTILE_REQUESTS: how many for each endpoint (200). HOSTILE_SEED: the seed that a failure told.
 */
export function testHostileInput(input: HostileInput): void {
  const requests = wholeNumberOf('HOSTILE_REQUESTS', DEFAULT_REQUESTS);
  const seed = wholeNumberOf('HOSTILE_SEED', Math.floor(Math.random() * 2 ** 31));
  const session = createSession(input);
  const { figures } = session;
  const memoryAtStart = process.memoryUsage.rss();

  beforeAll(session.start);
  afterAll(async () => {
    await session.stop();
    if (requests > DEFAULT_REQUESTS) process.stdout.write(`hostile input, seed ${seed}\n${figures.shown()}\n`);
  });

  test.each(casesOf(input, seed))(
    'no request to $title breaks the service',
    async ({ endpoint, title, ownSeed }) => {
      figures.begin(title);
      const failure = await attack(session, await session.targetOf(endpoint, ownSeed), requests);
      if (failure !== undefined) throw new Error(`HOSTILE_SEED=${seed}\n${failure}`);
    },
    30_000 + 100 * requests,
  );

  test('what hostile requests have stored can be read by every caller', async () => {
    figures.begin('reading back');
    const lists = input.endpoints.filter(({ method, path }) => method === 'get' && !path.includes(':'));
    for (const endpoint of lists) {
      for (const caller of Object.keys(input.callers)) await session.plainly(endpoint, caller);
    }
    expect(figures.successes()).toBeGreaterThan(0);
  });

  if (requests > DEFAULT_REQUESTS) {
    test('memory does not grow with the number of requests', () => {
      expect(process.memoryUsage.rss() - memoryAtStart).toBeLessThan(MEMORY_GROWTH_LIMIT);
    });
  }
}

/** Sends that many requests, one after the other. @returns the one that broke a promise, and which; undefined for none */
async function attack({ send }: ReturnType<typeof createSession>, target: Target, requests: number) {
  let last: HostileRequest | undefined;
  const wanted = fc.oneof(
    { weight: 4, arbitrary: hostileRequests(target) },
    { weight: 1, arbitrary: rawRequests(target) },
  );
  const property = fc.asyncProperty(wanted, async (request) => {
    last = request;
    await send(request);
  });
  const run = await fc.check(property, { seed: target.seed, numRuns: requests, endOnFailure: true });
  return run.failed ? `${last?.shown}\n${run.errorInstance}` : undefined;
}

function wholeNumberOf(variable: string, otherwise: number): number {
  const value = process.env[variable] ?? `${otherwise}`;
  if (!/^\d{1,10}$/.test(value)) throw new Error(`${variable} must be a whole number, not ${value}.`);
  return Number(value);
}

/** Readers before writers: what is written makes lists long, and is read at the end. Each endpoint has its own seed. */
function casesOf({ endpoints }: HostileInput, seed: number) {
  const ordered = ['get', 'post', 'put', 'delete'].flatMap((method) =>
    endpoints.filter((endpoint) => endpoint.method === method),
  );
  return ordered.map((endpoint, index) => ({
    endpoint,
    title: `${endpoint.method.toUpperCase()} ${endpoint.path}`,
    ownSeed: seed + index,
  }));
}
