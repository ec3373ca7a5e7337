import { newSecretToken } from '@svc/auth';
import { eventually } from '@svc/testing';
import type { Exchange } from '../fake-hub.ts';
import { requestText } from '../raw.ts';
import type { TestToken } from '../world.ts';
import { bearer, startWireWorld } from './world.ts';

const { hub, world, fleet, client, entriesOf } = await startWireWorld();

const SYNC = '/api/v1/catalog/sync';
const TEMPLATES = '/api/v1/catalog/templates';
const JSON_BODY = 'Content-Type: application/json';
const MEGABYTE = JSON.stringify('x'.repeat(1_000_000));

interface Case {
  readonly what: string;
  readonly line: string;
  readonly path?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly status: number;
}

const cases: readonly Case[] = [
  { what: 'a list', line: `GET ${TEMPLATES}?search=something&limit=5`, path: TEMPLATES, status: 200 },
  {
    what: 'a template that does not exist',
    line: `GET ${TEMPLATES}/nothing`,
    path: `${TEMPLATES}/nothing`,
    status: 404,
  },
  { what: 'an unknown path', line: 'GET /nothing/here', path: '/nothing/here', status: 404 },
  { what: 'a PUT to an unknown path', line: 'PUT /nothing/here', path: '/nothing/here', status: 404 },
  { what: 'a method that the path does not support', line: `DELETE ${TEMPLATES}`, path: TEMPLATES, status: 405 },
  { what: 'an unusual method', line: `PROPFIND ${TEMPLATES}`, path: TEMPLATES, status: 405 },
  { what: 'a body that is too large', line: `POST ${SYNC}`, headers: [JSON_BODY], body: MEGABYTE, status: 413 },
  {
    what: 'a body of another type',
    line: `POST ${SYNC}`,
    headers: ['Content-Type: text/plain'],
    body: 'x',
    status: 415,
  },
  { what: 'a body that is not JSON', line: `POST ${SYNC}`, headers: [JSON_BODY], body: '{"', status: 400 },
  { what: 'an unknown member', line: `POST ${SYNC}`, headers: [JSON_BODY], body: '{"a":1}', status: 400 },
  { what: 'an unknown parameter', line: `GET ${SYNC}?a=1`, path: SYNC, status: 400 },
  { what: 'a role that is too low', line: `POST ${SYNC}`, path: SYNC, status: 403 },
  { what: 'an access token in the query', line: `GET ${SYNC}?access_token=x`, path: SYNC, status: 400 },
  { what: 'a path that is not UTF-8', line: `GET ${TEMPLATES}/%ff`, path: `${TEMPLATES}/%ff`, status: 400 },
  { what: 'the health check', line: 'GET /healthz', path: '/healthz', status: 200 },
  { what: 'the readiness check', line: 'GET /readyz', path: '/readyz', status: 200 },
  { what: 'the metrics', line: 'GET /metrics', path: '/metrics', status: 200 },
  { what: 'the OpenAPI document', line: 'GET /openapi.json', path: '/openapi.json', status: 200 },
  { what: 'the API reference page', line: 'GET /docs', path: '/docs', status: 200 },
  { what: 'HEAD', line: `HEAD ${TEMPLATES}`, path: TEMPLATES, status: 200 },
  { what: 'OPTIONS', line: `OPTIONS ${TEMPLATES}`, path: TEMPLATES, status: 204 },
  {
    what: 'an absolute URL',
    line: 'GET http://fleet.test/nothing',
    path: 'http://fleet.test/nothing',
    status: 404,
  },
];

test.each(cases)(
  'a request with a token has one audit entry: $what, $line, $status',
  async ({ line, status, ...given }) => {
    const token = await world.aToken({ role: status === 403 ? 'viewer' : 'operator', name: 'the agent' });
    const headers = [...(given.headers ?? []), bearer(token), 'X-Request-Id: of-this-request'];
    expect(await fleet.send(requestText(line, { ...given, headers }))).toBe(status);
    expect(await entriesOf(token)).toEqual([
      {
        id: expect.any(String),
        at: expect.any(Date),
        token_id: token.id,
        user_id: null,
        actor: 'token:the agent',
        method: line.split(' ')[0],
        path: given.path ?? line.split(' ')[1],
        status,
        aborted: false,
        request_id: 'of-this-request',
        source: '127.0.0.1',
        tool: null,
        part: false,
        object_name: null,
        acknowledged: [],
      },
    ]);
  },
);

