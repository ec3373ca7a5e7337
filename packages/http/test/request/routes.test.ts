import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { notFound, Problem } from '../../src/index.ts';
import { sendRaw, startService, stopServices, wire } from '../world.ts';

afterEach(stopServices);

const rejectAll = {
  enter: () => Promise.reject(new Problem('unauthenticated')),
};

describe('a path', () => {
  test.each([
    '/',
    '/nothing',
    '/things/1/2',
    '/things/',
    '/things/1/',
    '/Things',
    '/THINGS',
    '//things',
    '/healthz/',
    '/Docs',
  ])('%s, which has no route, is 404', async (path) => {
    const { api } = await startService();
    const { body, type } = await api.get(path).expect(404);
    expect(type).toBe('application/problem+json');
    expect(body.code).toBe('not_found');
  });

  test('without parameters takes precedence over a path with a parameter', async () => {
    const { api } = await startService();
    expect((await api.get('/things/latest')).body).toEqual({ id: 'the latest' });
    expect((await api.get('/things/later')).body).toEqual({ id: 'later' });
  });

  test('in absolute-form, as proxies send it, has the same route', async () => {
    const { port } = await startService();
    expect(await sendRaw(port, wire('GET http://127.0.0.1/things/latest'))).toContain('{"id":"the latest"}');
  });
});

