import { afterEach, expect, test } from '@jest/globals';
import { Problem } from '../../src/index.ts';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const failing = (problem: Problem) => ({ handlers: { latestThing: () => Promise.reject(problem) } });
const shown = (code: 'invalid_grant' | 'unavailable', cause?: Error) =>
  new Problem(code, 'the detail', { cause }).shownAt((requestId) => `/?error=a&request_id=${requestId}`);

test('a browser is redirected to the page of a problem, with the id of the request', async () => {
  const { api } = await startService(failing(shown('invalid_grant')));
  const { status, headers, text } = await api.get('/things/latest').set('Accept', HTML);
  expect(status).toBe(302);
  expect(text).toBe('');
  expect(headers).toMatchObject({
    location: `/?error=a&request_id=${headers['x-request-id']}`,
    'cache-control': 'no-store',
    'content-length': '0',
  });
});

test.each(['application/json', '*/*', ''])('a client that accepts %p receives the document', async (accept) => {
  const { api } = await startService(failing(shown('invalid_grant')));
  const { status, headers, body } = await api.get('/things/latest').set('Accept', accept);
  expect(status).toBe(401);
  expect(headers.location).toBeUndefined();
  expect(body).toMatchObject({ code: 'invalid_grant', detail: 'the detail' });
});

test('a problem without a page is a document also for a browser', async () => {
  const { api } = await startService(failing(new Problem('invalid_grant')));
  expect((await api.get('/things/latest').set('Accept', HTML)).status).toBe(401);
});

test('the log contains the problem that a page shows, and its cause', async () => {
  const { api, entry } = await startService(failing(shown('invalid_grant', new Error('the signature is invalid'))));
  const { headers } = await api.get('/things/latest').set('Accept', HTML);
  expect(await entry(({ message }) => message === 'request')).toMatchObject({
    level: 30,
    status: 302,
    request_id: headers['x-request-id'],
    problem: 'invalid_grant',
    reason: 'the signature is invalid',
  });
});

test('a failure that a page shows is logged as an error, and counted', async () => {
  const { api, entry } = await startService(failing(shown('unavailable', new Error('no connection'))));
  await api.get('/things/latest').set('Accept', HTML);
  expect(await entry(({ message }) => message === 'request')).toMatchObject({
    level: 50,
    problem: 'unavailable',
    err: { message: 'no connection' },
  });
  expect((await api.get('/metrics')).text).toContain('http_problems_total{code="unavailable"} 1');
});
