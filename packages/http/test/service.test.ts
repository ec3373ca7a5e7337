import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { startService, stopServices } from './world.ts';

afterEach(stopServices);

describe('an error that nobody foresaw', () => {
  const cause = new Error('duplicate key value violates "users_pkey" at /srv/app/src/users.ts:7');
  const failing = { handlers: { latestThing: () => Promise.reject(cause) } };

  test('is a 500 with the request id and nothing of what happened', async () => {
    const { api } = await startService(failing);
    const { body, headers, type } = await api.get('/things/latest').expect(500);
    expect(type).toBe('application/problem+json');
    expect(body).toEqual({
      type: 'about:blank',
      title: 'Internal error',
      status: 500,
      detail: 'Something went wrong here; the request id finds it in the log.',
      code: 'internal',
      request_id: headers['x-request-id'],
    });
  });

  test('is in the log, with its stack and the request id', async () => {
    const { api, entry } = await startService(failing);
    const { headers } = await api.get('/things/latest');
    expect(await entry(({ status }) => status === 500)).toMatchObject({
      level: 50,
      request_id: headers['x-request-id'],
      err: { message: cause.message, stack: expect.stringContaining('service.test') },
    });
  });

  test.each([['text'], [undefined], [{ status: 400, message: 'secret' }]])(
    'may be %p, no Error at all',
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

  test('of a gate is a 500 too', async () => {
    const { api } = await startService({ gate: (_req, _res, next) => next(cause) });
    expect((await api.get('/nothing').expect(500)).text).not.toContain('users_pkey');
  });
});

describe('every answer', () => {
  test.each(['/things/latest', '/nothing', '/healthz', '/openapi.json'])(
    'of %s has the headers of safety',
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
  test.each(['/things', '/nothing', '/healthz', '/docs'])('stands before %s', async (path) => {
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

describe('too many requests', () => {
  const LIMIT = 6000;

  /** Sends that many requests on one connection, all at once, and waits for as many answers. */
  const burst = (port: number, count: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let seen = 0;
      let rest = '';
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        const lines = (rest + chunk.toString('latin1')).split('\r\n');
        rest = lines.pop() ?? '';
        seen += lines.filter((line) => line.startsWith('HTTP/1.1 ')).length;
        if (seen >= count) socket.destroy();
      });
      socket.on('close', () => resolve());
      socket.write('HEAD /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(count));
    });

  test('from one address are a 429 that says when to come again', async () => {
    const { api, port } = await startService({ rateLimit: true });
    await burst(port, LIMIT);
    const { body, headers } = await api.get('/things/latest').expect(429);
    expect(body.code).toBe('rate_limited');
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  test('are answered where the limit is off', async () => {
    const { api, port } = await startService({ rateLimit: false });
    await burst(port, LIMIT);
    await api.get('/things/latest').expect(200);
  });

  test('of one client do not shut out another one behind the same trusted proxy', async () => {
    const { api, port } = await startService({ rateLimit: true, trustProxy: ['127.0.0.1'] });
    await burst(port, LIMIT);
    await api.get('/things/latest').set('X-Forwarded-For', '203.0.113.7').expect(200);
  });

  test('are not made fewer by a header of a client whom nobody trusts', async () => {
    const { api, port } = await startService({ rateLimit: true });
    await burst(port, LIMIT);
    await api.get('/things/latest').set('X-Forwarded-For', '203.0.113.7').expect(429);
    await api.get('/healthz').expect(200);
  });
});
