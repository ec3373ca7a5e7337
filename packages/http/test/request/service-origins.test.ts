import { afterEach, describe, expect, test } from '@jest/globals';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

describe('a request from another origin', () => {
  const corsOrigins = ['https://console.example.test', 'http://localhost:5173'];
  const from = (origin: string) => ({ Origin: origin });

  test.each(corsOrigins)(
    'gives %s, which is configured, access to the response and its exposed headers',
    async (origin) => {
      const { api } = await startService({ corsOrigins });
      const { headers } = await api.get('/things/latest').set(from(origin)).expect(200);
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-expose-headers']).toBe('ETag,Retry-After,X-Request-Id,WWW-Authenticate');
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
      expect(headers.vary).toContain('Origin');
    },
  );

  test('gives a configured origin access to error responses', async () => {
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
  ])('does not give %s, which is not configured, access to the response', async (origin) => {
    const { api } = await startService({ corsOrigins });
    const { headers } = await api.get('/things/latest').set(from(origin)).expect(200);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('has no CORS headers by default', async () => {
    const { api } = await startService();
    const { headers } = await api.get('/things/latest').set(from('https://console.example.test'));
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('can be preceded by a preflight request of a configured origin', async () => {
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

  test('has no CORS headers for a preflight request of another origin', async () => {
    const { api } = await startService({ corsOrigins });
    const { headers } = await api
      .options('/things')
      .set(from('https://other.example.test'))
      .set('Access-Control-Request-Method', 'POST')
      .expect(204);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});
