import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endpoint, line, openApiDocument, problems, uuid } from '@svc/contract';
import fc from 'fast-check';
import { z } from 'zod';
import { oracleOf } from '../src/hostile/oracle.ts';
import { rawRequests, rawRequestsInTurn } from '../src/hostile/raw-requests.ts';
import { hostileRequests } from '../src/hostile/requests.ts';
import { validValues } from '../src/hostile/schema-values.ts';
import { openWire, type WireResponse } from '../src/hostile/wire.ts';
import { plainRequest } from '../src/hostile/written.ts';

const createThing = endpoint({
  operationId: 'createThing',
  method: 'post',
  path: '/things/:id',
  access: 'anyone',
  tag: 'things',
  summary: 'Create a thing',
  params: z.strictObject({ id: uuid }),
  body: z.strictObject({ name: line(20), count: z.int().min(1).max(9).optional() }),
  reply: z.object({ name: z.string() }),
});
const document = openApiDocument({
  title: 'Things',
  description: '',
  endpoints: { createThing },
  open: ['anyone'],
  problems: [],
  tags: { things: 'Things' },
});
const callers = { somebody: ['Authorization: Bearer secret-of-somebody'] };
const request = plainRequest(createThing, 'somebody', callers);
const check = oracleOf(document);

const response = (status: number, value: unknown, type = 'application/problem+json'): WireResponse => ({
  status,
  headers: { 'content-type': type, 'x-request-id': 'r1', 'cache-control': 'no-store' },
  body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
});
const aProblem = (code: keyof typeof problems, given: object = {}) => {
  const { status, title } = problems[code];
  return { type: 'about:blank', title, status, detail: 'd', code, request_id: 'r1', ...given };
};

test.each([
  ['a 5xx', response(500, aProblem('internal'))],
  ['an error in HTML', response(400, '<h1>no</h1>', 'text/html')],
  ['an unknown code', response(400, aProblem('validation_failed', { code: 'oops' }))],
  ['a code with another status', response(400, aProblem('unauthenticated'))],
  ['the request id of another request', response(400, aProblem('validation_failed', { request_id: 'r2' }))],
  ['a success that does not match the document', response(200, { nom: 'a' }, 'application/json')],
  ['an error without a body', { status: 400, headers: {}, body: Buffer.alloc(0) }],
  ['no response', undefined],
])('the oracle rejects %s', (_, given) => {
  expect(() => check(request, given)).toThrow();
});

test.each([
  ['a success', response(200, { name: 'a' }, 'application/json')],
  ['a problem', response(400, aProblem('validation_failed'))],
])('the oracle accepts %s that matches the document', (_, given) => {
  expect(() => check(request, given)).not.toThrow();
});

test('the response to a request that the parser rejects can have no body, but must not be 5xx', () => {
  const unreadable = { ...request, unreadable: true };
  expect(() => check(unreadable, { status: 431, headers: {}, body: Buffer.alloc(0) })).not.toThrow();
  expect(() => check(unreadable, undefined)).not.toThrow();
  expect(() => check(unreadable, { status: 500, headers: {}, body: Buffer.alloc(0) })).toThrow('500');
});

test('generated values of a schema are valid, and two thirds identify existing rows', () => {
  const id = '01a1f91b-5589-7135-8902-7f14220b2020';
  const values = validValues(uuid, [id, 'no-uuid'], 1);
  expect(values.filter((value) => !uuid.safeParse(value).success)).toEqual([]);
  expect(values.filter((value) => value === id).length).toBeGreaterThan(values.length / 2);
});

describe('generated requests', () => {
  const target = { endpoint: createThing, known: {}, callers: ['somebody'], credentials: callers, seed: 1 };

  test('are the same for the same seed', () => {
    const sampled = () => fc.sample(hostileRequests(target), { seed: 7, numRuns: 50 }).map(({ shown }) => shown);
    expect(sampled()).toEqual(sampled());
  });

  test('include enough valid and enough invalid requests', () => {
    const bodies = fc.sample(hostileRequests(target), { seed: 7, numRuns: 300 }).map(({ bytes }) => {
      const text = bytes.toString().split('\r\n\r\n')[1] ?? '';
      return text.length < 10_000 && !text.includes('[[[') && createThing.body.safeParse(parsed(text)).success;
    });
    const valid = bodies.filter((isValid) => isValid).length;
    expect(valid).toBeGreaterThan(60);
    expect(valid).toBeLessThan(240);
  });

  test.each([
    ['from parts', hostileRequests],
    ['from bytes', rawRequests],
  ])('%s are reported without the credential', (_, requests) => {
    const shown = fc.sample(requests(target), { seed: 7, numRuns: 300 }).map((each) => each.shown);
    expect(shown.filter((text) => text.includes('<somebody>')).length).toBeGreaterThan(100);
    expect(shown.filter((text) => text.includes('secret-of-somebody'))).toEqual([]);
  });
});

test('rawRequestsInTurn distributes all kinds of requests to the endpoints', () => {
  const target = { endpoint: createThing, known: {}, callers: ['somebody'], credentials: callers, seed: 1 };
  const requestsFor = (of: number) =>
    Array.from({ length: of }, (_, index) => rawRequestsInTurn(target, { index, of })).flat();
  const all = requestsFor(1).map(({ shown }) => shown);
  expect(all.length).toBeGreaterThan(50);
  expect(new Set(requestsFor(7).map(({ shown }) => shown))).toEqual(new Set(all));
});

test('the wire reuses its connection, and reports a connection that ends without a response', async () => {
  let connections = 0;
  const server = createServer((req, res) => (req.url === '/end' ? req.socket.destroy() : res.end('ok')));
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const wire = openWire((server.address() as AddressInfo).port);
  const get = (path: string) =>
    wire.send({ bytes: Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`), headOnly: false, cut: false });
  expect((await get('/'))?.body.toString()).toBe('ok');
  expect((await get('/'))?.status).toBe(200);
  expect(connections).toBe(1);
  expect(await get('/end')).toBeUndefined();
  wire.close();
  await new Promise((resolve) => server.close(resolve));
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
