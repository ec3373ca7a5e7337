import { expect, test } from '@jest/globals';
import { hubService, openApiDocument } from '@svc/contract';
import { prismFor } from '../src/api/prism.ts';

const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r', 'cache-control': 'no-store' };
const seen = {
  method: 'GET',
  path: '/api/v1/catalog/categories',
  status: 200,
  type: 'application/json',
  headers,
  body: { categories: [] as unknown[] },
};

test('Prism accepts a response that conforms to the OpenAPI document', async () => {
  const validate = await prismFor(openApiDocument(hubService));
  expect(() => validate(seen)).not.toThrow();
  expect(() => validate({ ...seen, path: '/healthz', body: {} })).not.toThrow();
});

test.each([
  ['another body', { body: { categories: [{ id: 1 }] } }, /Prism rejects the response 200 .*categories/],
  ['an undocumented status', { status: 418 }, /418/],
  ['no required header', { headers: { 'content-type': 'application/json' } }, /x-request-id/],
])('Prism rejects a response with %s', async (_, change, message) => {
  const validate = await prismFor(openApiDocument(hubService));
  expect(() => validate({ ...seen, ...change })).toThrow(message);
});
