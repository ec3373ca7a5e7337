import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import { holdResponse, type PendingResponse, Problem, unavailable } from '../../src/index.ts';
import { startService, stopServices, wire } from '../world.ts';

afterEach(stopServices);

type Hold = Parameters<typeof holdResponse>[1];

const holding =
  (hold: Hold): RequestHandler =>
  (_req, res, next) => {
    holdResponse(res, hold);
    next();
  };

describe('a delayed response', () => {
  test('is sent only after its hook has resolved', async () => {
    const order: string[] = [];
    const gate = holding(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('recorded');
    });
    const { api } = await startService({ gate });
    await api.get('/things/latest').expect(200);
    order.push('sent');
    expect(order).toEqual(['recorded', 'sent']);
  });

  test.each([
    ['a success', 'GET', '/things/latest', 200],
    ['an invalid request', 'GET', '/things?colour=red', 400],
    ['an unknown path', 'GET', '/nothing', 404],
    ['a method that is not allowed', 'PATCH', '/things', 405],
    ['OPTIONS', 'OPTIONS', '/things', 204],
    ['health', 'GET', '/healthz', 200],
  ])('to %s is passed to its hook once, with its status', async (_, method, path, status) => {
    const held: [number, boolean][] = [];
    const { api } = await startService({
      gate: holding(async (response, { aborted }) => {
        held.push([response.status, aborted]);
      }),
    });
    await (method === 'PATCH' ? api.patch(path) : method === 'OPTIONS' ? api.options(path) : api.get(path)).expect(
      status,
    );
    expect(held).toEqual([[status, false]]);
  });

  test('is replaced by 503 if its hook rejects', async () => {
    const shown: PendingResponse[] = [];
    const { api, entry } = await startService({
      gate: holding(async (response) => {
        shown.push(response);
        throw new Error('the store of entries is full');
      }),
    });
    const { body, headers, text } = await api.get('/secret').expect(503);
    expect(shown[0]?.body).toContain('s3cret');
    expect(text).not.toContain('s3cret');
    expect(text).not.toContain('store of entries');
    expect(body).toMatchObject({ code: 'unavailable', request_id: headers['x-request-id'] });
    expect(headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
    expect(await entry(({ status }) => status === 503)).toMatchObject({
      err: { message: 'the store of entries is full' },
    });
  });

  test('to an aborted request is passed to its hook as aborted, with its status', async () => {
    let resolveHeld: (held: readonly [number, boolean]) => void = () => undefined;
    const held = new Promise((resolve) => {
      resolveHeld = resolve;
    });
    const gate = holding(async (response, { aborted }) => resolveHeld([response.status, aborted]));
    let resolveClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      resolveClosed = resolve;
    });
    const { port } = await startService({
      gate: (req, res, next) => {
        res.once('close', resolveClosed);
        gate(req, res, next);
      },
      handlers: {
        latestThing: async () => {
          socket.destroy();
          await closed;
          return { id: '1' };
        },
      },
    });
    const socket = connect(port, '127.0.0.1');
    socket.write(wire('GET /things/latest'));
    expect(await held).toEqual([200, true]);
  });
});

describe('a problem', () => {
  test('results in a problem document (RFC 9457)', async () => {
    const errors = [{ path: 'name', message: 'is taken' }];
    const { api } = await startService({
      handlers: {
        latestThing: () =>
          Promise.reject(new Problem('slug_taken', 'Take another.', { errors, headers: { 'X-More': '1' } })),
      },
    });
    const { body, headers } = await api.get('/things/latest').set('X-Request-Id', 'r-1').expect(409);
    expect(headers).toMatchObject({ 'content-type': 'application/problem+json; charset=utf-8', 'x-more': '1' });
    expect(body).toEqual({
      type: 'about:blank',
      title: 'Slug taken',
      status: 409,
      detail: 'Take another.',
      code: 'slug_taken',
      request_id: 'r-1',
      errors,
    });
  });

  test('without a detail has its title as detail, and no errors', () => {
    const document = new Problem('not_found').document('r-1');
    expect(document.detail).toBe('Not found');
    expect(document).not.toHaveProperty('errors');
  });

  test('is logged with its cause, which the response does not contain', async () => {
    const cause = new Error('connect ECONNREFUSED 10.0.0.7:5432');
    const { api, entry } = await startService({
      handlers: { latestThing: () => Promise.reject(unavailable('Try again.', cause)) },
    });
    const { text, headers } = await api.get('/things/latest').expect(503);
    expect(text).not.toContain('10.0.0.7');
    expect(headers['retry-after']).toBe('1');
    expect(await entry(({ status }) => status === 503)).toMatchObject({ level: 50, err: { message: cause.message } });
  });
});
