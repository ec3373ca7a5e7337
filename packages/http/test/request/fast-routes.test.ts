import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Request } from 'express';
import { Problem, renderedReply } from '../../src/index.ts';
import { createFastRoutes } from '../../src/request/fast-routes.ts';
import { sendRaw, startService, stopServices, wire } from '../world.ts';

afterEach(stopServices);

const PATHS = [
  '/things',
  '/things?limit=5&search=a+b',
  '/things?limit=x',
  '/things?unknown=1',
  '/things?limit=1&limit=2',
  '/things?search=%ZZ',
  '/things?',
  '/things/latest',
  '/things/latest?x=1',
  '/things/abc',
  '/things/a_b-C9',
  '/things/%61bc',
  '/things/%00',
  '/things/%ZZ',
  `/things/${'a'.repeat(30)}`,
  `/things/${'a'.repeat(300)}`,
  '/things/',
  '/things/a/b',
  '/Things',
  '/secret',
  '/nothing',
  '//things',
  'http://example.test/things?limit=7',
  'ftp://example.test/things',
];
const HEADERS = [
  [],
  ['If-None-Match: *'],
  ['If-None-Match: "x"'],
  ['Upgrade: h2c', 'Connection: Upgrade'],
  ['Origin: https://console.example.test'],
  ['X-Forwarded-For: 203.0.113.7'],
];
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE'];

const requests = METHODS.flatMap((method) =>
  PATHS.flatMap((path) =>
    (method === 'GET' ? HEADERS : HEADERS.slice(0, 2)).map((headers) => ({ start: `${method} ${path}`, headers })),
  ),
);

const services = {
  'without options': {},
  'with origins': { corsOrigins: ['https://console.example.test'] },
  'with a rate limit and a proxy': {
    rateLimit: true,
    trustProxy: ['127.0.0.1'],
    requestsPerMinute: 100_000,
    // Rejections are delayed, but only for as long as a millisecond.
    rejectionDelay: { burst: 1, perSecond: 1000, maxDelayed: 1000, pause },
  },
  'with handlers that throw': {
    handlers: {
      latestThing: async () => {
        throw new Error('broken');
      },
      getThing: async () => {
        throw new Problem('not_found', 'There is no such thing.');
      },
    },
  },
  'with rendered replies': {
    handlers: { latestThing: async () => renderedReply(Buffer.from('{"id":"é"}'), 'W/"tag"') },
  },
};

test.each(Object.keys(services) as (keyof typeof services)[])(
  'a service %s answers with the same bytes with and without Express, and logs and counts the same',
  async (name) => {
    const observe = async (isFast: boolean) => {
      const { api, port, entries } = await startService({ ...services[name], isFast });
      const answers: string[] = [];
      for (const { start, headers } of requests) {
        const answer = await sendRaw(port, wire(start, ['X-Request-Id: the-same', ...headers]));
        answers.push(`${start} ${headers}\n${answer.replace(/^Date: .*\r\n/m, '')}`);
      }
      const { text } = await api.get('/metrics');
      const counted = text.split('\n').filter((line) => line.startsWith('http_requests_total'));
      const logged = entries.map(({ time: _, duration_ms: __, err, ...entry }) =>
        JSON.stringify({ ...entry, failed: err !== undefined }),
      );
      return { answers, counted: counted.sort(), logged: logged.slice(0, requests.length) };
    };
    const fast = await observe(true);
    const express = await observe(false);
    expect(fast.answers).toEqual(express.answers);
    expect(fast.counted).toEqual(express.counted);
    expect(fast.logged.sort()).toEqual(express.logged.sort());
  },
);

test('a request for a fast route is not handled by Express', async () => {
  const seen: unknown[] = [];
  const handlers = { latestThing: async () => ({ id: 'x' }) };
  const enter = async (req: object) => void seen.push('next' in req);
  const statuses: number[] = [];
  for (const isFast of [true, false]) {
    const { api } = await startService({ handlers, enter, isFast });
    statuses.push((await api.get('/things/latest')).status);
  }
  expect(statuses).toEqual([200, 200]);
  expect(seen).toEqual([false, true]);
});

test('the rate limit counts the requests of both kinds together', async () => {
  const { api } = await startService({ isFast: true, rateLimit: true, requestsPerMinute: 2 });
  expect((await api.get('/things/latest')).status).toBe(200);
  expect((await api.post('/things').send({ name: 'a' })).status).toBe(201);
  expect((await api.get('/things/latest')).status).toBe(429);
});

describe('the rate limit of callers behind one address who arrive at the same time', () => {
  const CALLERS = 6;
  const LIMIT = 2;

  /** Sends a request of each caller. None of them is authenticated before all have arrived. */
  async function statusesOf(authenticate: (req: Request) => void) {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    let count = 0;
    const known = new Set<string>();
    const { api } = await startService({
      isFast: true,
      rateLimit: true,
      requestsPerMinute: LIMIT,
      rejectionDelay: { burst: CALLERS, perSecond: 1, pause: async () => undefined, maxDelayed: 1 },
      sessionOf: ({ headers: { authorization = '' } }) => (known.has(authorization) ? authorization : undefined),
      enter: async (req) => {
        count += 1;
        if (count === CALLERS) arrive();
        await arrived;
        authenticate(req);
        known.add(req.headers.authorization ?? '');
      },
    });
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, (_, caller) =>
        api.get('/things/latest').set('Authorization', `caller ${caller}`),
      ),
    );
    return answers.map(({ status }) => status).sort();
  }

  test('does not refuse callers with credentials of their own', async () => {
    expect(await statusesOf(() => undefined)).toEqual(Array.from({ length: CALLERS }, () => 200));
  });

  test('counts credentials that are not valid for the address', async () => {
    const refuse = () => {
      throw new Problem('unauthenticated', 'The credential is not valid.');
    };
    expect(await statusesOf(refuse)).toEqual([401, 401, 429, 429, 429, 429]);
  });
});

test.each(['/things/:id/parts', '/:a/:b'])('the path %s cannot be that of a fast route', (path) => {
  const route = { endpoint: { method: 'get', path }, handle: () => Promise.resolve({}) };
  expect(() => createFastRoutes([route as never])).toThrow(`${path} cannot be a fast route`);
});
