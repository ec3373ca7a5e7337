import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import { type Answer, holdAnswer, Problem, unavailable } from '../src/index.ts';
import { startService, stopServices, wire } from './world.ts';

afterEach(stopServices);

type Hold = Parameters<typeof holdAnswer>[1];

const holding =
  (hold: Hold): RequestHandler =>
  (_req, res, next) => {
    holdAnswer(res, hold);
    next();
  };

describe('a held answer', () => {
  test('does not leave before its hold has done its work', async () => {
    const order: string[] = [];
    const gate = holding(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('recorded');
    });
    const { api } = await startService({ gate });
    await api.get('/things/latest').expect(200);
    order.push('answered');
    expect(order).toEqual(['recorded', 'answered']);
  });

  test.each([
    ['a success', 'GET', '/things/latest', 200],
    ['a refusal', 'GET', '/things?colour=red', 400],
    ['an unknown address', 'GET', '/nothing', 404],
    ['another method', 'PATCH', '/things', 405],
    ['OPTIONS', 'OPTIONS', '/things', 204],
    ['health', 'GET', '/healthz', 200],
  ])('of %s is shown to its hold with its status, once', async (_, method, path, status) => {
    const held: [number, boolean][] = [];
    const { api } = await startService({
      gate: holding(async (answer, { aborted }) => {
        held.push([answer.status, aborted]);
      }),
    });
    await (method === 'PATCH' ? api.patch(path) : method === 'OPTIONS' ? api.options(path) : api.get(path)).expect(
      status,
    );
    expect(held).toEqual([[status, false]]);
  });

  test('never leaves when its hold rejects: the caller gets a 503', async () => {
    const shown: Answer[] = [];
    const { api, entry } = await startService({
      gate: holding(async (answer) => {
        shown.push(answer);
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

  test('of a request that broke off is shown to its hold as aborted, with the status that it would have had', async () => {
    let tell: (held: readonly [number, boolean]) => void = () => undefined;
    const held = new Promise((resolve) => {
      tell = resolve;
    });
    const gate = holding(async (answer, { aborted }) => tell([answer.status, aborted]));
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const { port } = await startService({
      gate: (req, res, next) => {
        res.once('close', leave);
        gate(req, res, next);
      },
      handlers: {
        latestThing: async () => {
          socket.destroy();
          await left;
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
  test('is answered as a problem document (RFC 9457)', async () => {
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

  test('has its title for a detail when none is said, and no errors', () => {
    const document = new Problem('not_found').document('r-1');
    expect(document.detail).toBe('Not found');
    expect(document).not.toHaveProperty('errors');
  });

  test('never shows its cause, which goes to the log', async () => {
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
