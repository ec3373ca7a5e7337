import { describe, expect, test } from '@jest/globals';
import { CallError, createClient, type Incoming, type Outgoing } from '../src/index.ts';
import { endpoints } from './things.ts';

const TOKEN = 'svcc_0123456789abcdef';

/** A client whose requests are kept, and get the answer that is given. */
function clientOf(answer: Partial<Incoming> | Error, baseUrl = 'https://hub.example.test') {
  const sent: Outgoing[] = [];
  const client = createClient(endpoints, {
    baseUrl,
    token: TOKEN,
    send: async (request) => {
      sent.push(request);
      if (answer instanceof Error) throw answer;
      return { status: 200, headers: {}, body: '{}', ...answer };
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
      return error as CallError; // the line above made sure
    },
  );

describe('a request', () => {
  const things = { body: '{"things":[]}' };
  const thing = { body: '{"id":"1"}' };

  test('carries the token in its Authorization header, and nowhere else', async () => {
    const { client, sent } = clientOf(things);
    await client.listThings();
    expect(sent).toEqual([
      {
        method: 'GET',
        url: new URL('https://hub.example.test/api/v1/things'),
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
  ])('to the base URL %s goes to %s', async (baseUrl, expected) => {
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
    'with the path parameter %p is never sent: it would go elsewhere',
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
    ['of another shape', '{"things":"a"}'],
    ['that is no JSON', '<html>'],
    ['that is empty', ''],
    ['that was cut off', '{"things":["a"'],
  ])('%s is unreadable', async (_, body) => {
    const { client } = clientOf({ body });
    const { failure, message } = await failureOf(client.listThings());
    expect(failure).toEqual({ kind: 'unreadable', status: 200 });
    expect(message).toBe('listThings: answered 200 with a body that does not fit the contract');
  });
});

describe('a refusal', () => {
  const problem = {
    type: 'about:blank',
    title: 'Too many requests',
    status: 429,
    detail: 'wait',
    code: 'rate_limited',
    request_id: 'r',
  };

  test('has its status, its code and its Retry-After', async () => {
    const { client } = clientOf({ status: 429, headers: { 'retry-after': '7' }, body: JSON.stringify(problem) });
    const { failure, message } = await failureOf(client.listThings());
    expect(failure).toEqual({ kind: 'refused', status: 429, code: 'rate_limited', retryAfter: '7' });
    expect(message).toBe('listThings: answered 429 (rate_limited)');
  });

  test.each([
    ['a page of a proxy', '<html>502</html>'],
    ['a code that is not ours', JSON.stringify({ ...problem, code: 'of_somebody_else' })],
  ])('has no code when its body is %s', async (_, body) => {
    const { client } = clientOf({ status: 502, body });
    expect((await failureOf(client.listThings())).failure).toEqual({ kind: 'refused', status: 502 });
  });

  test.each([201, 204, 302])('is any other status, %p too', async (status) => {
    const { client } = clientOf({ status, body: '{"things":[]}' });
    expect((await failureOf(client.listThings())).failure).toEqual({ kind: 'refused', status });
  });
});

test('a call that gets no answer is unreachable, with its cause', async () => {
  const cause = new Error('connect ECONNREFUSED');
  const { client } = clientOf(cause);
  const { failure, message } = await failureOf(client.listThings());
  expect(failure).toEqual({ kind: 'unreachable', cause });
  expect(message).toBe('listThings: no answer');
});

test.each<[string, Partial<Incoming> | Error]>([
  ['no answer', new Error('away')],
  ['a refusal that echoes it', { status: 401, body: `{"detail":"${TOKEN}"}` }],
  ['a reply that echoes it', { status: 200, body: `"${TOKEN}"` }],
])('the token is in no error that is made of %s', async (_, answer) => {
  const error = await failureOf(clientOf(answer).client.listThings());
  expect(JSON.stringify([error.message, error.failure, error.stack])).not.toContain(TOKEN);
});
