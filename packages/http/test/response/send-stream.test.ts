import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import { scaled } from '../../../testing/src/run/deadlines.ts';
import { type Chunks, holdResponse, streamedReply } from '../../src/index.ts';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

const LINES = 'application/x-ndjson';

/** A service whose `/things/latest` streams these chunks. */
const serviceOf = (chunks: Chunks, gate?: RequestHandler, options: Parameters<typeof streamedReply>[2] = {}) =>
  startService({
    handlers: { latestThing: async () => streamedReply(LINES, chunks, options) },
    ...(gate ? { gate } : {}),
  });

/** Sends a request and returns the response, whose body is not read. */
async function call(port: number): Promise<IncomingMessage> {
  const request = http.get({ port, host: '127.0.0.1', path: '/things/latest' });
  const [response] = await once(request, 'response');
  request.on('error', () => undefined); // the response reports a lost connection as well
  return response.setEncoding('utf8');
}

async function* chunksOf(...chunks: readonly string[]) {
  yield* chunks;
}

/** A promise with its resolve function. */
function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('a streamed response', () => {
  test('is sent in chunks, each as soon as it is available', async () => {
    const more = deferred();
    async function* chunks() {
      yield '{"id":"1"}\n';
      await more.promise;
      yield '{"id":"2"}\n';
    }
    const { port } = await serviceOf(chunks());
    const response = await call(port);
    const arrived = response[Symbol.asyncIterator]();
    expect(await arrived.next()).toEqual({ done: false, value: '{"id":"1"}\n' });
    more.resolve();
    expect(await arrived.next()).toEqual({ done: false, value: '{"id":"2"}\n' });
    expect(await arrived.next()).toMatchObject({ done: true });
    expect(response.complete).toBe(true);
  });

  test('has its own content type and must not be stored', async () => {
    const { api } = await serviceOf(chunksOf('{}\n'));
    const { headers } = await api.get('/things/latest').expect(200);
    expect(headers).toMatchObject({
      'content-type': LINES,
      'cache-control': 'no-store',
      'transfer-encoding': 'chunked',
    });
    expect(headers).not.toHaveProperty('etag');
    expect(headers).not.toHaveProperty('content-length');
  });

  test('can forbid reverse proxies to buffer and compress it', async () => {
    const { api } = await serviceOf(chunksOf('{}\n'), undefined, { withoutBuffering: true });
    const { headers } = await api.get('/things/latest').expect(200);
    expect(headers).toMatchObject({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' });
  });

  test('can have no chunks, and empty chunks', async () => {
    for (const chunks of [[], ['', '']]) {
      const { port } = await serviceOf(chunksOf(...chunks));
      const response = await call(port);
      expect(await response.toArray()).toEqual([]);
      expect(response.complete).toBe(true);
    }
  });

  test('starts before its first chunk is available', async () => {
    const first = deferred();
    const { port } = await serviceOf(async function* () {
      await first.promise;
      yield 'late\n';
    });
    const response = await call(port);
    expect(response.statusCode).toBe(200);
    first.resolve();
    expect(await response.toArray()).toEqual(['late\n']);
  });

  test('is not generated faster than the client reads', async () => {
    const ALL = 500;
    let generated = 0;
    const { port } = await serviceOf(async function* () {
      for (; generated < ALL; generated += 1) yield 'x'.repeat(100_000);
    });
    const response = await call(port);
    response.pause();
    for (
      let seen = -1, idle = 0;
      generated < ALL && idle < 200;
      idle = generated === seen ? idle + 1 : 0, seen = generated
    )
      await nextTurn();
    expect(generated).toBeLessThan(ALL);
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    expect(generated).toBe(ALL);
    expect(bytes).toBe(ALL * 100_000);
  });
});

describe('a delayed streamed response', () => {
  test('is sent only after its hook has resolved, to which its status is passed', async () => {
    const order: string[] = [];
    const { port } = await serviceOf(
      async function* () {
        order.push('started');
        yield 'x';
      },
      (_req, res, next) => {
        holdResponse(res, async ({ status }, { aborted }) => {
          await nextTurn();
          order.push(`recorded ${status} ${aborted} ${res.headersSent}`);
        });
        next();
      },
    );
    await (await call(port)).toArray();
    expect(order).toEqual(['recorded 200 false false', 'started']);
  });

  test('is not generated if its hook rejects, and its resources are released', async () => {
    const { chunks, next, released } = recordedChunks();
    const { api } = await serviceOf(chunks, (_req, res, go) => {
      holdResponse(res, () => Promise.reject(new Error('the store is full')));
      go();
    });
    const { body, type } = await api.get('/things/latest').expect(503);
    expect(type).toBe('application/problem+json');
    expect(body.code).toBe('unavailable');
    await released.promise;
    expect(next).not.toHaveBeenCalled();
  });
});

/** An iterable that never yields, and records how it is used. */
function recordedChunks() {
  const released = deferred();
  const started = deferred();
  const next = jest.fn(() => {
    started.resolve();
    return new Promise<IteratorResult<string>>(() => undefined);
  });
  const release = jest.fn(async (): Promise<IteratorResult<string>> => {
    released.resolve();
    return { done: true, value: undefined };
  });
  const chunks: AsyncIterable<string> = { [Symbol.asyncIterator]: () => ({ next, return: release }) };
  return { chunks, next, started, release, released };
}

describe('HEAD of a streamed response', () => {
  test('has the headers and no body, and reads no chunk', async () => {
    const { chunks, next, released } = recordedChunks();
    const { api } = await serviceOf(chunks);
    const { headers, text } = await api.head('/things/latest').expect(200);
    expect(headers).toMatchObject({ 'content-type': LINES, 'cache-control': 'no-store' });
    expect(text).toBeUndefined();
    await released.promise;
    expect(next).not.toHaveBeenCalled();
  });

  test('does not call a function that creates the chunks', async () => {
    const begin = jest.fn(() => chunksOf('x'));
    const { api } = await serviceOf(begin);
    await api.head('/things/latest').expect(200);
    expect(begin).not.toHaveBeenCalled();
  });
});

describe('a client that disconnects', () => {
  test('ends the iteration, also while a chunk is awaited', async () => {
    const { chunks, started, release, released } = recordedChunks();
    const { port, entry } = await serviceOf(chunks);
    const response = await call(port);
    await started.promise;
    response.destroy();
    await released.promise;
    expect(release).toHaveBeenCalledTimes(1);
    expect(await entry(({ message }) => message === 'request')).toMatchObject({
      level: 30,
      status: 200,
      aborted: true,
    });
  });

  test('ends a generator between two chunks, and runs its finally block', async () => {
    const { promise, resolve } = deferred<string>();
    const { port } = await serviceOf(async function* () {
      try {
        for (;;) {
          yield 'x';
          await nextTurn();
        }
      } finally {
        resolve('cleaned up');
      }
    });
    const response = await call(port);
    await once(response, 'data');
    response.destroy();
    expect(await promise).toBe('cleaned up');
  });

  test('ends a generator that waits for the client to read', async () => {
    const { promise, resolve } = deferred<number>();
    let generated = 0;
    const { port } = await serviceOf(async function* () {
      try {
        for (; generated < 500; generated += 1) yield 'x'.repeat(100_000);
      } finally {
        resolve(generated);
      }
    });
    const response = await call(port);
    response.pause();
    for (let seen = -1; seen !== generated; ) {
      seen = generated;
      await nextTurn();
    }
    response.destroy();
    expect(await promise).toBeLessThan(500);
  });

  test('aborts the signal of the function; an error that it then throws is not logged', async () => {
    const waiting = deferred();
    const { promise, resolve } = deferred<boolean>();
    const { port, entries, entry } = await serviceOf(async function* (disconnected) {
      yield 'x';
      waiting.resolve();
      await once(disconnected, 'abort');
      resolve(disconnected.aborted);
      throw new Error('connection closed');
    });
    const response = await call(port);
    await waiting.promise;
    response.destroy();
    expect(await promise).toBe(true);
    expect(await entry(({ message }) => message === 'request')).not.toHaveProperty('err');
    expect(entries).toHaveLength(1);
  });
});

describe('an error in a stream', () => {
  test('closes the connection, so that the client detects the truncation, and is logged', async () => {
    const { port, entry } = await serviceOf(async function* () {
      yield '{"id":"1"}\n';
      throw new Error('the disk went away');
    });
    const response = await call(port);
    await expect(response.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(response.complete).toBe(false);
    expect(await entry(({ message }) => message === 'request')).toMatchObject({
      level: 50,
      status: 200,
      aborted: true,
      err: { message: 'the disk went away' },
    });
  });

  test('closes the connection also before the first chunk', async () => {
    const { port, entry } = await serviceOf(() => {
      throw new Error('nothing to follow');
    });
    const response = await call(port);
    await expect(response.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await entry(({ level }) => level === 50)).toMatchObject({ err: { message: 'nothing to follow' } });
  });
});

describe('a streamed response with a pace', () => {
  /**
   * In this time, the client receives the head of the response. A reset discards what it has not
   * received.
   */
  const RECEIVED_MS = scaled(1000);
  const unlimited = { durationMs: 600_000, bytesPerSecond: 1, allowanceMs: 600_000 };
  const large = () =>
    (async function* () {
      for (;;) yield 'x'.repeat(1_000_000);
    })();

  test.each([
    ['a chunk is not accepted at the rate', { ...unlimited, bytesPerSecond: 1e9, allowanceMs: RECEIVED_MS }],
    ['it takes too long', { ...unlimited, durationMs: RECEIVED_MS }],
  ])('is closed if %s', async (_, pace) => {
    const ended = deferred();
    const { port, entry } = await serviceOf(large, undefined, { pace, onEnd: ended.resolve });
    const response = await call(port);
    const failed = once(response, 'close').catch((error: unknown) => error);
    response.pause();
    await ended.promise;
    response.resume();
    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    const line = await entry(({ message }) => message === 'request');
    expect(line).toMatchObject({ level: 30, aborted: true, closed: 'too_slow' });
    expect((await (await serviceOf(chunksOf())).api.get('/metrics')).text).toMatch(
      /http_connections_closed_total\{reason="too_slow"\} [1-9]/,
    );
  });

  test('is sent completely to a client that reads', async () => {
    const onEnd = jest.fn();
    const chunks = Array.from({ length: 20 }, () => 'x'.repeat(1_000_000));
    const { port } = await serviceOf(() => chunksOf(...chunks), undefined, { pace: unlimited, onEnd });
    expect((await (await call(port)).toArray()).join('')).toHaveLength(20_000_000);
    expect(onEnd).toHaveBeenCalledTimes(1);
  });
});

test('a streamed response can have an entity tag', async () => {
  const { api } = await serviceOf(chunksOf('x'), undefined, { etag: '"1"' });
  const { headers } = await api.get('/things/latest').expect(200);
  expect(headers.etag).toBe('"1"');
});

test('the end of a stream is reported once: after an error, for HEAD, and if it is not sent', async () => {
  const onEnd = jest.fn();
  const failing = await serviceOf(
    async function* () {
      yield 'x';
      throw new Error('the disk went away');
    },
    undefined,
    { onEnd },
  );
  await expect((await call(failing.port)).toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(onEnd).toHaveBeenCalledTimes(1);
  await failing.api.head('/things/latest').expect(200);
  expect(onEnd).toHaveBeenCalledTimes(2);
  const withheld = await serviceOf(
    chunksOf('x'),
    (_req, res, next) => {
      holdResponse(res, () => Promise.reject(new Error('the store is full')));
      next();
    },
    { onEnd },
  );
  await withheld.api.get('/things/latest').expect(503);
  expect(onEnd).toHaveBeenCalledTimes(3);
});

test('streamed and complete responses can follow each other on one connection', async () => {
  const { port } = await serviceOf(() => chunksOf('x'));
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const bodies: string[] = [];
  for (const path of ['/things/latest', '/things/7', '/things/latest']) {
    const [response] = await once(http.get({ port, host: '127.0.0.1', path, agent }), 'response');
    bodies.push((await response.setEncoding('utf8').toArray()).join(''));
  }
  agent.destroy();
  expect(bodies).toEqual(['x', '{"id":"7"}', 'x']);
});
