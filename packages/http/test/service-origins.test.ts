import { afterEach, describe, expect, test } from '@jest/globals';
import { startService, stopServices } from './world.ts';

afterEach(stopServices);

describe('other origins', () => {
  const corsOrigins = ['https://console.example.test', 'http://localhost:5173'];
  const from = (origin: string) => ({ Origin: origin });

  test.each(corsOrigins)('%s, which is listed, may read answers and the headers that matter', async (origin) => {
    const { api } = await startService({ corsOrigins });
    const { headers } = await api.get('/things/latest').set(from(origin)).expect(200);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['access-control-expose-headers']).toBe('ETag,Retry-After,X-Request-Id,WWW-Authenticate');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    expect(headers.vary).toContain('Origin');
  });

  test('that are listed may read refusals too', async () => {
    const { api } = await startService({ corsOrigins });
    const { headers } = await api.get('/nothing').set(from('http://localhost:5173')).expect(404);
    expect(headers['access-control-allow-origin']).toBe('http://localhost:5173');
  });

  test.each([
    'https://other.example.test',
    'https://console.example.test.evil.test',
    'https://evil-console.example.test',
    'http://console.example.test',
    'https://console.example.test:8443',
    'https://CONSOLE.example.test',
    'http://localhost:51730',
    'null',
  ])('%s, which is not listed, may not', async (origin) => {
    const { api } = await startService({ corsOrigins });
    const { headers } = await api.get('/things/latest').set(from(origin)).expect(200);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('are none unless they are configured', async () => {
    const { api } = await startService();
    const { headers } = await api.get('/things/latest').set(from('https://console.example.test'));
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('that are listed may ask first, and hear what they may send', async () => {
    const { api } = await startService({ corsOrigins });
    const { headers } = await api
      .options('/things')
      .set(from('http://localhost:5173'))
      .set('Access-Control-Request-Method', 'POST')
      .set('Access-Control-Request-Headers', 'authorization,content-type')
      .expect(204);
    expect(headers['access-control-allow-origin']).toBe('http://localhost:5173');
    expect(headers['access-control-allow-methods']).toContain('POST');
    expect(headers['access-control-allow-headers']).toContain('Authorization,Content-Type');
    expect(headers.allow).toBe('GET, POST, HEAD, OPTIONS');
  });

  test('that are not listed hear nothing when they ask first', async () => {
    const { api } = await startService({ corsOrigins });
    const { headers } = await api
      .options('/things')
      .set(from('https://other.example.test'))
      .set('Access-Control-Request-Method', 'POST')
      .expect(204);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});
