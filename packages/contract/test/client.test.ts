import { describe, expect, test } from '@jest/globals';
import { CallError, createClient, type Incoming, type Outgoing } from '../src/index.ts';
import { endpoints } from './things.ts';

const TOKEN = 'svcc_0123456789abcdef';

/** A client that records its requests, and receives the given response or error. */
function clientOf(response: Partial<Incoming> | Error, baseUrl = 'https://hub.example.test') {
  const sent: Outgoing[] = [];
  const client = createClient(endpoints, {
    baseUrl,
    token: TOKEN,
    send: async (request) => {
      sent.push(request);
      if (response instanceof Error) throw response;
      return { status: 200, headers: {}, body: '{}', ...response };
    },
  });
  return { client, sent };
}

const failureOf = (call: Promise<unknown>): Promise<CallError> =>
  call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: unknown) => {
      expect(error).toBeInstanceOf(CallError);
      return error as CallError; // asserted above
    },
  );

describe('a request', () => {
  const things = { body: '{"things":[]}' };
  const thing = { body: '{"id":"1"}' };

  test('contains the token only in its Authorization header', async () => {
    const { client, sent } = clientOf(things);
    await client.listThings();
    expect(sent).toEqual([
      {
        method: 'GET',
        url: new URL('https://hub.example.test/api/v1/things'),
        route: '/api/v1/things',
        headers: { accept: 'application/json', authorization: `Bearer ${TOKEN}` },
      },
    ]);
  });

  test('has its body as JSON', async () => {
    const { client, sent } = clientOf({ status: 201, ...thing });
    await client.createThing({ body: { name: 'é' } });
    expect(sent[0]).toMatchObject({ method: 'POST', body: '{"name":"é"}' });
    expect(sent[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
  });

  test.each([
    ['https://hub.example.test', 'https://hub.example.test/api/v1/things'],
    ['https://hub.example.test/', 'https://hub.example.test/api/v1/things'],
    ['https://hub.example.test/hub', 'https://hub.example.test/hub/api/v1/things'],
    ['https://hub.example.test/hub//', 'https://hub.example.test/hub/api/v1/things'],
  ])('with the base URL %s is sent to %s', async (baseUrl, expected) => {
    const { client, sent } = clientOf(things, baseUrl);
    await client.listThings();
    expect(sent[0]?.url.href).toBe(expected);
  });

  test.each([
    ['a/b', 'a%2Fb'],
    ['../admin', '..%2Fadmin'],
    ['a?b#c', 'a%3Fb%23c'],
    ['100%', '100%25'],
    ['é', '%C3%A9'],
  ])('has the path parameter %p encoded as %s', async (id, segment) => {
    const { client, sent } = clientOf(thing);
    await client.getThing({ params: { id } });
    expect(sent[0]?.url.href).toBe(`https://hub.example.test/api/v1/things/${segment}`);
  });

  test.each(['', '.', '..', undefined])(
    'with the path parameter %p is not sent, because it would have another path',
    async (id) => {
      const { client, sent } = clientOf(thing);
      await expect(client.getThing(id === undefined ? {} : { params: { id } })).rejects.toThrow(
        /^getThing: the path parameter id must not be/,
      );
      expect(sent).toEqual([]);
    },
  );

  test('has its query encoded', async () => {
    const { client, sent } = clientOf(things);
    await client.listThings({ query: { search: 'a&b=c +é', page: 2 } });
    expect(Object.fromEntries(sent[0]?.url.searchParams ?? [])).toEqual({ search: 'a&b=c +é', page: '2' });
  });
});

describe('a reply', () => {
  test('is parsed by its endpoint’s schema', async () => {
    const { client } = clientOf({ body: '{"things":["a"],"more":1}' });
    expect(await client.listThings()).toEqual({ things: ['a'] });
  });

  test('of 204 is undefined', async () => {
    const { client } = clientOf({ status: 204, body: '' });
    expect(await client.removeThing({ params: { id: '1' } })).toBeUndefined();
  });

  test.each([
    ['with an unexpected member type', '{"things":"a"}'],
    ['that is not JSON', '<html>'],
    ['that is empty', ''],
    ['that is truncated', '{"things":["a"'],
  ])('%s is unreadable', async (_, body) => {
    const { client } = clientOf({ body });
    const { failure, message } = await failureOf(client.listThings());
    expect(failure).toEqual({ kind: 'unreadable', status: 200 });
    expect(message).toBe('listThings: status 200 with a body that does not match the contract');
  });
});

describe('an error response', () => {
  const problem = {
    type: 'about:blank',
    title: 'Too many requests',
    status: 429,
    detail: 'wait',
    code: 'rate_limited',
    request_id: 'r',
  };

  test('results in an error with its status, code and Retry-After', async () => {
    const { client } = clientOf({ status: 429, headers: { 'retry-after': '7' }, body: JSON.stringify(problem) });
    const { failure, message } = await failureOf(client.listThings());
    expect(failure).toEqual({ kind: 'refused', status: 429, code: 'rate_limited', retryAfter: '7' });
    expect(message).toBe('listThings: status 429 (rate_limited)');
  });

  test('results in an error with its code if another version of the service sends other members', async () => {
    const { client } = clientOf({ status: 403, body: JSON.stringify({ code: 'organization_suspended', errors: 1 }) });
    const { failure } = await failureOf(client.listThings());
    expect(failure).toEqual({ kind: 'refused', status: 403, code: 'organization_suspended' });
  });

  test.each([
    ['an HTML page of a proxy', '<html>502</html>'],
    ['a problem with an unknown code', JSON.stringify({ ...problem, code: 'unknown_code' })],
  ])('results in an error without a code if its body is %s', async (_, body) => {
    const { client } = clientOf({ status: 502, body });
    expect((await failureOf(client.listThings())).failure).toEqual({ kind: 'refused', status: 502 });
  });

  test.each([201, 204, 302])('is every status other than the declared one, such as %p', async (status) => {
    const { client } = clientOf({ status, body: '{"things":[]}' });
    expect((await failureOf(client.listThings())).failure).toEqual({ kind: 'refused', status });
  });
});

test('a call without a response fails as unreachable, with its cause', async () => {
  const cause = new Error('connect ECONNREFUSED');
  const { client } = clientOf(cause);
  const { failure, message } = await failureOf(client.listThings());
  expect(failure).toEqual({ kind: 'unreachable', cause });
  expect(message).toBe('listThings: no response');
});

test.each<[string, Partial<Incoming> | Error]>([
  ['no response', new Error('connection lost')],
  ['an error response that contains the token', { status: 401, body: `{"detail":"${TOKEN}"}` }],
  ['a reply that contains the token', { status: 200, body: `"${TOKEN}"` }],
])('the error for %s does not contain the token', async (_, response) => {
  const error = await failureOf(clientOf(response).client.listThings());
  expect(JSON.stringify([error.message, error.failure, error.stack])).not.toContain(TOKEN);
});
