import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@svc/http';
import type { Request } from 'express';
import { type Authenticate, challengesOf, createAuthenticator, readBearer } from '../src/index.ts';

const challenges = challengesOf('things');

interface User {
  readonly kind: 'user';
}

/** The result of a request: a value, or the code and the challenge of a problem. */
type Outcome = { readonly value: unknown } | { readonly code: string; readonly challenge: string | undefined };

/** The server passes requests from a socket to the function under test. */
const verified: string[] = [];
let verify: (token: string, note: string) => Promise<User | undefined>;
let work: (req: Request) => unknown;
let outcome: Outcome;

const server = createServer({ maxHeaderSize: 16_384 }, async (incoming, res) => {
  // The body is parsed as by a middleware, because the strategy would look for a token in it.
  // Has all members that are read.
  const req = Object.assign(incoming, { body: await bodyOf(incoming), res }) as Request;
  outcome = await Promise.resolve()
    .then(() => work(req))
    .then(
      (value) => ({ value }),
      (error: unknown) => {
        if (!(error instanceof Problem)) return { value: error };
        return { code: error.code, challenge: error.headers['WWW-Authenticate'] };
      },
    );
  res.end();
});

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  let body = '';
  for await (const chunk of incoming) body += chunk;
  if (body === '') return undefined;
  return incoming.headers['content-type'] === 'application/json'
    ? JSON.parse(body)
    : Object.fromEntries(new URLSearchParams(body));
}

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});

async function send(headers: readonly string[], { path = '/', body = '' } = {}): Promise<Outcome> {
  // The server listens on a port.
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const length = body === '' ? [] : [`Content-Length: ${body.length}`];
  socket.write(
    [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...headers, ...length, '', body].join('\r\n'),
  );
  outcome = { value: 'the request did not arrive' };
  for await (const _ of socket);
  return outcome;
}

const malformed = { code: 'invalid_request', challenge: 'Bearer realm="things", error="invalid_request"' };
const JSON_BODY = 'Content-Type: application/json';
const FORM_BODY = 'Content-Type: application/x-www-form-urlencoded';

describe('the bearer token of a request', () => {
  beforeEach(() => {
    work = (req) => {
      const { token, problem } = readBearer(req, challenges);
      if (problem) throw problem;
      return token;
    };
  });

  test('is undefined if none is sent', async () => {
    expect(await send([])).toEqual({ value: undefined });
  });

  test.each([
    ['in its usual form', 'Authorization: Bearer abc', 'abc'],
    ['with the scheme in lower case', 'Authorization: bearer abc', 'abc'],
    ['with the scheme in upper case', 'Authorization: BEARER abc', 'abc'],
    ['with the header in lower case', 'authorization: Bearer abc', 'abc'],
    ['with all characters of its alphabet', 'Authorization: Bearer aZ09-._~+/==', 'aZ09-._~+/=='],
    ['of 8 kB', `Authorization: Bearer ${'x'.repeat(8192)}`, 'x'.repeat(8192)],
    ['with several spaces', 'Authorization: Bearer   abc', 'abc'],
  ])('is read %s', async (_, header, token) => {
    expect(await send([header])).toEqual({ value: token });
  });

  test.each([
    ['two headers', ['Authorization: Bearer abc', 'Authorization: Bearer def']],
    ['the same header twice', ['Authorization: Bearer abc', 'Authorization: Bearer abc']],
    ['two headers in different case', ['Authorization: Bearer abc', 'AUTHORIZATION: Basic eA==']],
    ['a valid header after an empty one', ['Authorization:', 'Authorization: Bearer abc']],
    ['two tokens in one header', ['Authorization: Bearer abc, Bearer def']],
    ['a tab', ['Authorization: Bearer\tabc']],
    ['an empty header', ['Authorization:']],
    ['a scheme without a token', ['Authorization: Bearer']],
    ['a token without a scheme', ['Authorization: abc']],
    ['no space', ['Authorization: Bearerabc']],
    ['another scheme', ['Authorization: Basic YTpi']],
    ['a longer scheme', ['Authorization: BearerX abc']],
    ['a parameter', ['Authorization: Bearer token="abc"']],
    ['a space in the token', ['Authorization: Bearer abc def']],
    ['a character outside the alphabet', ['Authorization: Bearer abc$']],
    ['a quote', ['Authorization: Bearer "abc"']],
    ['a letter outside ASCII', ['Authorization: Bearer abc\u00e9']],
    ['an = within the token', ['Authorization: Bearer a=b']],
    ['only =', ['Authorization: Bearer ==']],
    ['more than 8192 characters', [`Authorization: Bearer ${'x'.repeat(8193)}`]],
  ])('with %s is rejected as malformed', async (_, headers) => {
    expect(await send(headers)).toEqual(malformed);
  });

  test.each(['/?access_token=abc', '/?a=1&access_token=', '/?%61ccess_token=abc'])(
    'in the query (%s) is rejected',
    async (path) => {
      expect(await send([], { path })).toEqual(malformed);
      expect(await send(['Authorization: Bearer abc'], { path })).toEqual(malformed);
    },
  );

  test.each(['/access_token=abc', '/?token=abc', '/?Access_Token=abc'])('is not read from %s', async (path) => {
    expect(await send([], { path })).toEqual({ value: undefined });
  });
});

