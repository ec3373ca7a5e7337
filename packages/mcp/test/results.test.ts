import { expect, test } from '@jest/globals';
import { Problem } from '@svc/http';
import { errorResult, lastLines, structuredResult } from '../src/results.ts';

test('a structured result has the same JSON as text', () => {
  const { content, structuredContent } = structuredResult({ a: [1, 'ü'] });
  expect(content).toEqual([{ type: 'text', text: '{"a":[1,"ü"]}' }]);
  expect(structuredContent).toEqual({ a: [1, 'ü'] });
});

test('a result that is too large is rejected with the bound', () => {
  expect(() => structuredResult({ text: 'x'.repeat(40_000) })).toThrow(/at most 40000 are allowed. Request less/);
});

test('the last lines of a log fit in a result', () => {
  expect(lastLines(['a', 'b'])).toEqual(['a', 'b']);
  const lines = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(999, '.'));
  expect(lastLines(lines)).toEqual(lines.slice(10));
  expect(lastLines(['x'.repeat(50_000)])).toEqual([]);
});

test('a rejection starts with its code, and lists its errors', () => {
  const errors = [
    { path: 'name', message: 'is required' },
    { path: 'replicas', message: 'must be at least 1' },
  ];
  const problem = new Problem('validation_failed', 'name: is required; replicas: must be at least 1', { errors });
  expect(errorResult(problem, 'the-request')).toEqual({
    isError: true,
    content: [
      {
        type: 'text',
        text: `validation_failed (400): ${problem.message}\n- name: is required\n- replicas: must be at least 1`,
      },
    ],
    _meta: { 'svc/problem': problem.document('the-request') },
  });
});

test('a rejection states when to retry, and the request id of an error of the service', () => {
  const problem = new Problem('unavailable', 'Not now.', { headers: { 'Retry-After': '7' } });
  expect(errorResult(problem, 'the-request').content).toEqual([
    { type: 'text', text: 'unavailable (503): Not now.\nRetry in 7 s.\nrequest_id: the-request' },
  ]);
});
