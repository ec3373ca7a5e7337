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

/** What a request came to: a value, or the code of the problem that it met. */
type Outcome = { readonly value: unknown } | { readonly code: string; readonly challenge: string | undefined };

/** Requests as they are on the wire, met by what is under test. */
const verified: string[] = [];
let verify: (token: string, note: string) => Promise<User | undefined>;
let work: (req: Request) => unknown;
let outcome: Outcome;

const server = createServer({ maxHeaderSize: 16_384 }, async (incoming, res) => {
  // Somebody parsed the body before, and left what the strategy would look for.
  const req = Object.assign(incoming, { body: await bodyOf(incoming), res }) as Request; // with all that is read of one
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
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // it listens on a port
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

  test('is undefined when none is sent', async () => {
    expect(await send([])).toEqual({ value: undefined });
  });

  test.each([
    ['as it is usually written', 'Authorization: Bearer abc', 'abc'],
    ['with the scheme in lower case', 'Authorization: bearer abc', 'abc'],
    ['with the scheme in upper case', 'Authorization: BEARER abc', 'abc'],
    ['with the header in lower case', 'authorization: Bearer abc', 'abc'],
    ['with every sign of its alphabet', 'Authorization: Bearer aZ09-._~+/==', 'aZ09-._~+/=='],
    ['of 8 kB', `Authorization: Bearer ${'x'.repeat(8192)}`, 'x'.repeat(8192)],
  ])('is read %s', async (_, header, token) => {
    expect(await send([header])).toEqual({ value: token });
  });

  test.each([
    ['two headers', ['Authorization: Bearer abc', 'Authorization: Bearer def']],
    ['the same header twice', ['Authorization: Bearer abc', 'Authorization: Bearer abc']],
    ['two headers in other letters', ['Authorization: Bearer abc', 'AUTHORIZATION: Basic eA==']],
    ['a good one behind an empty one', ['Authorization:', 'Authorization: Bearer abc']],
    ['two tokens in one header', ['Authorization: Bearer abc, Bearer def']],
    ['two blanks', ['Authorization: Bearer  abc']],
    ['a tab', ['Authorization: Bearer\tabc']],
    ['nothing in the header', ['Authorization:']],
    ['a scheme without a token', ['Authorization: Bearer']],
    ['a token without a scheme', ['Authorization: abc']],
    ['no blank', ['Authorization: Bearerabc']],
    ['another scheme', ['Authorization: Basic YTpi']],
    ['a longer scheme', ['Authorization: BearerX abc']],
    ['a parameter', ['Authorization: Bearer token="abc"']],
    ['a blank inside', ['Authorization: Bearer abc def']],
    ['a sign outside the alphabet', ['Authorization: Bearer abc$']],
    ['a quote', ['Authorization: Bearer "abc"']],
    ['a letter outside ASCII', ['Authorization: Bearer abc\u00e9']],
    ['an = inside', ['Authorization: Bearer a=b']],
    ['nothing but =', ['Authorization: Bearer ==']],
    ['8 kB and one character', [`Authorization: Bearer ${'x'.repeat(8193)}`]],
  ])('with %s is refused, never taken for none', async (_, headers) => {
    expect(await send(headers)).toEqual(malformed);
  });

  test.each(['/?access_token=abc', '/?a=1&access_token=', '/?%61ccess_token=abc'])(
    'in the query (%s) is refused',
    async (path) => {
      expect(await send([], { path })).toEqual(malformed);
      expect(await send(['Authorization: Bearer abc'], { path })).toEqual(malformed);
    },
  );

  test.each(['/access_token=abc', '/?token=abc', '/?Access_Token=abc'])('is not looked for in %s', async (path) => {
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
    ['a header of another scheme beside it', ['Authorization: Basic eA==', 'Authorization: Bearer abc'], ['abc']],
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

  test('finds out whose token it is', async () => {
    expect(await send(['Authorization: Bearer good'])).toEqual({ value: { kind: 'user' } });
  });

  test('of a request without a token is nobody, and asks nobody', async () => {
    expect(await send([])).toEqual({ value: undefined });
    expect(verified).toEqual([]);
  });

  test('refuses a token that nobody knows: it is never taken for none', async () => {
    expect(await send(['Authorization: Bearer bad'])).toEqual({
      code: 'invalid_token',
      challenge: 'Bearer realm="things", error="invalid_token"',
    });
  });

  test('refuses a malformed header before any token is looked up', async () => {
    expect(await send(['Authorization: Basic eA=='])).toEqual(malformed);
    expect(verified).toEqual([]);
  });

  test.each([
    ['a JSON body', JSON_BODY, '{"access_token":"good"}'],
    ['a list in a JSON body', JSON_BODY, '{"access_token":["good"]}'],
    ['an object in a JSON body', JSON_BODY, '{"access_token":{"a":"good"}}'],
    ['a form', FORM_BODY, 'access_token=good'],
  ])('never counts a token in %s', async (_, type, body) => {
    expect(await send([type], { body })).toEqual({ value: undefined });
    expect(verified).toEqual([]);
  });

  test('counts the header’s token, whatever a body says', async () => {
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

  test('that fails for reasons of its own is a failure, not a refusal', async () => {
    const failure = new Error('the database is away');
    verify = () => Promise.reject(failure);
    expect(await send(['Authorization: Bearer good'])).toEqual({ value: failure });
  });

  test('passes on the problem that it meets', async () => {
    verify = () => Promise.reject(new Problem('unavailable'));
    expect(await send(['Authorization: Bearer good'])).toMatchObject({ code: 'unavailable' });
  });
});
