import { describe, expect, test } from '@jest/globals';
import { endpoint, openApiDocument } from '@svc/contract';
import { z } from 'zod';
import { conformityTo } from '../src/index.ts';

const shared = { access: 'anyone', tag: 'things', summary: 'Things', method: 'get' } as const;
const thing = z.object({ id: z.string() });
const check = conformityTo(
  openApiDocument({
    title: 'Things',
    description: '',
    endpoints: {
      getThing: endpoint({
        ...shared,
        operationId: 'getThing',
        path: '/things/:id',
        params: z.strictObject({ id: z.string() }),
        reply: thing,
      }),
      followThings: endpoint({
        ...shared,
        operationId: 'followThings',
        path: '/things/follow',
        reply: thing,
        stream: 'application/x-ndjson',
      }),
      readLog: endpoint({
        ...shared,
        operationId: 'readLog',
        path: '/log',
        reply: z.string().max(5),
        stream: 'text/plain',
      }),
    },
    open: ['anyone'],
    problems: [],
  }),
);

const holding = (path: string, type: string, body: unknown) => () =>
  check({ method: 'GET', path, status: 200, type, body });

describe('a JSON answer', () => {
  test('is inside its document when its schema fits', () => {
    expect(holding('/things/1', 'application/json; charset=utf-8', { id: '1' })).not.toThrow();
  });

  test.each([
    ['another body', 'application/json', { id: 1 }],
    ['another type', 'application/x-ndjson', { id: '1' }],
  ])('is outside with %s', (_, type, body) => {
    expect(holding('/things/1', type, body)).toThrow(/outside its OpenAPI document/);
  });
});

describe('an answer of lines', () => {
  const ndjson = (text: string) => holding('/things/follow', 'application/x-ndjson', Buffer.from(text));

  test.each(['', '{"id":"1"}\n', '{"id":"1"}\n{"id":"2"}\n', '{"id":"1"}'])(
    'is inside its document when the schema fits each line: %j',
    (text) => {
      expect(ndjson(text)).not.toThrow();
    },
  );

  test.each(['{"id":1}\n', '{"id":"1"}\n{}\n', '{"id":"1"}\n{"id":', 'id\n', '[{"id":"1"}]\n'])(
    'is outside when a line is another: %j',
    (text) => {
      expect(ndjson(text)).toThrow(/outside its OpenAPI document/);
    },
  );

  test('is outside as one JSON document', () => {
    expect(holding('/things/follow', 'application/json', { id: '1' })).toThrow(/not application\/x-ndjson/);
  });

  test('may be of text', () => {
    expect(holding('/log', 'text/plain; charset=utf-8', 'one\ntwo\n')).not.toThrow();
    expect(holding('/log', 'text/plain; charset=utf-8', 'one\nand two\n')).toThrow(/outside/);
  });
});

test('a refusal is a problem document, also where success is lines', () => {
  const problem = { type: 'about:blank', title: '', status: 503, detail: '', code: 'unavailable', request_id: 'r' };
  const refused = (body: unknown) => () =>
    check({ method: 'GET', path: '/things/follow', status: 503, type: 'application/problem+json', body });
  expect(refused(problem)).not.toThrow();
  expect(refused({ ...problem, code: 'gone' })).toThrow(/outside/);
});
