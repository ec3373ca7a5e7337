import { describe, expect, test } from '@jest/globals';
import { closedOpenApiDocument, endpoint, openApiDocument, type Service } from '@svc/contract';
import { z } from 'zod';
import { conformityTo } from '../src/index.ts';

const shared = { access: 'anyone', tag: 'things', summary: 'Things', method: 'get' } as const;
const thing = z.object({ id: z.string() });
const service: Service = {
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
  tags: { things: 'Things' },
};
const check = conformityTo(closedOpenApiDocument(service));

const checking = (path: string, type: string, body: unknown) => () =>
  check({ method: 'GET', path, status: 200, type, body });

describe('a JSON response', () => {
  test('conforms if its schema matches', () => {
    expect(checking('/things/1', 'application/json; charset=utf-8', { id: '1' })).not.toThrow();
  });

  test.each([
    ['another body', 'application/json', { id: 1 }],
    ['another type', 'application/x-ndjson', { id: '1' }],
  ])('does not conform with %s', (_, type, body) => {
    expect(checking('/things/1', type, body)).toThrow(/does not conform to the OpenAPI document/);
  });
});

test('a member that the contract does not declare fails the tests of a service, and clients of the published document accept it', () => {
  const response = {
    method: 'GET',
    path: '/things/1',
    status: 200,
    type: 'application/json',
    body: { id: '1', new: 1 },
  };
  expect(() => check(response)).toThrow(/must NOT have additional properties/);
  expect(() => conformityTo(openApiDocument(service))(response)).not.toThrow();
});

test.each([
  ['lacks a declared header', {}, /has no X-Request-Id, Cache-Control/],
  [
    'has an undeclared header',
    { 'x-request-id': 'r', 'cache-control': 'no-store', 'x-new': '1' },
    /undeclared.* x-new/,
  ],
])('a response does not conform if it %s', (_, headers, message) => {
  const response = { method: 'GET', path: '/things/1', status: 200, type: 'application/json', body: { id: '1' } };
  expect(() => check({ ...response, headers })).toThrow(message);
});

describe('a response of lines', () => {
  const ndjson = (text: string) => checking('/things/follow', 'application/x-ndjson', Buffer.from(text));

  test.each(['', '{"id":"1"}\n', '{"id":"1"}\n{"id":"2"}\n', '{"id":"1"}'])(
    'conforms if the schema matches each line: %j',
    (text) => {
      expect(ndjson(text)).not.toThrow();
    },
  );

  test.each(['{"id":1}\n', '{"id":"1"}\n{}\n', '{"id":"1"}\n{"id":', 'id\n', '[{"id":"1"}]\n'])(
    'does not conform if a line does not match: %j',
    (text) => {
      expect(ndjson(text)).toThrow(/does not conform to the OpenAPI document/);
    },
  );

  test('does not conform if it is one JSON document', () => {
    expect(checking('/things/follow', 'application/json', { id: '1' })).toThrow(/not application\/x-ndjson/);
  });

  test('can be text', () => {
    expect(checking('/log', 'text/plain; charset=utf-8', 'one\ntwo\n')).not.toThrow();
    expect(checking('/log', 'text/plain; charset=utf-8', 'one\nand two\n')).toThrow(/does not conform/);
  });
});

test('an error must be a problem document, also if a success is lines', () => {
  const problem = { type: 'about:blank', title: '', status: 503, detail: '', code: 'unavailable', request_id: 'r' };
  const checkingError = (body: unknown) => () =>
    check({ method: 'GET', path: '/things/follow', status: 503, type: 'application/problem+json', body });
  expect(checkingError(problem)).not.toThrow();
  expect(checkingError({ ...problem, code: 'gone' })).toThrow(/does not conform/);
});
