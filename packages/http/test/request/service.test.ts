import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import { sendRaw, startService, stopServices, wire } from '../world.ts';

afterEach(stopServices);

describe('an unexpected error', () => {
  const cause = new Error('duplicate key value violates "users_pkey" at /srv/app/src/users.ts:7');
  const failing = { handlers: { latestThing: () => Promise.reject(cause) } };

  test('is 500 with the request id and without internal details', async () => {
    const { api } = await startService(failing);
    const { body, headers, type } = await api.get('/things/latest').expect(500);
    expect(type).toBe('application/problem+json');
    expect(body).toEqual({
      type: 'about:blank',
      title: 'Internal error',
      status: 500,
      detail: 'Internal error. The log contains the details for the request id.',
      code: 'internal',
      request_id: headers['x-request-id'],
    });
  });

  test('is logged with its stack and the request id', async () => {
    const { api, entry } = await startService(failing);
    const { headers } = await api.get('/things/latest');
    expect(await entry(({ status }) => status === 500)).toMatchObject({
      level: 50,
      request_id: headers['x-request-id'],
      err: { message: cause.message, stack: expect.stringContaining('service.test') },
    });
  });

  test.each([['text'], [undefined], [{ status: 400, message: 'secret' }]])(
    'can be %p instead of an Error',
    async (thrown) => {
      const { api } = await startService({ handlers: { latestThing: () => Promise.reject(thrown) } });
      const { status, text } = await api.get('/things/latest');
      expect(status).toBe(500);
      expect(text).not.toContain('secret');
    },
  );

  test('does not stop the service', async () => {
    const { api } = await startService(failing);
    await api.get('/things/latest').expect(500);
    await api.get('/things/1').expect(200);
  });

  test('of a gate is 500', async () => {
    const { api } = await startService({ gate: (_req, _res, next) => next(cause) });
    expect((await api.get('/nothing').expect(500)).text).not.toContain('users_pkey');
  });
});

describe('every response', () => {
  test.each(['/things/latest', '/nothing', '/healthz', '/openapi.json'])(
    'to %s has the security headers',
    async (path) => {
      const { api } = await startService();
      const { headers } = await api.get(path);
      expect(headers).toMatchObject({
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(headers).not.toHaveProperty('x-powered-by');
    },
  );
});

describe('the gate', () => {
  test.each(['/things', '/nothing', '/healthz', '/docs'])('runs before %s', async (path) => {
    const passed: string[] = [];
    const { api } = await startService({
      gate: (req, _res, next) => {
        passed.push(req.path);
        next();
      },
    });
    await api.patch(path);
    expect(passed).toEqual([path]);
  });
});

describe('the rate limit', () => {
  const LIMIT = 20;
  const limited = { rateLimit: true, requestsPerMinute: LIMIT };

  /** Sends `LIMIT` requests on one connection, and waits for their responses. */
  const burst = (port: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let seen = 0;
      let rest = '';
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        const lines = (rest + chunk.toString('latin1')).split('\r\n');
        rest = lines.pop() ?? '';
        seen += lines.filter((line) => line.startsWith('HTTP/1.1 ')).length;
        if (seen >= LIMIT) socket.destroy();
      });
      socket.on('close', () => resolve());
      socket.write('HEAD /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(LIMIT));
    });

  test('is 6000 requests per minute', async () => {
    const { port } = await startService({ rateLimit: true });
    const answer = await sendRaw(
      port,
      `${'HEAD /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(6000)}${wire('GET /things/latest')}`,
    );
    const statuses = answer.match(/(?<=^HTTP\/1\.1 )\d+/gm) ?? [];
    expect(statuses.length).toBe(6001);
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set(['404']));
    expect(statuses.at(-1)).toBe('429');
  });

  test('rejects further requests of the address with 429 and Retry-After', async () => {
    const { api, port } = await startService(limited);
    await burst(port);
    const { body, headers } = await api.get('/things/latest').expect(429);
    expect(body).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining(`At most ${LIMIT} requests`) });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  test('allows the configured number of requests', async () => {
    const { api } = await startService({ rateLimit: true, requestsPerMinute: 2 });
    for (const status of [200, 200, 429]) await api.get('/things/latest').expect(status);
  });

  test('counts the requests of a session together, also those before which it was not known', async () => {
    const known = new Set<string>();
    const { api } = await startService({
      rateLimit: true,
      requestsPerMinute: 2,
      sessionOf: (req) => (known.has(req.get('X-Session') ?? '') ? req.get('X-Session') : undefined),
      enter: async (req) => void known.add(req.get('X-Session') ?? ''),
    });
    for (const session of ['a', 'b', 'c']) {
      for (const status of [200, 200, 429]) {
        await api.get('/things/latest').set('X-Session', session).expect(status);
      }
    }
  });

  test('does not apply to probes and metrics, unless the gate includes a request', async () => {
    const gate: RequestHandler = (req, res, next) => {
      res.locals.isLimited = req.get('X-Limited') !== undefined;
      next();
    };
    const { api } = await startService({ rateLimit: true, requestsPerMinute: 1, gate });
    await api.get('/things/latest').expect(200);
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      await api.get(path).expect(200);
      await api.get(path).set('X-Limited', 'yes').expect(429);
    }
  });

  test('includes rejections: those that must not wait have their connection closed', async () => {
    const rejectionDelay = { burst: 1, perSecond: 0.001, pause: async () => undefined, maxDelayed: 0 };
    const { api } = await startService({ rateLimit: true, rejectionDelay });
    const connectionAfter = async (query: string, status: number) =>
      (await api.get(`/things/latest?${query}`).set('Connection', 'keep-alive').expect(status)).headers.connection;
    expect(await connectionAfter('unknown=1', 400)).not.toBe('close');
    expect(await connectionAfter('unknown=1', 400)).toBe('close');
    expect(await connectionAfter('', 200)).not.toBe('close');
  });

  test('applies to requests with an invalid target', async () => {
    const { port } = await startService({ rateLimit: true, requestsPerMinute: 1 });
    const statusOf = async () => {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET ftp://x/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      let answer = '';
      for await (const chunk of socket) answer += chunk;
      return answer.split(' ')[1];
    };
    expect(await statusOf()).toBe('400');
    expect(await statusOf()).toBe('429');
  });

  test('does not apply if it is disabled', async () => {
    const { api, port } = await startService({ ...limited, rateLimit: false });
    await burst(port);
    await api.get('/things/latest').expect(200);
  });

  test('applies to each client behind a trusted proxy', async () => {
    const { api, port } = await startService({ ...limited, trustProxy: ['127.0.0.1'] });
    await burst(port);
    await api.get('/things/latest').set('X-Forwarded-For', '203.0.113.7').expect(200);
  });

  test('ignores X-Forwarded-For of an untrusted client, and does not apply to health checks', async () => {
    const { api, port } = await startService(limited);
    await burst(port);
    await api.get('/things/latest').set('X-Forwarded-For', '203.0.113.7').expect(429);
    await api.get('/healthz').expect(200);
  });
});
