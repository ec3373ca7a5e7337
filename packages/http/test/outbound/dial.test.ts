import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, expect, jest, test } from '@jest/globals';
import { type DialOptions, dial, type Exchange, type HttpConnection } from '../../src/index.ts';
import { connectingTo, endAll, reasonOf, startListener, startTarget } from './world.ts';

const dialled: HttpConnection[] = [];

afterEach(async () => {
  await Promise.all(dialled.splice(0).map((target) => target.close()));
  await endAll();
});

function exchangeWith(target: string, options: Partial<DialOptions> = {}, more: Partial<Exchange> = {}) {
  const connection = dial({ target: new URL(target), ...options });
  dialled.push(connection);
  return connection.exchange({ method: 'GET', path: '/x?y=1', idleMs: 5000, ...more });
}

async function textOf(body: Readable): Promise<string> {
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}

test('the body of a response is a stream that starts before the server has sent all of it', async () => {
  const target = await startTarget((_req, res) => {
    res.writeHead(201, { 'X-One': 'a' }).write('first');
  });
  const response = await exchangeWith(target.url, {}, { method: 'POST', body: '{}' });
  expect(response).toMatchObject({ status: 201, headers: { 'x-one': 'a' } });
  const [first] = await once(response.body, 'data');
  expect(String(first)).toBe('first');
  expect(target.asked).toEqual([{ method: 'POST', url: '/x?y=1', body: '{}' }]);
  response.body.on('error', () => undefined).destroy();
});

test('a Unix socket is called only if it is allowed', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-dial '));
  const file = path.join(folder, 'a.sock');
  const server = createServer((req, res) => void res.end(req.url)).listen(file);
  await once(server, 'listening');
  const { body } = await exchangeWith(`unix://${file}`, { restrictTo: new Set(['unix' as const]) });
  expect(await textOf(body)).toBe('/x?y=1');
  expect(await reasonOf(exchangeWith(`unix://${file}`, { restrictTo: new Set(['http' as const]) }))).toMatch(
    /OutboundRefused: The target is a Unix socket/,
  );
  await Promise.all(dialled.splice(0).map((target) => target.close()));
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

test('a target that is not allowed is not connected to, by address or by name', async () => {
  const { port, connected } = await startListener();
  const restrictTo = new Set(['http' as const]);
  for (const host of ['127.0.0.1', 'localhost']) {
    expect(await reasonOf(exchangeWith(`http://${host}:${port}`, { restrictTo }))).toMatch(/OutboundRefused/);
  }
  expect(connected).not.toHaveBeenCalled();
});

test('the remote address of the socket decides whether a target is allowed', async () => {
  const target = await startTarget((_req, res) => void res.end());
  connectingTo('169.254.169.254');
  expect(await reasonOf(exchangeWith(target.url))).toMatch(/OutboundRefused: The address is link-local/);
  expect(target.asked).toEqual([]);
});

test('a response that does not start or that stalls fails after the idle time', async () => {
  const silent = await startTarget(() => undefined);
  expect(await reasonOf(exchangeWith(silent.url, {}, { idleMs: 50 }))).toMatch(/timeout/i);
  const still = await startTarget((_req, res) => {
    res.writeHead(200).write('x');
  });
  const { body } = await exchangeWith(still.url, {}, { idleMs: 50 });
  expect(await reasonOf(textOf(body))).toMatch(/timeout/i);
});

test('aborting the signal ends the exchange and the body of its response', async () => {
  const target = await startTarget((_req, res) => {
    res.writeHead(200).write('x');
  });
  const abort = new AbortController();
  const { body } = await exchangeWith(target.url, {}, { idleMs: 0, signal: abort.signal });
  abort.abort(new Error('enough'));
  expect(await reasonOf(textOf(body))).toMatch(/enough/);
});

test.each(['PATCH', 'PUT', 'DELETE'] as const)('a %s request is sent with its body', async (method) => {
  const target = await startTarget((_req, res) => void res.end());
  const { body } = await exchangeWith(target.url, {}, { method, body: '{"a":1}' });
  await textOf(body);
  expect(target.asked).toEqual([{ method, url: '/x?y=1', body: '{"a":1}' }]);
});

test('an address of this machine is connected to only if it is allowed, whatever the name of the target is', async () => {
  const target = await startTarget((_req, res) => void res.end());
  // Other members are not read.
  const own = [{ address: '192.168.7.20' }] as os.NetworkInterfaceInfo[];
  jest.spyOn(os, 'networkInterfaces').mockReturnValue({ eth0: own });
  connectingTo('192.168.7.20');
  const url = target.url.replace('127.0.0.1', 'localhost');
  const allowed = ['http', 'loopback', 'private'] as const;
  expect(await reasonOf(exchangeWith(url, { restrictTo: new Set(allowed) }))).toMatch(/belongs to the machine of this/);
  expect(target.asked).toEqual([]);
  const { status } = await exchangeWith(url, { restrictTo: new Set([...allowed, 'own-address'] as const) });
  expect(status).toBe(200);
});