describe('a method that is not allowed', () => {
  test.each([
    ['PATCH', '/things', 'GET, POST, HEAD, OPTIONS'],
    ['PUT', '/things/1', 'GET, DELETE, HEAD, OPTIONS'],
    ['DELETE', '/things/latest', 'GET, HEAD, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
    ['POST', '/readyz', 'GET, HEAD, OPTIONS'],
    ['PUT', '/metrics', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/openapi.json', 'GET, HEAD, OPTIONS'],
    ['POST', '/docs', 'GET, HEAD, OPTIONS'],
    ['TRACE', '/things', 'GET, POST, HEAD, OPTIONS'],
    ['PROPFIND', '/things', 'GET, POST, HEAD, OPTIONS'],
  ])('%s %s is 405 with the allowed methods', async (method, path, allowed) => {
    const { port } = await startService();
    const response = await sendRaw(port, wire(`${method} ${path}`));
    expect(response).toMatch(/^HTTP\/1.1 405 /);
    expect(response).toMatch(new RegExp(`^Allow: ${allowed}\r$`, 'm'));
    expect(response).toContain(`"detail":"The method ${method} is not allowed; allowed: ${allowed}."`);
  });

  test('is 405 before authentication', async () => {
    const { api } = await startService(rejectAll);
    await api.get('/things').expect(401);
    await api.patch('/things').expect(405);
  });

  test('of a path without a route is 404', async () => {
    const { api } = await startService();
    await api.patch('/nothing').expect(404);
  });
});

describe('OPTIONS', () => {
  test.each([
    ['/things', 'GET, POST, HEAD, OPTIONS'],
    ['/things/1', 'GET, DELETE, HEAD, OPTIONS'],
    ['/healthz', 'GET, HEAD, OPTIONS'],
  ])('of %s is 204 with the allowed methods, without authentication', async (path, allowed) => {
    const { api } = await startService(rejectAll);
    const { headers, text } = await api.options(path).expect(204);
    expect(headers.allow).toBe(allowed);
    expect(headers).not.toHaveProperty('content-length');
    expect(text).toBe('');
  });

  test('of a path without a route is 404', async () => {
    const { api } = await startService();
    await api.options('/nothing').expect(404);
  });
});

describe('HEAD', () => {
  test.each(['/things/latest', '/healthz', '/docs', '/nothing'])(
    'of %s has the headers of GET and no body',
    async (path) => {
      const { api, port } = await startService();
      const get = await api.get(path);
      const head = await api.head(path);
      expect(head.status).toBe(get.status);
      expect(head.headers['content-type']).toBe(get.headers['content-type']);
      expect(head.headers['content-length']).toBe(get.headers['content-length']);
      expect(await sendRaw(port, wire(`HEAD ${path}`))).toMatch(/\r\n\r\n$/);
    },
  );
});

describe('the order of a request', () => {
  test('is authentication before validation of the input', async () => {
    const { api } = await startService(rejectAll);
    await api.get('/things?colour=red').expect(401);
    await api.post('/things').set('Content-Type', 'text/plain').send('x').expect(401);
  });

  test('passes the context of the authentication to the handler', async () => {
    const seen: unknown[] = [];
    const { api } = await startService({
      enter: async (req, _res, { operationId }) => ({ operationId, caller: req.headers['x-caller'] }),
      handlers: {
        latestThing: async (context) => {
          seen.push(context);
          return { id: '1' };
        },
      },
    });
    await api.get('/things/latest').set('X-Caller', 'me').expect(200);
    expect(seen).toEqual([{ operationId: 'latestThing', caller: 'me' }]);
  });
});

describe('a response', () => {
  test('contains only the members of its schema', async () => {
    const row = { id: '1', note: 'n', password_hash: 'argon2', owner: { email: 'a@example.test' } };
    const { api } = await startService({ handlers: { latestThing: async () => row } });
    const { body, text } = await api.get('/things/latest').expect(200);
    expect(body).toEqual({ id: '1', note: 'n' });
    expect(text).not.toContain('argon2');
  });

  test('that does not match its schema is 500 and is not sent', async () => {
    const wrong = z.any().parse({ id: 42, note: 'the secret note' });
    const { api, entry } = await startService({ handlers: { latestThing: async () => wrong } });
    const { body, text } = await api.get('/things/latest').expect(500);
    expect(body.code).toBe('internal');
    expect(text).not.toContain('secret note');
    expect(await entry(({ status }) => status === 500)).toMatchObject({ err: { type: 'ZodError' } });
  });

  test('has the status of its endpoint', async () => {
    const { api } = await startService();
    await api.post('/things').send({ name: 'a' }).expect(201);
    const { headers, text } = await api.delete('/things/1').expect(204);
    expect(headers['content-type']).toBeUndefined();
    expect(text).toBe('');
  });

  test('is JSON in UTF-8 with its length in bytes', async () => {
    const { api } = await startService({ handlers: { latestThing: async () => ({ id: 'é' }) } });
    const { headers } = await api.get('/things/latest').expect(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['content-length']).toBe(String(Buffer.byteLength('{"id":"é"}')));
  });

  test.each([
    ['with a credential in private caches', 'private', { Authorization: 'Bearer x' }],
    ['with a cookie in private caches', 'private', { Cookie: 'other=x' }],
    ['without a credential in shared caches', 'public', {}],
  ])('to a GET %s can be stored and must be revalidated', async (_, scope, sent) => {
    const { api } = await startService();
    const { headers } = await api.get('/things/latest').set(sent).expect(200);
    expect(headers).toMatchObject({
      'cache-control': `${scope}, no-cache`,
      vary: 'Accept-Encoding, Authorization, Cookie, Origin',
    });
    expect(headers.etag).toMatch(/^"[\w-]{27}"$/);
  });

  test('that the client already has is not sent again', async () => {
    const { api } = await startService();
    const { headers } = await api.get('/things/latest').expect(200);
    const again = await api.get('/things/latest').set('If-None-Match', `"other", W/${headers.etag}`).expect(304);
    expect(again).toMatchObject({ headers: { etag: headers.etag }, text: '' });
    expect(again.headers['content-length']).toBeUndefined();
  });

  test.each([
    ['to a POST', 'post', '/things'],
    ['to a DELETE', 'delete', '/things/1'],
    ['with a secret', 'get', '/secret'],
  ] as const)('%s must not be stored', async (_, method, path) => {
    const { api } = await startService();
    const { headers } = await api[method](path).send(method === 'post' ? { name: 'a' } : undefined);
    expect(headers['cache-control']).toBe('no-store');
  });

  test('that is an error must not be stored', async () => {
    const { api } = await startService({ handlers: { getThing: () => Promise.reject(notFound()) } });
    const { headers } = await api.get('/things/1').expect(404);
    expect(headers['cache-control']).toBe('no-store');
  });
});
