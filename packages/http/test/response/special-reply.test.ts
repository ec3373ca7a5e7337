import { renderedInParts, withCookies } from '../../src/index.ts';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

test('a reply can set several cookies', async () => {
  const { api } = await startService({
    handlers: { latestThing: async () => withCookies({ id: '1' }, ['one=1; Path=/', 'other=2; Path=/']) },
  });
  const { headers, body } = await api.get('/things/latest').expect(200);
  expect(headers['set-cookie']).toEqual(['one=1; Path=/', 'other=2; Path=/']);
  expect(body).toEqual({ id: '1' });
});

test('a response to another origin also sets all cookies', async () => {
  const { api } = await startService({
    corsOrigins: ['https://app.example.test'],
    handlers: { latestThing: async () => withCookies({ id: '1' }, ['one=1; Path=/', 'other=2; Path=/']) },
  });
  const { headers } = await api.get('/things/latest').set('Origin', 'https://app.example.test').expect(200);
  expect(headers['set-cookie']).toEqual(['one=1; Path=/', 'other=2; Path=/']);
});

test('a large reply in parts has the headers of a reply at once, and is not sent to a client that has it', async () => {
  const parts = ['{"id":"', 'x'.repeat(5_000_000), '"}'].map((part) => Buffer.from(part));
  const { api } = await startService({
    handlers: { latestThing: async () => renderedInParts(parts, '"tag"') },
  });
  const { headers, body } = await api.get('/things/latest').set('Accept-Encoding', 'gzip').expect(200);
  expect(body.id).toHaveLength(5_000_000);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': '5000009',
    'cache-control': 'public, no-cache',
    etag: '"tag"',
  });
  expect(headers).not.toHaveProperty('content-encoding');
  await api.get('/things/latest').set('If-None-Match', '"tag"').expect(304);
  const head = await api.head('/things/latest').expect(200);
  expect(head.headers['content-length']).toBe('5000009');
});
