import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { type ConnectionLimits, watchConnections } from '../../src/limits/connections.ts';
import { aLog } from '../world.ts';

const MIB = 1024 * 1024;
/** More than the operating system buffers for a connection. */
const LARGE = Buffer.alloc(32 * MIB);
const CLOSED = 'connection closed, because the client does not read';

const servers: Server[] = [];
const clients: Socket[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve).closeAllConnections());
});

const never = 3_600_000;

/** A server that checks its connections every 10 ms. */
async function startServer(limits: Partial<ConnectionLimits>, listener: RequestListener) {
  const server = createServer(listener);
  servers.push(server);
  const { log, entry, entries } = aLog();
  watchConnections(server, log, {
    stallMs: never,
    maxUnsentBytes: 1024 * MIB,
    checkMs: 10,
    ...limits,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  /** A client that sends requests for these paths at once, and does not read. */
  const open = (...paths: readonly string[]) => {
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    clients.push(client);
    client.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    return client;
  };
  return { open, entry, entries, closed: () => entry(({ message }) => message === CLOSED) };
}

const sendLarge: RequestListener = (_req, res) => void res.setHeader('Content-Length', LARGE.length).end(LARGE);

/** Reads a response of LARGE slowly. */
async function readSlowly(client: Socket, onReceived: (bytes: number) => void = () => undefined): Promise<number> {
  let received = 0;
  for await (const chunk of client) {
    received += chunk.length;
    onReceived(received);
    if (received > LARGE.length) break; // the head is part of it
    await wait(2);
  }
  return received;
}

test('closes a connection with unsent bytes whose client does not read', async () => {
  const { open, closed } = await startServer({ stallMs: 300 }, sendLarge);
  const client = open('/');
  expect(await closed()).toMatchObject({
    level: 40,
    reason: 'no_progress',
    unsent_bytes: expect.any(Number),
    responses: 1,
    remote_address: '127.0.0.1',
  });
  client.resume();
  await new Promise((resolve) => client.once('close', resolve)); // an error can precede it
});

test('does not close a connection whose client reads a large response slowly', async () => {
  const { open, entries } = await startServer({ stallMs: 300 }, sendLarge);
  expect(await readSlowly(open('/'))).toBeGreaterThan(LARGE.length);
  expect(entries).toEqual([]);
});

test('does not close an idle stream, nor the response that waits for it', async () => {
  let send: (text: string) => void = () => undefined;
  const { open, closed, entries } = await startServer({ stallMs: 300 }, (req, res) => {
    if (req.url === '/large') return sendLarge(req, res);
    if (req.url === '/small') return res.end('small');
    send = (text) => res.end(text);
    res.write('first');
  });
  const stream = open('/stream', '/small');
  await once(stream, 'data');
  open('/large');
  await closed(); // the stream has been idle for longer
  expect(entries).toHaveLength(1);
  send('last');
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    if (text.includes('small')) break;
  }
  expect(text).toContain('last');
});

test('closes a new connection instead of one that makes progress, if there are too many unsent bytes', async () => {
  const { open, entries } = await startServer({ maxUnsentBytes: 40 * MIB }, sendLarge);
  const opened: Socket[] = [];
  const received = await readSlowly(open('/'), (bytes) => {
    if (bytes > 12 * MIB && opened.length === 0) opened.push(open('/'));
  });
  expect(received).toBeGreaterThan(LARGE.length);
  expect(entries).toEqual([expect.objectContaining({ message: CLOSED, reason: 'unsent_bytes' })]);
});

test('counts the responses that wait for an earlier response as unsent bytes', async () => {
  const part = LARGE.subarray(0, 4 * MIB);
  const { open, closed } = await startServer({ maxUnsentBytes: 40 * MIB }, (req, res) => {
    if (req.url !== '/never') res.end(part);
  });
  open('/never', ...Array.from({ length: 20 }, () => '/part'));
  const { reason, unsent_bytes } = await closed();
  expect(reason).toBe('unsent_bytes');
  expect(unsent_bytes).toBeGreaterThan(40 * MIB);
});

test('logs at most 10 connections of one check individually', async () => {
  const waiting: (() => void)[] = [];
  const { open, entry, entries } = await startServer({ maxUnsentBytes: 0 }, (req, res) => {
    waiting.push(() => sendLarge(req, res));
    if (waiting.length === 25) for (const respond of waiting) respond();
  });
  for (let count = 0; count < 25; count += 1) open('/');
  expect(await entry(({ message }) => message === 'more connections closed')).toMatchObject({ connections: 15 });
  expect(entries.filter(({ message }) => message === CLOSED)).toHaveLength(10);
});
