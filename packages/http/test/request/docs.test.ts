import { afterEach, describe, expect, test } from '@jest/globals';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

/** The resources that a page loads: the values of its src and href attributes. */
const loadedBy = (html: string) => [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '');

/** The resources that a style sheet loads, without data: URLs. */
const loadedByCss = (css: string) =>
  [...css.matchAll(/url\(\s*["']?([^"')]*)|@import\s+["']([^"']*)/g)]
    .map(([, url, imported]) => url ?? imported ?? '')
    .filter((address) => !address.startsWith('data:'));

describe('the reference page', () => {
  test('is HTML and requires no credential', async () => {
    const { api } = await startService();
    const { headers, text } = await api.get('/docs').expect(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toMatch(/^<!doctype html>/);
  });

  test('loads only resources of this service', async () => {
    const { api } = await startService();
    const addresses = loadedBy((await api.get('/docs')).text);
    expect(addresses).toHaveLength(3);
    for (const address of addresses) {
      expect(address).toMatch(/^\/docs\/[\w.-]+$/);
      expect((await api.get(address).expect(200)).headers['content-length']).not.toBe('0');
    }
  });

  test('has styles that load no resources', async () => {
    const { api } = await startService();
    expect(loadedByCss((await api.get('/docs/swagger-ui.css').buffer(true)).text)).toEqual([]);
  });

  test('has a content security policy that prevents loading from other origins', async () => {
    const { api } = await startService();
    const { headers } = await api.get('/docs');
    const policy = String(headers['content-security-policy'])
      .split(';')
      .map((directive) => directive.trim().split(' '));
    expect(policy).toContainEqual(['default-src', "'none'"]);
    const sources = policy.flatMap(([, ...allowed]) => allowed);
    expect(sources.filter((source) => !["'none'", "'self'", "'unsafe-inline'", 'data:'].includes(source))).toEqual([]);
    expect(policy.find(([name]) => name === 'script-src')).toEqual(['script-src', "'self'"]);
  });

  test('does not use an external validator', async () => {
    const { api } = await startService();
    const { text } = await api.get('/docs/start.js').buffer(true).expect(200);
    expect(text).toContain("url: '/openapi.json'");
    expect(text).toContain('validatorUrl: null');
  });
});

test.each([
  ['its public URL', 'https://things.example.test', 'https://things.example.test'],
  ['a relative URL if it has no public URL', undefined, '/'],
])('/openapi.json contains the document of the service with %s', async (_, publicUrl, url) => {
  const openapi = { openapi: '3.1.1', info: { title: 'Things', version: '1.0.0' } };
  const { api } = await startService({ openapi, publicUrl });
  const { body, type } = await api.get('/openapi.json').expect(200);
  expect(type).toBe('application/json');
  expect(body).toEqual({ ...openapi, servers: [{ url }] });
});

test.each(['/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/index.html', '/docs/swagger-ui-dist'])(
  'the file %s of the library is not served',
  async (path) => {
    const { api } = await startService();
    await api.get(path).expect(404);
  },
);
