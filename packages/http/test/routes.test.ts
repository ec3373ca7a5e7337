import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { notFound, Problem } from '../src/index.ts';
import { sendRaw, startService, stopServices, wire } from './world.ts';

afterEach(stopServices);

const nobodyMayEnter = {
  enter: () => Promise.reject(new Problem('unauthenticated')),
};

describe('an address', () => {
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
  ])('%s, which nothing has, is a 404', async (path) => {
    const { api } = await startService();
    const { body, type } = await api.get(path).expect(404);
    expect(type).toBe('application/problem+json');
    expect(body.code).toBe('not_found');
  });

  test('without a parameter wins over the one with a parameter beside it', async () => {
    const { api } = await startService();
    expect((await api.get('/things/latest')).body).toEqual({ id: 'the latest' });
    expect((await api.get('/things/later')).body).toEqual({ id: 'later' });
  });

  test('as a proxy writes it, with scheme and host, is the same address', async () => {
    const { port } = await startService();
    expect(await sendRaw(port, wire('GET http://127.0.0.1/things/latest'))).toContain('{"id":"the latest"}');
  });
});

describe('another method', () => {
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
  ])('%s %s is a 405 that says what is allowed', async (method, path, allowed) => {
    const { port } = await startService();
    const answer = await sendRaw(port, wire(`${method} ${path}`));
    expect(answer).toMatch(/^HTTP\/1.1 405 /);
    expect(answer).toMatch(new RegExp(`^Allow: ${allowed}\r$`, 'm'));
    expect(answer).toContain(`"detail":"${method} is not possible here; allowed: ${allowed}."`);
  });

  test('is a 405 for a stranger too: it comes before authentication', async () => {
    const { api } = await startService(nobodyMayEnter);
    await api.get('/things').expect(401);
    await api.patch('/things').expect(405);
  });

  test('at an address that nothing has is a 404', async () => {
    const { api } = await startService();
    await api.patch('/nothing').expect(404);
  });
});

describe('OPTIONS', () => {
  test.each([
    ['/things', 'GET, POST, HEAD, OPTIONS'],
    ['/things/1', 'GET, DELETE, HEAD, OPTIONS'],
    ['/healthz', 'GET, HEAD, OPTIONS'],
  ])('of %s answers 204 with what is allowed, to anyone', async (path, allowed) => {
    const { api } = await startService(nobodyMayEnter);
    const { headers, text } = await api.options(path).expect(204);
    expect(headers.allow).toBe(allowed);
    expect(headers).not.toHaveProperty('content-length');
    expect(text).toBe('');
  });

  test('of an address that nothing has is a 404', async () => {
    const { api } = await startService();
    await api.options('/nothing').expect(404);
  });
});

describe('HEAD', () => {
  test.each(['/things/latest', '/healthz', '/docs', '/nothing'])(
    'of %s has the headers of GET, and no body',
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
  test('is to authenticate before the input is looked at: strangers learn nothing of it', async () => {
    const { api } = await startService(nobodyMayEnter);
    await api.get('/things?colour=red').expect(401);
    await api.post('/things').set('Content-Type', 'text/plain').send('x').expect(401);
  });

  test('hands what authentication found to the handler', async () => {
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

describe('a reply', () => {
  test('drops the members that are not on the wire', async () => {
    const row = { id: '1', note: 'n', password_hash: 'argon2', owner: { email: 'a@example.test' } };
    const { api } = await startService({ handlers: { latestThing: async () => row } });
    const { body, text } = await api.get('/things/latest').expect(200);
    expect(body).toEqual({ id: '1', note: 'n' });
    expect(text).not.toContain('argon2');
  });

  test('that does not fit its schema is a 500, and nothing of it leaves', async () => {
    const wrong = z.any().parse({ id: 42, note: 'the secret note' });
    const { api, entry } = await startService({ handlers: { latestThing: async () => wrong } });
    const { body, text } = await api.get('/things/latest').expect(500);
    expect(body.code).toBe('internal');
    expect(text).not.toContain('secret note');
    expect(await entry(({ status }) => status === 500)).toMatchObject({ err: { type: 'ZodError' } });
  });

  test('of success has the status of its endpoint', async () => {
    const { api } = await startService();
    await api.post('/things').send({ name: 'a' }).expect(201);
    const { headers, text } = await api.delete('/things/1').expect(204);
    expect([headers['content-type'], text]).toEqual([undefined, '']);
  });

  test('is JSON in UTF-8 with its length in bytes', async () => {
    const { api } = await startService({ handlers: { latestThing: async () => ({ id: 'é' }) } });
    const { headers } = await api.get('/things/latest').expect(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['content-length']).toBe(String(Buffer.byteLength('{"id":"é"}')));
  });

  test.each([
    ['with a credential by the caller’s own cache', 'private', { Authorization: 'Bearer x' }],
    ['without one by any cache', 'public', {}],
  ])('that is read %s is kept, and asked for again', async (_, kept, sent) => {
    const { api } = await startService();
    const { headers } = await api.get('/things/latest').set(sent).expect(200);
    expect([headers['cache-control'], headers.vary]).toEqual([`${kept}, no-cache`, 'Authorization, Origin']);
    expect(headers.etag).toMatch(/^"[\w-]{27}"$/);
  });

  test('that the caller holds already is not sent again', async () => {
    const { api } = await startService();
    const { headers } = await api.get('/things/latest').expect(200);
    const again = await api.get('/things/latest').set('If-None-Match', `"other", W/${headers.etag}`).expect(304);
    expect([again.headers.etag, again.headers['content-length'], again.text]).toEqual([headers.etag, undefined, '']);
  });

  test.each([
    ['of a change', 'post', '/things'],
    ['of a removal', 'delete', '/things/1'],
    ['that holds a secret', 'get', '/secret'],
  ] as const)('%s is kept by no cache', async (_, method, path) => {
    const { api } = await startService();
    const { headers } = await api[method](path).send(method === 'post' ? { name: 'a' } : undefined);
    expect(headers['cache-control']).toBe('no-store');
  });

  test('that is a refusal is kept by no cache', async () => {
    const { api } = await startService({ handlers: { getThing: () => Promise.reject(notFound()) } });
    const { headers } = await api.get('/things/1').expect(404);
    expect(headers['cache-control']).toBe('no-store');
  });
});
