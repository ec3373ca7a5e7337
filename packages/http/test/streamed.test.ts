import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import { type Chunks, holdAnswer, Streamed } from '../src/index.ts';
import { startService, stopServices } from './world.ts';

afterEach(stopServices);

const LINES = 'application/x-ndjson';

/** A service whose `/things/latest` is sent as these pieces. */
const serviceOf = (chunks: Chunks, gate?: RequestHandler) =>
  startService({
    handlers: { latestThing: async () => new Streamed(LINES, chunks) },
    ...(gate ? { gate } : {}),
  });

/** A caller who reads as he likes. */
async function call(port: number): Promise<IncomingMessage> {
  const [answer] = await once(http.get({ port, host: '127.0.0.1', path: '/things/latest' }), 'response');
  return answer.setEncoding('utf8');
}

async function* piecesOf(...pieces: readonly string[]) {
  yield* pieces;
}

/** Something that is told once, and can be waited for. */
function aSignal<T = void>() {
  let tell: (value: T) => void = () => undefined;
  const told = new Promise<T>((resolve) => {
    tell = resolve;
  });
  return { told, tell };
}

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('a streamed answer', () => {
  test('is sent piece by piece, each as soon as it is there', async () => {
    const more = aSignal();
    async function* pieces() {
      yield '{"id":"1"}\n';
      await more.told;
      yield '{"id":"2"}\n';
    }
    const { port } = await serviceOf(pieces());
    const answer = await call(port);
    const arrived = answer[Symbol.asyncIterator]();
    expect(await arrived.next()).toEqual({ done: false, value: '{"id":"1"}\n' });
    more.tell();
    expect(await arrived.next()).toEqual({ done: false, value: '{"id":"2"}\n' });
    expect(await arrived.next()).toMatchObject({ done: true });
    expect(answer.complete).toBe(true);
  });

  test('has its own type, and is nobody’s to keep', async () => {
    const { api } = await serviceOf(piecesOf('{}\n'));
    const { headers } = await api.get('/things/latest').expect(200);
    expect(headers).toMatchObject({
      'content-type': LINES,
      'cache-control': 'no-store',
      'transfer-encoding': 'chunked',
    });
    expect(headers).not.toHaveProperty('etag');
    expect(headers).not.toHaveProperty('content-length');
  });

  test('may have no piece at all, and empty ones', async () => {
    for (const pieces of [[], ['', '']]) {
      const { port } = await serviceOf(piecesOf(...pieces));
      const answer = await call(port);
      expect(await answer.toArray()).toEqual([]);
      expect(answer.complete).toBe(true);
    }
  });

  test('begins before its first piece is there', async () => {
    const first = aSignal();
    const { port } = await serviceOf(async function* () {
      await first.told;
      yield 'late\n';
    });
    const answer = await call(port);
    expect(answer.statusCode).toBe(200);
    first.tell();
    expect(await answer.toArray()).toEqual(['late\n']);
  });

  test('comes no faster than its caller reads', async () => {
    const ALL = 500;
    let made = 0;
    const { port } = await serviceOf(async function* () {
      for (; made < ALL; made += 1) yield 'x'.repeat(100_000);
    });
    const answer = await call(port);
    answer.pause();
    for (let seen = -1, idle = 0; made < ALL && idle < 200; idle = made === seen ? idle + 1 : 0, seen = made)
      await aTurn();
    expect(made).toBeLessThan(ALL);
    let bytes = 0;
    for await (const piece of answer) bytes += piece.length;
    expect([made, bytes]).toEqual([ALL, ALL * 100_000]);
  });
});

describe('a held streamed answer', () => {
  test('sends its first byte when its hold has done its work, which sees the status', async () => {
    const order: string[] = [];
    const { port } = await serviceOf(
      async function* () {
        order.push('begun');
        yield 'x';
      },
      (_req, res, next) => {
        holdAnswer(res, async ({ status }, { aborted }) => {
          await aTurn();
          order.push(`recorded ${status} ${aborted} ${res.headersSent}`);
        });
        next();
      },
    );
    await (await call(port)).toArray();
    expect(order).toEqual(['recorded 200 false false', 'begun']);
  });

  test('is not begun when its hold rejects; what it holds is set free', async () => {
    const { chunks, next, released } = watched();
    const { api } = await serviceOf(chunks, (_req, res, go) => {
      holdAnswer(res, () => Promise.reject(new Error('the store is full')));
      go();
    });
    const { body, type } = await api.get('/things/latest').expect(503);
    expect([type, body.code]).toEqual(['application/problem+json', 'unavailable']);
    await released.told;
    expect(next).not.toHaveBeenCalled();
  });
});

