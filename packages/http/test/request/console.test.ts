import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startService, stopServices } from '../world.ts';

const INLINE = 'addEventListener("error", () => location.reload(), true);';
const PAGE = `<!doctype html><title>Console</title><script>${INLINE}</script><script src="/assets/main-1.js"></script>`;
const SCRIPT = `export const text = '${'a'.repeat(2000)}';\n`;

describe('a console', () => {
  let consoleFolder: string;

  beforeAll(() => {
    consoleFolder = mkdtempSync(path.join(tmpdir(), 'console-'));
    mkdirSync(path.join(consoleFolder, 'assets'));
    writeFileSync(path.join(consoleFolder, 'index.html'), PAGE);
    writeFileSync(path.join(consoleFolder, 'assets', 'main-1.js'), SCRIPT);
    writeFileSync(path.join(consoleFolder, 'assets', 'main-1.js.br'), brotliCompressSync(SCRIPT));
    writeFileSync(path.join(consoleFolder, 'assets', 'main-1.js.gz'), gzipSync(SCRIPT));
  });
  afterEach(stopServices);
  afterAll(() => rmSync(consoleFolder, { recursive: true }));

  const html = { Accept: 'text/html,*/*;q=0.8' };

  test.each(['/', '/deployments', '/deployments/1?tab=log'])('sends its page at %s to a browser', async (address) => {
    const { api } = await startService({ consoleFolder });
    const { headers, text } = await api.get(address).set(html).expect(200);
    expect(text).toBe(PAGE);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-cache');
  });

  test.each(['/api/v1/absent', '/docs/absent', '/assets/absent.js', '/mcp'])(
    'does not replace the problem at %s by its page',
    async (address) => {
      const { api } = await startService({ consoleFolder });
      await api
        .get(address)
        .set(html)
        .expect(404)
        .expect('content-type', /problem/);
    },
  );

  test('sends no page to a program', async () => {
    const { api } = await startService({ consoleFolder });
    await api.get('/').set('Accept', 'application/json').expect(404);
    await api.get('/').expect(404);
    await api.post('/').set(html).expect(404);
  });

  test('sends its page only once to a browser that keeps it', async () => {
    const { api } = await startService({ consoleFolder });
    const { headers } = await api.get('/').set(html).expect(200);
    const etag = String(headers.etag);
    await api.get('/').set(html).set('If-None-Match', etag).expect(304);
  });

  test('has a policy that permits only files of the service, and no text as a script', async () => {
    const { api } = await startService({ consoleFolder });
    const { headers } = await api.get('/').set(html);
    const policy = String(headers['content-security-policy']);
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("default-src 'none'");
    const digest = createHash('sha256').update(INLINE).digest('base64');
    expect(policy).toContain(`; script-src 'self' 'sha256-${digest}'; `);
    expect(policy).toContain("require-trusted-types-for 'script'");
  });

  test.each([
    ['br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', undefined],
  ])('sends a file to a client that accepts %s with the encoding %s', async (accepted, encoding) => {
    const { api } = await startService({ consoleFolder });
    const { headers } = await api.get('/assets/main-1.js').set('Accept-Encoding', accepted).expect(200);
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toContain('Accept-Encoding');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  test('has different entity tags for different encodings', async () => {
    const { api } = await startService({ consoleFolder });
    const etagFor = async (accepted: string) =>
      (await api.get('/assets/main-1.js').set('Accept-Encoding', accepted)).headers.etag;
    const etags = [await etagFor('br'), await etagFor('gzip'), await etagFor('identity')];
    expect(new Set(etags).size).toBe(3);
  });

  test('has no page if the service has none', async () => {
    const { api } = await startService();
    await api.get('/').set(html).expect(404);
  });
});
