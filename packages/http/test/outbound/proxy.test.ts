import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type DialOptions, dial, failedConnection } from '../../src/index.ts';
import { isProxyExemption, proxyFor } from '../../src/outbound/proxy.ts';

/** A public address, to which the proxy of the test never connects. */
const PUBLIC = '8.8.8.8';

let certificate: string;
let target: https.Server;
const ending: (() => unknown)[] = [];

beforeAll(async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'proxy-'));
  const [key, crt] = ['key', 'crt'].map((name) => path.join(folder, name));
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
      ...['-subj', '/CN=hub.example.test', '-addext', `subjectAltName=DNS:hub.example.test,IP:${PUBLIC}`],
      ...['-keyout', key ?? '', '-out', crt ?? ''],
    ],
    { stdio: 'pipe' },
  );
  certificate = fs.readFileSync(crt ?? '', 'utf8');
  const options = { key: fs.readFileSync(key ?? ''), cert: certificate };
  fs.rmSync(folder, { recursive: true });
  target = https.createServer(options, (req, res) => void res.end(`${req.headers.host}${req.url}`));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
});
afterAll(() => new Promise((resolve) => target.close(resolve)));

const { HTTPS_PROXY: before } = process.env;
afterEach(async () => {
  delete process.env.HTTPS_PROXY;
  if (before !== undefined) process.env.HTTPS_PROXY = before;
  await Promise.all(ending.splice(0).map((end) => end()));
  target.closeAllConnections();
});

/** A proxy that connects all targets to the server of the test, and records what it is asked for. */
async function aProxy(refusal?: number) {
  const asked: { target: string | undefined; credentials: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer().on('connect', (req: IncomingMessage, client: Socket) => {
    asked.push({ target: req.url, credentials: req.headers['proxy-authorization'] });
    sockets.add(client.on('error', () => undefined));
    if (refusal) return void client.end(`HTTP/1.1 ${refusal} Refused\r\nContent-Length: 0\r\n\r\n`);
    const upstream = net.connect((target.address() as AddressInfo).port, '127.0.0.1'); // it listens on a port
    sockets.add(upstream.on('error', () => undefined));
    client.write('HTTP/1.1 200 Connected\r\n\r\n');
    client.pipe(upstream).pipe(client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  ending.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return { asked, port: (proxy.address() as AddressInfo).port }; // it listens on a port
}

/** Requests `/x`. @returns the body of the response, or the text of the failure */
async function ask(url: string, options: Partial<DialOptions> = {}): Promise<string> {
  const connection = dial({ target: new URL(url), tls: { ca: certificate }, ...options });
  ending.push(() => connection.close());
  try {
    const { body } = await connection.exchange({ method: 'GET', path: '/x', idleMs: 5000 });
    return Buffer.concat(await body.toArray()).toString();
  } catch (error) {
    return failedConnection('the hub', error).text;
  }
}

test('a proxy receives the name of a target that is not restricted, and sees neither the request nor the response', async () => {
  const { asked, port } = await aProxy();
  process.env.HTTPS_PROXY = `http://user:p%40ss@127.0.0.1:${port}`;
  expect(await ask('https://hub.example.test')).toBe('hub.example.test/x');
  const credentials = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
  expect(asked).toEqual([{ target: 'hub.example.test:443', credentials }]);
});

test('a proxy receives the checked address of a restricted target', async () => {
  const { asked, port } = await aProxy();
  process.env.HTTPS_PROXY = `http://127.0.0.1:${port}`;
  expect(await ask(`https://${PUBLIC}:8443`, { restrictTo: new Set() })).toBe(`${PUBLIC}:8443/x`);
  expect(asked).toEqual([{ target: `${PUBLIC}:8443`, credentials: undefined }]);
  expect(await ask('https://10.0.0.1', { restrictTo: new Set() })).toContain('add private to OUTBOUND_ALLOW');
  expect(await ask('https://hub.example.test', { restrictTo: new Set() })).toContain('cannot be resolved');
  expect(asked).toHaveLength(1);
});

test('the certificate of the target is verified through a proxy as well', async () => {
  const { port } = await aProxy();
  process.env.HTTPS_PROXY = `http://127.0.0.1:${port}`;
  expect(await ask('https://other.example.test')).toBe(
    'The TLS connection to the hub cannot be established. Its certificate is for another host name.',
  );
  expect(await ask('https://hub.example.test', { tls: undefined })).toContain('NODE_EXTRA_CA_CERTS');
});

test.each([
  [403, 'It refuses this target (403).'],
  [407, 'It requires a user and a password, or another one (407).'],
])('the refusal %s of a proxy is named without its password', async (status, reason) => {
  const { port } = await aProxy(status);
  process.env.HTTPS_PROXY = `http://user:hunter2@127.0.0.1:${port}`;
  expect(await ask('https://hub.example.test')).toBe(
    `There is no connection through the proxy 127.0.0.1:${port}. ${reason}`,
  );
});

test('a proxy that is not reachable is named', async () => {
  process.env.HTTPS_PROXY = 'http://127.0.0.1:1';
  expect(await ask('https://hub.example.test')).toBe(
    'The proxy 127.0.0.1:1 does not respond (ECONNREFUSED). The connection to its address was refused.',
  );
});

test.each([
  ['https://hub.example.test', '', true],
  ['https://hub.example.test', 'other.test, example.test', false],
  ['https://hub.example.test.', '.example.test', false],
  ['https://HUB.example.test', 'hub.example.test', false],
  ['https://hub.example.test', '*', false],
  ['https://hub.example.test', 'b.example.test', true],
  ['https://10.1.2.3', '10.0.0.0/8', false],
  ['https://11.1.2.3', '10.0.0.0/8', true],
  ['https://11.1.2.3', '11.1.2.3', false],
  ['https://[fd00::1]', 'fd00::/8', false],
  ['https://[2001:db8::1]', 'fd00::/8', true],
  ['https://127.0.0.1', '', false],
  ['https://localhost', '', false],
  ['http://hub.example.test', '', false],
])('%s with NO_PROXY=%s is proxied: %p', (url, NO_PROXY, isProxied) => {
  const { protocol, hostname } = new URL(url);
  const proxy = proxyFor(
    { protocol, hostname: hostname.replace(/[[\]]/g, '') },
    { HTTPS_PROXY: 'http://a:1', NO_PROXY },
  );
  expect(proxy !== undefined).toBe(isProxied);
});

test.each([
  ...['*', 'a', '.example.test', '*.example.test', '10.0.0.1', 'fd00::1', '10.0.0.0/8', 'fd00::/8'].map(
    (entry) => [entry, true] as const,
  ),
  ...['a:80', 'http://a', '10.0.0.0/33', 'a/8', 'a b', '..a'].map((entry) => [entry, false] as const),
])('NO_PROXY can contain %s: %p', (entry, isAllowed) => {
  expect(isProxyExemption(entry)).toBe(isAllowed);
});