describe('the candidates of a request', () => {
  beforeEach(() => {
    work = (req) => readBearer(req, challenges).candidates;
  });

  test.each([
    ['no header', [], []],
    ['one header', ['Authorization: Bearer abc'], ['abc']],
    ['two headers', ['Authorization: Bearer abc', 'AUTHORIZATION: bearer def'], ['abc', 'def']],
    ['an additional header of another scheme', ['Authorization: Basic eA==', 'Authorization: Bearer abc'], ['abc']],
    ['two spaces', ['Authorization: Bearer  abc'], ['abc']],
    ['a malformed token', ['Authorization: Bearer abc$'], []],
  ])('are the tokens of all Authorization headers: %s', async (_, headers, candidates) => {
    expect(await send(headers)).toEqual({ value: candidates });
  });
});

describe('authentication', () => {
  beforeEach(() => {
    verified.length = 0;
    verify = async (token) => {
      verified.push(token);
      return token === 'good' ? { kind: 'user' } : undefined;
    };
    const authenticate: Authenticate<User, string> = createAuthenticator<User, string>(
      (token, note) => verify(token, note),
      challenges,
    );
    work = (req) => authenticate(readBearer(req, challenges), 'a note');
  });

  test('resolves to the principal of the token', async () => {
    expect(await send(['Authorization: Bearer good'])).toEqual({ value: { kind: 'user' } });
  });

  test('of a request without a token resolves to undefined without verification', async () => {
    expect(await send([])).toEqual({ value: undefined });
    expect(verified).toEqual([]);
  });

  test('rejects an unknown token', async () => {
    expect(await send(['Authorization: Bearer bad'])).toEqual({
      code: 'invalid_token',
      challenge: 'Bearer realm="things", error="invalid_token"',
    });
  });

  test('rejects a malformed header without verification', async () => {
    expect(await send(['Authorization: Basic eA=='])).toEqual(malformed);
    expect(verified).toEqual([]);
  });

  test.each([
    ['a JSON body', JSON_BODY, '{"access_token":"good"}'],
    ['an array in a JSON body', JSON_BODY, '{"access_token":["good"]}'],
    ['an object in a JSON body', JSON_BODY, '{"access_token":{"a":"good"}}'],
    ['a form', FORM_BODY, 'access_token=good'],
  ])('ignores a token in %s', async (_, type, body) => {
    expect(await send([type], { body })).toEqual({ value: undefined });
    expect(verified).toEqual([]);
  });

  test('uses the token of the header also if the body has another one', async () => {
    const body = '{"access_token":"good"}';
    expect(await send(['Authorization: Bearer bad', JSON_BODY], { body })).toMatchObject({ code: 'invalid_token' });
    expect(await send(['Authorization: Bearer good', JSON_BODY], { body: '{"access_token":"bad"}' })).toEqual({
      value: { kind: 'user' },
    });
    expect(verified).toEqual(['bad', 'good']);
  });

  test('passes the request argument on to the verification', async () => {
    verify = async (_token, note) => (note === 'a note' ? { kind: 'user' } : undefined);
    expect(await send(['Authorization: Bearer good'])).toEqual({ value: { kind: 'user' } });
  });

  test('rejects with the error of a verification that fails', async () => {
    const failure = new Error('database unavailable');
    verify = () => Promise.reject(failure);
    expect(await send(['Authorization: Bearer good'])).toEqual({ value: failure });
  });

  test('rejects with the problem of the verification', async () => {
    verify = () => Promise.reject(new Problem('unavailable'));
    expect(await send(['Authorization: Bearer good'])).toMatchObject({ code: 'unavailable' });
  });
});