/** Pieces that never come, and what is asked of them. */
function watched() {
  const released = aSignal();
  const begun = aSignal();
  const next = jest.fn(() => {
    begun.tell();
    return new Promise<IteratorResult<string>>(() => undefined);
  });
  const release = jest.fn(async (): Promise<IteratorResult<string>> => {
    released.tell();
    return { done: true, value: undefined };
  });
  const chunks: AsyncIterable<string> = { [Symbol.asyncIterator]: () => ({ next, return: release }) };
  return { chunks, next, begun, release, released };
}

describe('HEAD', () => {
  test('has the headers and no body, and nothing is read', async () => {
    const { chunks, next, released } = watched();
    const { api } = await serviceOf(chunks);
    const { headers, text } = await api.head('/things/latest').expect(200);
    expect([headers['content-type'], headers['cache-control'], text]).toEqual([LINES, 'no-store', undefined]);
    await released.told;
    expect(next).not.toHaveBeenCalled();
  });

  test('does not even begin what begins when the answer leaves', async () => {
    const begin = jest.fn(() => piecesOf('x'));
    const { api } = await serviceOf(begin);
    await api.head('/things/latest').expect(200);
    expect(begin).not.toHaveBeenCalled();
  });
});

describe('a caller who leaves', () => {
  test('ends the iteration, also while a piece is awaited', async () => {
    const { chunks, begun, release, released } = watched();
    const { port, entry } = await serviceOf(chunks);
    const answer = await call(port);
    await begun.told;
    answer.destroy();
    await released.told;
    expect(release).toHaveBeenCalledTimes(1);
    expect(await entry(({ message }) => message === 'request')).toMatchObject({
      level: 30,
      status: 200,
      aborted: true,
    });
  });

  test('ends a generator between two pieces, with what it does last', async () => {
    const { told, tell } = aSignal<string>();
    const { port } = await serviceOf(async function* () {
      try {
        for (;;) {
          yield 'x';
          await aTurn();
        }
      } finally {
        tell('cleaned up');
      }
    });
    const answer = await call(port);
    await once(answer, 'data');
    answer.destroy();
    expect(await told).toBe('cleaned up');
  });

  test('ends a generator that waits for room', async () => {
    const { told, tell } = aSignal<number>();
    let made = 0;
    const { port } = await serviceOf(async function* () {
      try {
        for (; made < 500; made += 1) yield 'x'.repeat(100_000);
      } finally {
        tell(made);
      }
    });
    const answer = await call(port);
    answer.pause();
    for (let seen = -1; seen !== made; ) {
      seen = made;
      await aTurn();
    }
    answer.destroy();
    expect(await told).toBeLessThan(500);
  });

  test('is told to whoever awaits something else; what that makes of it is no failure', async () => {
    const waiting = aSignal();
    const { told, tell } = aSignal<boolean>();
    const { port, entries, entry } = await serviceOf(async function* (gone) {
      yield 'x';
      waiting.tell();
      await once(gone, 'abort');
      tell(gone.aborted);
      throw new Error('the other side hung up');
    });
    const answer = await call(port);
    await waiting.told;
    answer.destroy();
    expect(await told).toBe(true);
    expect(await entry(({ message }) => message === 'request')).not.toHaveProperty('err');
    expect(entries).toHaveLength(1);
  });
});

describe('an error in the middle', () => {
  test('breaks the connection, so that nobody takes it for the whole, and is logged', async () => {
    const { port, entry } = await serviceOf(async function* () {
      yield '{"id":"1"}\n';
      throw new Error('the disk went away');
    });
    const answer = await call(port);
    await expect(answer.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(answer.complete).toBe(false);
    expect(await entry(({ message }) => message === 'request')).toMatchObject({
      level: 50,
      status: 200,
      aborted: true,
      err: { message: 'the disk went away' },
    });
  });

  test('that comes before the first piece does the same', async () => {
    const { port, entry } = await serviceOf(() => {
      throw new Error('nothing to follow');
    });
    const answer = await call(port);
    await expect(answer.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await entry(({ level }) => level === 50)).toMatchObject({ err: { message: 'nothing to follow' } });
  });
});

test('a whole answer afterwards is as ever, on the same connection', async () => {
  const { port } = await serviceOf(() => piecesOf('x'));
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const bodies: string[] = [];
  for (const path of ['/things/latest', '/things/7', '/things/latest']) {
    const [answer] = await once(http.get({ port, host: '127.0.0.1', path, agent }), 'response');
    bodies.push((await answer.setEncoding('utf8').toArray()).join(''));
  }
  agent.destroy();
  expect(bodies).toEqual(['x', '{"id":"7"}', 'x']);
});
