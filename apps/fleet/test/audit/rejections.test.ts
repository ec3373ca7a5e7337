// Requests beyond the rate limit, with pauses that end when the test says so.
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createHttpServer } from '@svc/http';
import { eventually } from '@svc/testing';
import { startWorld, type TestToken } from '../world.ts';

const MAX_WAITING = 8;
const MAX_PER_CONNECTION = 20;
const TEMPLATES = '/api/v1/catalog/templates';

/** The ends of the pauses that have begun. */
const pauses: (() => void)[] = [];
let isPausing = true;

const world = await startWorld({
  requestsPerMinute: 1,
  rejectionLimits: {
    pause: () => (isPausing ? new Promise<void>((resolve) => pauses.push(resolve)) : Promise.resolve()),
    maxWaiting: MAX_WAITING,
    maxPerConnection: MAX_PER_CONNECTION,
  },
});
const { client } = world.database;
const server = createHttpServer(world.app).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // the server listens on a port

beforeAll(async () => {
  // All further requests exceed the rate limit.
  expect((await send(await world.aToken())).statusCode).toBe(200);
});
beforeEach(() => {
  isPausing = true;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.stop();
});

interface Sent {
  readonly path?: string;
  readonly agent?: Agent | false;
}

/** Sends a request, and receives its response. */
async function send({ secret }: TestToken, { path = TEMPLATES, agent = false }: Sent = {}): Promise<IncomingMessage> {
  const request = get({ port, host: '127.0.0.1', path, agent, headers: { authorization: `Bearer ${secret}` } });
  const [response] = await once(request, 'response');
  await response.toArray();
  return response;
}

const entriesOf = ({ id }: TestToken) => client.auditEntry.findMany({ where: { token_id: id } });

const entryCount = async (token: TestToken) => (await entriesOf(token)).length;

/**
 * Sends requests at the same time, and waits until all of them have entries. Their results are in
 * the order of arrival.
 */
async function sendTogether(token: TestToken, count: number) {
  const answered: number[] = [];
  const sent = Array.from({ length: count }, () =>
    send(token).then(({ statusCode = 0 }) => void answered.push(statusCode)),
  );
  await eventually(`${count} requests have entries`, () => entryCount(token), {
    until: (entries) => entries === count,
  });
  return { answered, all: Promise.all(sent) };
}

const endPause = async () => {
  await eventually('a pause has begun', () => pauses.length > 0);
  pauses.shift()?.();
};

test('concurrent requests of a token beyond the rate limit are answered one at a time, each after a pause', async () => {
  const token = await world.aToken();
  const { answered, all } = await sendTogether(token, 5);
  for (let n = 0; n < 5; n += 1) {
    await eventually('a pause has begun', () => pauses.length > 0);
    expect({ answered, pauses }).toEqual({
      answered: Array.from({ length: n }, () => 429),
      pauses: [expect.any(Function)],
    });
    await endPause();
    await eventually('another request is answered', () => answered.length > n);
  }
  await all;
  expect(pauses).toEqual([]);
  expect((await entriesOf(token)).map(({ status, path }) => [status, path])).toEqual(
    Array.from({ length: 5 }, () => [429, TEMPLATES]),
  );
});

test('a rejection does not wait for those of another token', async () => {
  const slow = await world.aToken();
  const other = await world.aToken();
  const { answered, all } = await sendTogether(slow, 3);
  const [held = () => undefined] = pauses.splice(0);
  const rejected = send(other);
  await endPause();
  expect((await rejected).statusCode).toBe(429);
  expect(answered).toEqual([]);
  isPausing = false;
  held();
  await all;
});

test('a connection is closed with its twentieth rejection, and each request has one entry', async () => {
  isPausing = false;
  const token = await world.aToken();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const used: Socket[] = [];
  for (let n = 1; n <= MAX_PER_CONNECTION + 1; n += 1) {
    const { statusCode, headers, socket } = await send(token, { agent });
    used.push(socket);
    expect({ n, statusCode, connection: headers.connection }).toEqual({
      n,
      statusCode: 429,
      connection: n === MAX_PER_CONNECTION ? 'close' : 'keep-alive',
    });
  }
  agent.destroy();
  expect(await entryCount(token)).toBe(MAX_PER_CONNECTION + 1);
});

test('a request that finds too many rejections of its token waiting is not answered and has no entry', async () => {
  const token = await world.aToken();
  const { answered, all } = await sendTogether(token, MAX_WAITING);
  await expect(send(token)).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(send(token)).rejects.toMatchObject({ code: 'ECONNRESET' });
  isPausing = false;
  for (const end of pauses.splice(0)) end();
  await all;
  expect(answered).toHaveLength(MAX_WAITING);
  expect(await entryCount(token)).toBe(MAX_WAITING);
  expect((await send(token)).statusCode).toBe(429);
  const metrics = await world.nobody.get('/metrics');
  expect(metrics.text).toMatch(/http_connections_closed_total\{reason="rate_limited"\} 2/);
});

test('a rejection keeps its place and its entry if the client disconnects', async () => {
  const token = await world.aToken();
  const { all } = await sendTogether(token, 1);
  for (let n = 1; n < MAX_WAITING; n += 1) {
    const agent = new Agent();
    const abandoned = send(token, { agent }).catch(() => undefined);
    await eventually('the request has an entry', async () => (await entryCount(token)) === n + 1);
    agent.destroy();
    await abandoned;
  }
  await expect(send(token)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await entryCount(token)).toBe(MAX_WAITING);
  isPausing = false;
  for (const end of pauses.splice(0)) end();
  await all;
});

test('the rate limit applies to requests with a token to the probes and metrics, and not to those without', async () => {
  isPausing = false;
  const token = await world.aToken();
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await send(token, { path })).statusCode).toBe(429);
    expect((await world.nobody.get(path)).status).toBe(200);
  }
});

test('an audit entry has the first 1,024 characters of a path, without the credentials in it', async () => {
  isPausing = false;
  const token = await world.aToken();
  const start = `${TEMPLATES}/${token.secret}/`;
  await send(token, { path: start + 'x'.repeat(5000) });
  const [entry] = await entriesOf(token);
  expect(entry?.path).toBe(`${TEMPLATES}/[credential]/${'x'.repeat(5000)}`.slice(0, 1024));
});
