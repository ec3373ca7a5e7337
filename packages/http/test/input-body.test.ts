import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { BODY_LIMIT, sendRaw, startService, stopServices, wire } from './world.ts';

afterEach(stopServices);

const asJson = { 'Content-Type': 'application/json' };

describe('a body', () => {
  test('reaches the handler as it was sent', async () => {
    const { api } = await startService();
    const { body } = await api
      .post('/things')
      .send({ name: 'é', nested: [null, { a: 1.5 }] })
      .expect(201);
    expect(body).toEqual({ thing: { name: 'é', nested: [null, { a: 1.5 }] } });
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'may be %s',
    async (type) => {
      const { api } = await startService();
      await api.post('/things').set('Content-Type', type).send('{"name":"a"}').expect(201);
    },
  );

  test.each([
    ['no content type', {}],
    ['text', { 'Content-Type': 'text/plain' }],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['another JSON', { 'Content-Type': 'application/problem+json' }],
    ['a longer word', { 'Content-Type': 'application/jsonp' }],
    ['another charset', { 'Content-Type': 'application/json; charset=iso-8859-1' }],
    ['UTF-16', { 'Content-Type': 'application/json; charset=utf-16' }],
    ['two types', { 'Content-Type': 'application/json, text/plain' }],
    ['gzip', { ...asJson, 'Content-Encoding': 'gzip' }],
    ['an unknown encoding', { ...asJson, 'Content-Encoding': 'identity, br' }],
  ])('with %s is a 415', async (_, headers) => {
    const { port } = await startService();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const answer = await sendRaw(port, wire('POST /things', [...lines, 'Content-Length: 12'], '{"name":"a"}'));
    expect(answer).toMatch(/^HTTP\/1.1 415 /);
    expect(answer).toContain('"code":"unsupported_media_type"');
  });

  test.each([
    ['not JSON', '{"name":'],
    ['JavaScript', "{name: 'a'}"],
    ['JSON twice', '{"name":"a"}{"name":"b"}'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['nothing but nesting', '['.repeat(BODY_LIMIT)],
  ])('that is %s is a 400', async (_, text) => {
    const { port } = await startService();
    const head = Buffer.from(
      wire('POST /things', ['Content-Type: application/json', `Content-Length: ${text.length}`]),
    );
    const answer = await sendRaw(port, Buffer.concat([head, Buffer.from(text)]));
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"errors":[{"path":"","message":"The body is not JSON in UTF-8."}]');
  });

  test.each([
    ['NUL', '{"name":"a\\u0000b"}', 'name', 'must be well-formed text without the character NUL'],
    [
      'NUL, deep inside',
      '{"name":"a","nested":[{"x":"\\u0000"}]}',
      'nested.0.x',
      'must be well-formed text without the character NUL',
    ],
    ['a lone surrogate', '{"name":"\\ud800"}', 'name', 'must be well-formed text without the character NUL'],
    ['NUL in a name', '{"name":"a","nested":{"\\u0000":1}}', 'nested', 'has a member whose name is not allowed'],
    ['__proto__', '{"name":"a","__proto__":{"admin":true}}', '', 'has a member whose name is not allowed'],
    [
      '__proto__, deep inside',
      '{"name":"a","nested":{"__proto__":1}}',
      'nested',
      'has a member whose name is not allowed',
    ],
    [
      'an unknown member, with the allowed ones',
      '{"name":"a","role":"admin"}',
      'role',
      'unknown member; allowed: name, count, nested, labels',
    ],
    ['a missing member', '{}', 'name', 'is required'],
    ['null for a member', '{"name":null}', 'name', 'Invalid input: expected string, received null'],
    ['a member that is too long', `{"name":"${'a'.repeat(21)}"}`, 'name', 'must have at most 20 characters'],
    [
      'a number that a double can’t hold',
      '{"name":"a","count":1e400}',
      'count',
      'Invalid input: expected number, received Infinity',
    ],
    ['a wrong name in a map', '{"name":"a","labels":{"A b":"x"}}', 'labels.A b', 'its name must be lower-case letters'],
  ])('with %s is refused by name', async (_, text, path, message) => {
    const { api } = await startService();
    const { body } = await api.post('/things').set(asJson).send(text).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed', errors: [{ path, message }] });
  });

  test.each(['[]', '"text"', '42', 'null', 'true'])('that is %s, no object, is a 400', async (text) => {
    const { api } = await startService();
    const { body } = await api.post('/things').set(asJson).send(text).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed', errors: [{ path: '' }] });
  });

  test('with several things wrong has each of them in the answer', async () => {
    const { api } = await startService();
    const wrong = { name: 'a'.repeat(21), count: 1.5, role: 'admin', org_id: 1 };
    const { body } = await api.post('/things').send(wrong).expect(400);
    const paths: string[] = body.errors.map(({ path }: { path: string }) => path);
    expect(paths.sort()).toEqual(['count', 'name', 'org_id', 'role']);
    expect(body.detail).toMatch(/; and 1 more$/);
  });

  test('with very many things wrong has 50 of them in the answer', async () => {
    const { api } = await startService();
    const wrong = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`m${index}`, 1]));
    const { body } = await api.post('/things').send(wrong).expect(400);
    expect(body.errors).toHaveLength(50);
  });

  const nested = (depth: number) => `{"name":"a","nested":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  test('may nest 32 deep', async () => {
    const { api } = await startService();
    await api.post('/things').set(asJson).send(nested(32)).expect(201);
  });

  test.each([33, 400])('that nests %p deep is refused', async (depth) => {
    const { api } = await startService();
    const { body } = await api.post('/things').set(asJson).send(nested(depth)).expect(400);
    expect(body.errors).toEqual([{ path: '', message: 'must not nest deeper than 32' }]);
  });

  test('that is not there is an empty one', async () => {
    const { api } = await startService();
    const { body } = await api.post('/things').expect(400);
    expect(body.errors).toEqual([{ path: 'name', message: 'is required' }]);
  });

  test('that is sent in chunks and empty is an empty one', async () => {
    const { port } = await startService();
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    expect(await sendRaw(port, wire('POST /things', headers, '0\r\n\r\n'))).toContain('"message":"is required"');
  });

  const sized = (bytes: number) => JSON.stringify({ name: 'a', nested: 'x'.repeat(bytes - 24) });

  test('may have as many bytes as its endpoint allows', async () => {
    const { api } = await startService();
    expect(sized(BODY_LIMIT)).toHaveLength(BODY_LIMIT);
    await api.post('/things').set(asJson).send(sized(BODY_LIMIT)).expect(201);
  });

  test('with one byte more is a 413 that names the limit', async () => {
    const { api } = await startService();
    const { body } = await api
      .post('/things')
      .set(asJson)
      .send(sized(BODY_LIMIT + 1))
      .expect(413);
    expect(body).toMatchObject({ code: 'payload_too_large', detail: 'The body must have at most 1000 bytes.' });
  });

  test('that is too large is a 413 without a Content-Length too', async () => {
    const { port } = await startService();
    const chunk = `258\r\n${'x'.repeat(0x258)}\r\n`;
    const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const answer = await sendRaw(port, wire('POST /things', headers, `${chunk}${chunk}0\r\n\r\n`));
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });

  test('is not read where an endpoint takes none', async () => {
    const { api } = await startService();
    await api.delete('/things/1').set('Content-Type', 'text/plain').send('anything').expect(204);
  });
});

test('an upload that breaks off never reaches the handler, and is logged as aborted', async () => {
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
  socket.once('data', () => socket.destroy()); // "100 Continue": the request has begun
  expect(await entry(({ path }) => path === '/things')).toMatchObject({ method: 'POST', aborted: true });
  expect(handled).toBe(0);
});