test.each([
  ['a revoked', { revoked_at: new Date() }],
  ['an expired', { expires_at: new Date(Date.now() - 1000) }],
])('a request with %s token has an audit entry for each rejection', async (_, state) => {
  const token = await world.aToken(state);
  await world.as(token).get(TEMPLATES);
  await world.as(token).get('/healthz');
  await world.as(token).get('/nothing');
  const seen = (await entriesOf(token)).map(({ path, status }) => [path, status]);
  expect(seen.sort()).toEqual([
    [TEMPLATES, 401],
    ['/healthz', 200],
    ['/nothing', 404],
  ]);
});

test.each([
  ['the same token twice', (token: TestToken) => [bearer(token), bearer(token)]],
  ['an unknown token first', (token: TestToken) => [`Authorization: Bearer ${newSecretToken('svcm_')}`, bearer(token)]],
  ['another scheme first', (token: TestToken) => ['Authorization: Basic YTpi', bearer(token)]],
])('a request with a token in two Authorization headers (%s) has one audit entry', async (_, headersOf) => {
  const token = await world.aToken();
  expect(await fleet.send(requestText(`GET ${TEMPLATES}`, { headers: headersOf(token) }))).toBe(400);
  expect(await entriesOf(token)).toMatchObject([{ status: 400, path: TEMPLATES }]);
});

test('a request with a valid token and another one in the query has an audit entry for its rejection', async () => {
  const token = await world.aToken();
  expect((await world.api(`Bearer ${token.secret}`).get(`${TEMPLATES}?access_token=another`)).status).toBe(400);
  expect(await entriesOf(token)).toMatchObject([{ status: 400 }]);
});

test('ten requests on one connection have ten audit entries', async () => {
  const token = await world.aToken();
  const keepAlive = requestText('GET /healthz', { headers: [bearer(token)] }).replace('Connection: close\r\n', '');
  const last = requestText('GET /healthz', { headers: [bearer(token)] });
  await fleet.send(keepAlive.repeat(9) + last);
  expect(await entriesOf(token)).toHaveLength(10);
});

test('an audit entry does not store a credential that was in the path', async () => {
  const token = await world.aToken();
  await world.as(token).get(`${TEMPLATES}/${token.secret}`);
  expect(await entriesOf(token)).toMatchObject([{ path: `${TEMPLATES}/[credential]` }]);
});

test('an audit entry outlives its token', async () => {
  const token = await world.aToken();
  await world.as(token).get(TEMPLATES);
  await client.token.delete({ where: { id: token.id } });
  expect(await entriesOf(token)).toHaveLength(1);
});

test('a caller without a stored token has no audit entry', async () => {
  const token = await world.aToken();
  const person = await world.asTemporaryAdmin();
  const before = await client.auditEntry.count();
  await world.nobody.get(TEMPLATES);
  await world.api(`Bearer ${newSecretToken('svcm_')}`).get(TEMPLATES);
  await world.api(`Bearer ${token.secret.slice(0, -1)}`).get(TEMPLATES);
  await world.api(`Bearer ${newSecretToken('svcc_')}`).get(TEMPLATES);
  await person.get(TEMPLATES);
  expect(await client.auditEntry.count()).toBe(before);
});

describe('a request whose caller closes the connection', () => {
  test('while it sends the body has an audit entry marked as aborted', async () => {
    const token = await world.aToken({ role: 'operator' });
    const headers = [bearer(token), JSON_BODY, 'Content-Length: 100'];
    const socket = await fleet.open(`${requestText(`POST ${SYNC}`, { headers })}{`);
    await untilUsed(token);
    socket.destroy();
    expect(await entriesWhenThere(token)).toMatchObject([{ method: 'POST', path: SYNC, status: 400, aborted: true }]);
  });

  test('while it is processed has an audit entry with the status that the response would have had', async () => {
    const token = await world.aToken({ role: 'operator' });
    const received = new Promise<Exchange>((resolve) => hub.behave(resolve));
    const socket = await fleet.open(requestText(`POST ${SYNC}`, { headers: [bearer(token)] }));
    const { res, good } = await received;
    hub.recover();
    socket.destroy();
    await fleet.deserted();
    res.writeHead(200).end(good);
    expect(await entriesWhenThere(token)).toMatchObject([{ path: SYNC, status: 200, aborted: true }]);
  });
});

/** The entries of a request whose response nobody reads, as soon as they are stored. */
const entriesWhenThere = (token: TestToken) =>
  eventually('the request has an entry', () => entriesOf(token), { until: ({ length }) => length > 0 });

/** Resolves when the fleet has started to process a request with the token. */
const untilUsed = ({ id }: TestToken) =>
  eventually(
    'the token is used',
    async () => (await client.token.findUniqueOrThrow({ where: { id } })).last_used_at !== null,
  );
