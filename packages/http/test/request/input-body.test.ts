import { connect } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { BODY_LIMIT, sendRaw, startService, stopServices, wire } from '../world.ts';

afterEach(stopServices);

/** The maximum number of values in a body. */
const MAX_VALUES = Math.floor(BODY_LIMIT / 50);

const asJson = { 'Content-Type': 'application/json' };

describe('a request body', () => {
  test('reaches the handler unchanged', async () => {
    const { api } = await startService();
    const { body } = await api
      .post('/things')
      .send({ name: 'é', nested: [null, { a: 1.5 }] })
      .expect(201);
    expect(body).toEqual({ thing: { name: 'é', nested: [null, { a: 1.5 }] } });
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'with the content type %s is accepted',
    async (type) => {
      const { api } = await startService();
      await api.post('/things').set('Content-Type', type).send('{"name":"a"}').expect(201);
    },
  );

  test.each([
    ['no content type', {}],
    ['text', { 'Content-Type': 'text/plain' }],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['another JSON type', { 'Content-Type': 'application/problem+json' }],
    ['a longer type', { 'Content-Type': 'application/jsonp' }],
    ['another charset', { 'Content-Type': 'application/json; charset=iso-8859-1' }],
    ['UTF-16', { 'Content-Type': 'application/json; charset=utf-16' }],
    ['two types', { 'Content-Type': 'application/json, text/plain' }],
    ['gzip', { ...asJson, 'Content-Encoding': 'gzip' }],
    ['an unknown encoding', { ...asJson, 'Content-Encoding': 'identity, br' }],
  ])('with %s is rejected with 415', async (_, headers) => {
    const { port } = await startService();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const response = await sendRaw(port, wire('POST /things', [...lines, 'Content-Length: 12'], '{"name":"a"}'));
    expect(response).toMatch(/^HTTP\/1.1 415 /);
    expect(response).toContain('"code":"unsupported_media_type"');
  });

  test.each([
    ['not JSON', '{"name":'],
    ['JavaScript', "{name: 'a'}"],
    ['JSON twice', '{"name":"a"}{"name":"b"}'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['an unclosed string', '"\\"'],
  ])('that is %s is rejected with 400', async (_, text) => {
    const { port } = await startService();
    const head = Buffer.from(
      wire('POST /things', ['Content-Type: application/json', `Content-Length: ${text.length}`]),
    );
    const response = await sendRaw(port, Buffer.concat([head, Buffer.from(text)]));
    expect(response).toMatch(/^HTTP\/1.1 400 /);
    expect(response).toContain('"errors":[{"path":"","message":"The body must be valid JSON in UTF-8."}]');
  });

  test.each([
    ['NUL', '{"name":"a\\u0000b"}', 'name', 'must be well-formed Unicode without the character NUL'],
    [
      'NUL in a nested member',
      '{"name":"a","nested":[{"x":"\\u0000"}]}',
      'nested.0.x',
      'must be well-formed Unicode without the character NUL',
    ],
    ['a lone surrogate', '{"name":"\\ud800"}', 'name', 'must be well-formed Unicode without the character NUL'],
    [
      'NUL in the name of a member',
      '{"name":"a","nested":{"\\u0000":1}}',
      'nested',
      'has a member with a name that is not allowed',
    ],
    ['__proto__', '{"name":"a","__proto__":{"admin":true}}', '', 'has a member with a name that is not allowed'],
    [
      '__proto__ in a nested member',
      '{"name":"a","nested":{"__proto__":1}}',
      'nested',
      'has a member with a name that is not allowed',
    ],
    [
      'an unknown member',
      '{"name":"a","role":"admin"}',
      'role',
      'unknown member; allowed: name, count, nested, labels',
    ],
    ['a missing member', '{}', 'name', 'is required'],
    ['null for a member', '{"name":null}', 'name', 'must be a string'],
    ['a member that is too long', `{"name":"${'a'.repeat(21)}"}`, 'name', 'must have at most 20 characters'],
    ['a number that a double cannot represent', '{"name":"a","count":1e400}', 'count', 'must be a finite number'],
    [
      'an invalid name in a map',
      '{"name":"a","labels":{"A b":"x"}}',
      'labels.A b',
      'its name must be lower-case letters',
    ],
  ])('with %s is rejected with the path and what is allowed', async (_, text, path, message) => {
    const { api } = await startService();
    const { body } = await api.post('/things').set(asJson).send(text).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed', errors: [{ path, message }] });
  });

  test.each(['[]', '"text"', '42', 'null', 'true'])(
    'that is %s instead of an object is rejected with 400',
    async (text) => {
      const { api } = await startService();
      const { body } = await api.post('/things').set(asJson).send(text).expect(400);
      expect(body).toMatchObject({ code: 'validation_failed', errors: [{ path: '' }] });
    },
  );

  test('with several invalid members is rejected with a field error for each', async () => {
    const { api } = await startService();
    const wrong = { name: 'a'.repeat(21), count: 1.5, role: 'admin', org_id: 1 };
    const { body } = await api.post('/things').send(wrong).expect(400);
    const paths: string[] = body.errors.map(({ path }: { path: string }) => path);
    expect(paths.sort()).toEqual(['count', 'name', 'org_id', 'role']);
    expect(body.detail).toMatch(/; and 1 more$/);
  });

  test('with many invalid members is rejected with 100 field errors, of which the last states that there are more', async () => {
    const { api } = await startService();
    const unknown = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`m${index}`, 1]));
    const { body } = await api
      .post('/things')
      .send({ name: 'a', ...unknown })
      .expect(400);
    expect(body.errors).toHaveLength(100);
    expect(body.errors[98].path).toBe('m98');
    expect(body.errors[99]).toEqual({ path: '', message: 'has more errors; only the first 99 are listed' });
    expect(body.detail).toMatch(/; and at least 97 more$/);
  });

  const nested = (depth: number) => `{"name":"a","nested":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  test('can have 32 levels of nesting', async () => {
    const { api } = await startService();
    await api.post('/things').set(asJson).send(nested(32)).expect(201);
  });

  test('that contains structural characters and escaped quotation marks in strings is accepted', async () => {
    const { api } = await startService();
    const text = `${'[,"\\'.repeat(30_000)}"`;
    const { body } = await api
      .post('/things')
      .set(asJson)
      .send(JSON.stringify({ name: 'a', nested: text }))
      .expect(201);
    expect(body.thing.nested).toBe(text);
  });

  const objectOf = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join(',')}}`;

  /** An array of objects that have at most 400 members. */
  const objectsOf = (count: number): string =>
    `[${Array.from({ length: Math.ceil(count / 401) }, (_, index) => objectOf(Math.min(400, count - 401 * index - 1))).join(',')}]`;

  test.each([
    ['an array', (count: number) => `[${'0,'.repeat(count - 1)}0]`],
    ['objects', objectsOf],
  ])('with more than a value per 50 bytes of its limit in %s is rejected before it is parsed', async (_, valuesOf) => {
    const { api } = await startService();
    const send = (count: number) =>
      api
        .post('/things')
        .set(asJson)
        .send(`{"name":"a","nested":${valuesOf(count)}}`);
    await send(MAX_VALUES - 10).expect(201);
    const parse = jest.spyOn(JSON, 'parse');
    const { status, text } = await send(MAX_VALUES);
    const parsed = parse.mock.calls.filter(([json]) => json.length > MAX_VALUES);
    parse.mockRestore();
    expect(status).toBe(400);
    expect(JSON.parse(text).errors).toEqual([
      { path: '', message: `must have at most ${MAX_VALUES} values in all arrays and objects` },
    ]);
    expect(parsed).toEqual([]);
  });

  test('with more than 512 members in an object is rejected before it is parsed', async () => {
    const { api } = await startService();
    const send = (count: number) =>
      api
        .post('/things')
        .set(asJson)
        .send(`{"name":"a","nested":[${objectOf(count)},${objectOf(count)}]}`);
    await send(512).expect(201);
    const parse = jest.spyOn(JSON, 'parse');
    const { text } = await send(513).expect(400);
    const parsed = parse.mock.calls.filter(([json]) => json.length > 1000);
    parse.mockRestore();
    expect(JSON.parse(text).errors).toEqual([{ path: '', message: 'must have at most 512 members in each object' }]);
    expect(parsed).toEqual([]);
  });

  test('that is large is parsed in turns, between which other requests are answered', async () => {
    const { api } = await startService();
    const order: string[] = [];
    const large = JSON.stringify({ name: 'a', nested: 'x'.repeat(BODY_LIMIT - 100) });
    const parse = JSON.parse;
    const spy = jest.spyOn(JSON, 'parse').mockImplementation((json: string) => {
      if (json === large) {
        order.push('parsed');
        globalThis.setImmediate(() => order.push('turn'));
      }
      return parse(json);
    });
    await Promise.all([1, 2, 3].map(() => api.post('/things').set(asJson).send(large).expect(201)));
    spy.mockRestore();
    expect(order).toEqual(['parsed', 'turn', 'parsed', 'turn', 'parsed', 'turn']);
  });

  test.each([33, 100_000])('with %p levels of nesting is rejected', async (depth) => {
    const { api } = await startService();
    const { body } = await api.post('/things').set(asJson).send(nested(depth)).expect(400);
    expect(body.errors).toEqual([{ path: '', message: 'must not be nested more than 32 levels deep' }]);
  });

  test('that is missing counts as an empty object', async () => {
    const { api } = await startService();
    const { body } = await api.post('/things').expect(400);
    expect(body.errors).toEqual([{ path: 'name', message: 'is required' }]);
  });

  test('that is chunked and empty counts as an empty object', async () => {
    const { port } = await startService();
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    expect(await sendRaw(port, wire('POST /things', headers, '0\r\n\r\n'))).toContain('"message":"is required"');
  });

  const sized = (bytes: number) => JSON.stringify({ name: 'a', nested: 'x'.repeat(bytes - 24) });

  test('can have as many bytes as the endpoint allows', async () => {
    const { api } = await startService();
    expect(sized(BODY_LIMIT)).toHaveLength(BODY_LIMIT);
    await api.post('/things').set(asJson).send(sized(BODY_LIMIT)).expect(201);
  });

  test('with more bytes than the endpoint allows is rejected with 413 and the limit', async () => {
    const { api } = await startService();
    const { body } = await api
      .post('/things')
      .set(asJson)
      .send(sized(BODY_LIMIT + 1))
      .expect(413);
    expect(body).toMatchObject({
      code: 'payload_too_large',
      detail: `The body must have at most ${BODY_LIMIT} bytes.`,
    });
  });

  test('that is chunked and too large is rejected with 413', async () => {
    const { port } = await startService();
    const size = BODY_LIMIT / 2 + 1;
    const chunk = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const response = await sendRaw(port, wire('POST /things', headers, `${chunk}${chunk}0\r\n\r\n`));
    expect(response).toMatch(/^HTTP\/1.1 413 /);
  });

  test('is not read by an endpoint without a body', async () => {
    const { api } = await startService();
    await api.delete('/things/1').set('Content-Type', 'text/plain').send('anything').expect(204);
  });
});

test('an interrupted upload does not reach the handler and is logged as aborted', async () => {
  let handled = 0;
  const { port, entry } = await startService({
    handlers: {
      createThing: async () => {
        handled++;
        return { thing: null };
      },
    },
  });
  const socket = connect(port, '127.0.0.1');
  const headers = ['Content-Type: application/json', 'Content-Length: 100', 'Expect: 100-continue'];
  socket.write(wire('POST /things', headers, '{"name":'));
  // "100 Continue": the server has received the headers.
  socket.once('data', () => socket.destroy());
  expect(await entry(({ path }) => path === '/things')).toMatchObject({ method: 'POST', aborted: true });
  expect(handled).toBe(0);
});
