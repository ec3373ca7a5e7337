import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';
import { type Dialled, type DialOptions, dial, type Exchange } from '../src/index.ts';
import { connectingTo, endAll, reasonOf, startListener, startTarget } from './outbound-world.ts';

const dialled: Dialled[] = [];

afterEach(async () => {
  await Promise.all(dialled.splice(0).map((target) => target.close()));
  await endAll();
});

function exchangeWith(target: string, options: Partial<DialOptions> = {}, more: Partial<Exchange> = {}) {
  const one = dial({ target: new URL(target), ...options });
  dialled.push(one);
  return one.exchange({ method: 'GET', path: '/x?y=1', idleMs: 5000, ...more });
}

async function textOf(body: Readable): Promise<string> {
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}

test('an answer comes as a stream, while the other side still writes', async () => {
  const target = await startTarget((_req, res) => {
    res.writeHead(201, { 'X-One': 'a' }).write('first');
  });
  const answer = await exchangeWith(target.url, {}, { method: 'POST', body: '{}' });
  expect([answer.status, answer.headers['x-one']]).toEqual([201, 'a']);
  const [first] = await once(answer.body, 'data');
  expect(String(first)).toBe('first');
  expect(target.asked).toEqual([{ method: 'POST', url: '/x?y=1', body: '{}' }]);
  answer.body.on('error', () => undefined).destroy();
});

test('a local socket is called, if it may be', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-dial '));
  const file = path.join(folder, 'a.sock');
  const server = createServer((req, res) => void res.end(req.url)).listen(file);
  await once(server, 'listening');
  const { body } = await exchangeWith(`unix://${file}`, { restrictTo: new Set(['unix' as const]) });
  expect(await textOf(body)).toBe('/x?y=1');
  expect(await reasonOf(exchangeWith(`unix://${file}`, { restrictTo: new Set(['http' as const]) }))).toMatch(
    /OutboundRefused: The target is a local socket/,
  );
  await Promise.all(dialled.splice(0).map((target) => target.close()));
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

test('what is not allowed is not connected to, whether its address or its name says so', async () => {
  const { port, connected } = await startListener();
  const restrictTo = new Set(['http' as const]);
  for (const host of ['127.0.0.1', 'localhost']) {
    expect(await reasonOf(exchangeWith(`http://${host}:${port}`, { restrictTo }))).toMatch(/OutboundRefused/);
  }
  expect(connected).not.toHaveBeenCalled();
});

test('where the socket ends decides, whatever the address says', async () => {
  const target = await startTarget((_req, res) => void res.end());
  connectingTo('169.254.169.254');
  expect(await reasonOf(exchangeWith(target.url))).toMatch(/OutboundRefused: The address is link-local/);
  expect(target.asked).toEqual([]);
});

test('an answer that does not come, or stands still, is given up in time', async () => {
  const silent = await startTarget(() => undefined);
  expect(await reasonOf(exchangeWith(silent.url, {}, { idleMs: 50 }))).toMatch(/timeout/i);
  const still = await startTarget((_req, res) => {
    res.writeHead(200).write('x');
  });
  const { body } = await exchangeWith(still.url, {}, { idleMs: 50 });
  expect(await reasonOf(textOf(body))).toMatch(/timeout/i);
});

test('an exchange ends with its signal, its body included', async () => {
  const target = await startTarget((_req, res) => {
    res.writeHead(200).write('x');
  });
  const enough = new AbortController();
  const { body } = await exchangeWith(target.url, {}, { idleMs: 0, signal: enough.signal });
  enough.abort(new Error('enough'));
  expect(await reasonOf(textOf(body))).toMatch(/enough/);
});

test.each(['PATCH', 'PUT', 'DELETE'] as const)('a %s goes out with its body', async (method) => {
  const target = await startTarget((_req, res) => void res.end());
  const { body } = await exchangeWith(target.url, {}, { method, body: '{"a":1}' });
  await textOf(body);
  expect(target.asked).toEqual([{ method, url: '/x?y=1', body: '{"a":1}' }]);
});
