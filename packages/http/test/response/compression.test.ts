import { get, type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { renderedReply } from '../../src/index.ts';
import { startService, stopServices } from '../world.ts';

afterAll(stopServices);

const long = { id: 'é'.repeat(2000) };
const { port } = await startService({
  handlers: {
    latestThing: async () => long,
    getThing: async () => renderedReply(shared, '"tag"'),
    getSecret: async () => ({ secret: 's'.repeat(5000) }),
    listThings: async (_, { query }) => ({
      things: [{ id: query.limit === 2 ? 'x'.repeat(4 * 1024 * 1024) : 'short' }],
    }),
    createThing: async () => ({ thing: long }),
  },
});
const shared = Buffer.from(JSON.stringify(long));

/** A request without the decompression of the usual clients. */
const send = (path: string, accepted?: string, method = 'GET') =>
  new Promise<{ headers: IncomingMessage['headers']; body: Buffer }>((resolve, reject) => {
    const headers = {
      ...(accepted === undefined ? {} : { 'Accept-Encoding': accepted }),
      'Content-Type': 'application/json',
    };
    const asked = request({ port, host: '127.0.0.1', path, method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(chunks) }));
    });
    asked.on('error', reject).end(method === 'POST' ? '{"name":"x"}' : '');
  });

const decode = {
  br: (body: Buffer) => brotliDecompressSync(body).toString(),
  gzip: (body: Buffer) => gunzipSync(body).toString(),
};

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['GZIP;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=1', 'gzip'],
] as const)('a client that accepts %s receives %s', async (accepted, coding) => {
  for (const path of ['/things/latest', '/things/x']) {
    const { headers, body } = await send(path, accepted);
    expect(headers).toMatchObject({ 'content-encoding': coding, 'content-length': String(body.length) });
    expect(body.length).toBeLessThan(shared.length / 10);
    expect(decode[coding](body)).toBe(JSON.stringify(long));
    expect(headers.vary).toContain('Accept-Encoding');
  }
});

test.each([undefined, '', 'identity', 'br;q=0, gzip;q=0.000', 'brotli', 'x-gzip', '*', ';,,q='])(
  'a client that accepts %p receives plain JSON',
  async (accepted) => {
    const { headers, body } = await send('/things/latest', accepted);
    expect(headers['content-encoding']).toBeUndefined();
    expect(body.toString()).toBe(JSON.stringify(long));
  },
);

test('the entity tag does not depend on the coding, and 304 has no coding', async () => {
  const tags = await Promise.all(
    ['br', 'gzip', undefined].map(async (each) => (await send('/things/latest', each)).headers.etag),
  );
  expect(new Set(tags).size).toBe(1);
  const answer = await new Promise<IncomingMessage>((resolve) => {
    const headers = { 'Accept-Encoding': 'br', 'If-None-Match': tags[0] ?? '' };
    get({ port, host: '127.0.0.1', path: '/things/latest', headers, agent: false }, resolve);
  });
  answer.resume();
  expect(answer.statusCode).toBe(304);
  expect(answer.headers['content-encoding']).toBeUndefined();
});

test('short responses, secrets and responses to changes are not compressed', async () => {
  for (const [path, method] of [
    ['/things', 'GET'],
    ['/secret', 'GET'],
    ['/things', 'POST'],
  ] as const) {
    expect((await send(path, 'br, gzip', method)).headers['content-encoding']).toBeUndefined();
  }
});

test('a very large response is not compressed', async () => {
  const { headers, body } = await send('/things?limit=2', 'br');
  expect(headers['content-encoding']).toBeUndefined();
  expect(body.length).toBeGreaterThan(4 * 1024 * 1024);
});

test('many concurrent requests for one body receive the same bytes', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => send('/things/x', 'br')));
  for (const { headers, body } of answers)
    expect(decode[headers['content-encoding'] === 'br' ? 'br' : 'gzip'](body)).toBe(shared.toString());
});

test('concurrent requests for different bodies are answered, compressed or not', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => send('/things/latest', 'gzip')));
  const plain = answers.map(({ headers, body }) =>
    headers['content-encoding'] === 'gzip' ? decode.gzip(body) : body.toString(),
  );
  expect(new Set(plain)).toEqual(new Set([JSON.stringify(long)]));
  expect(answers.some(({ headers }) => headers['content-encoding'] === 'gzip')).toBe(true);
});
