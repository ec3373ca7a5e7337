import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { byDepth, depth, figure, seed } from '../run/depth.ts';
import { repeatHint } from '../run/properties.ts';
import { rawRequests, rawRequestsInTurn } from './raw-requests.ts';
import { hostileRequests, type Target } from './requests.ts';
import { createSession, type HostileInput, type Session } from './session.ts';
import type { HostileRequest } from './written.ts';

export { hostileInput } from './requests.ts';
export type { HostileInput };

/** Number of generated requests per endpoint. */
const REQUESTS = byDepth({ short: 3, full: 200, long: 2000 });

/** In bytes. The limit is high because the garbage collector runs late. */
const MEMORY_GROWTH_LIMIT = 1_000_000_000;

/**
 * Tests every endpoint with generated requests: no response is 5xx, each error is a documented
 * problem, and each success conforms to the OpenAPI document.
 */
export function testHostileInput(input: HostileInput): void {
  const session = createSession(input);
  const { figures } = session;
  const memoryAtStart = process.memoryUsage.rss();

  beforeAll(session.start);
  afterAll(async () => {
    await session.stop();
    figure(`hostile input, seed ${seed}\n${figures.shown()}`);
  });

  const endpoints = readersFirst(input.endpoints);
  const cases = endpoints.map((endpoint, index) => ({
    endpoint,
    index,
    title: `${endpoint.method.toUpperCase()} ${endpoint.path}`,
  }));
  test.each(cases)(
    '$title responds to hostile requests as documented',
    async ({ endpoint, index, title }) => {
      figures.begin(title);
      const target = await session.targetOf(endpoint, seed + index);
      for (const request of rawRequestsInTurn(target, { index, of: endpoints.length })) await attempt(session, request);
      await attack(session, target);
    },
    30_000 + 100 * REQUESTS,
  );

  test('every caller can list the data that hostile requests stored', async () => {
    figures.begin('reading back');
    const lists = endpoints.filter(({ method, path }) => method === 'get' && !path.includes(':'));
    for (const endpoint of lists) {
      for (const caller of Object.keys(input.callers)) await session.plainly(endpoint, caller);
    }
    expect(figures.successes()).toBeGreaterThan(0);
  });

  if (depth === 'long') {
    test('memory does not grow with the number of requests', () => {
      expect(process.memoryUsage.rss() - memoryAtStart).toBeLessThan(MEMORY_GROWTH_LIMIT);
    });
  }
}

/** Sends generated requests sequentially. @throws for the first invalid response */
async function attack(session: Session, target: Target): Promise<void> {
  const requests = fc.oneof(
    { weight: 4, arbitrary: hostileRequests(target) },
    { weight: 1, arbitrary: rawRequests(target) },
  );
  const property = fc.asyncProperty(requests, (request) => attempt(session, request));
  const run = await fc.check(property, { seed: target.seed, numRuns: REQUESTS, endOnFailure: true });
  if (run.failed) throw run.errorInstance;
}

/** Sends a request. @throws an error with the request, and how to repeat the run */
async function attempt({ send }: Session, request: HostileRequest): Promise<void> {
  try {
    await send(request);
  } catch (error) {
    throw new Error(`${repeatHint}\n${request.shown}\n${error}`, { cause: error });
  }
}

/**
 * Reads come before writes, because writes make lists long. The lists are read again at the end.
 */
const readersFirst = (endpoints: HostileInput['endpoints']) => [
  ...endpoints.filter(({ method }) => method === 'get'),
  ...endpoints.filter(({ method }) => method !== 'get'),
];
