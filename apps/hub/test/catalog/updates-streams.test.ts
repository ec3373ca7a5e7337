// Responses to `since` that are so large that they are streamed, on a hub with the smallest number
// of connections.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@svc/testing';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const UPDATES = '/api/v1/catalog/templates/updates';
const ALL = `${UPDATES}?since=1970-01-01T00:00:00Z`;
const LARGE = 40;
const MEGABYTE = 1_000_000;

const world = await startWorld({
  limits: { connections: 6 },
  // Readers that stop to read keep their slots until the test closes them.
  streamLimits: {
    total: 8,
    perCaller: 2,
    anonymous: 4,
    pace: { durationMs: 600_000, bytesPerSecond: 1, allowanceMs: 600_000 },
  },
});
const { database } = world;
const sockets = new Set<Socket>();
const server = createServer(world.app).listen(0, '127.0.0.1');
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // the server listens on a port

const organization = await world.anOrganization();
const { id: category } = await world.aCategory();
// One statement for each template stays within the timeout of a statement on a busy machine.
for (let number = 1; number <= LARGE; number += 1) {
  await writeCatalog(
    database,
    (catalog) => catalog.$executeRaw`
    INSERT INTO templates (id, name, slug, sort_name, search_text, category_id, documentation)
    VALUES (gen_random_uuid(), ${`large ${number}`}, ${`large-${number}`}, '', '', ${category}::uuid,
      repeat('x', ${MEGABYTE}::int))`,
  );
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await eventually('all connections are closed', () => sockets.size, { until: (count) => count === 0 });
});
afterAll(async () => {
  server.close();
  await world.stop();
});

interface Caller {
  readonly key?: string;
  readonly localAddress?: string;
}

/**
 * Sends a request for all changes and receives the head of the response. The body is not read yet.
 */
async function open({ key, localAddress = '127.0.0.1' }: Caller = {}, path = ALL): Promise<IncomingMessage> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const request = get({ port, host: '127.0.0.1', path, headers, localAddress, agent: false });
  const [response] = await once(request, 'response');
  return response;
}

/**
 * Waits until the client has not read for so long that the response has stopped. @returns the
 * unsent bytes
 */
async function stalled(response: IncomingMessage): Promise<number> {
  const { localPort } = response.socket;
  const socket = [...sockets].find(({ remotePort }) => remotePort === localPort);
  if (!socket) throw new Error('the connection is closed');
  for (let seen = -1, same = 0; same < 20; await wait(5)) {
    same = socket.writableLength > 0 && socket.bytesWritten === seen ? same + 1 : 0;
    seen = socket.bytesWritten;
  }
  return socket.writableLength;
}

const bodyOf = async (response: IncomingMessage): Promise<string> =>
  (await response.setEncoding('utf8').toArray()).join('');

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

const catalogIds = async () =>
  idsOf(await database.client.template.findMany({ select: { id: true }, orderBy: { id: 'asc' } }));

test('a large response has each template once, and checked_at is its last member', async () => {
  const text = await bodyOf(await open());
  const { templates, removed, checked_at, cursor, reset, has_more } = JSON.parse(text);
  expect(idsOf(templates)).toEqual(await catalogIds());
  expect({ removed, reset, has_more }).toEqual({ removed: [], reset: false, has_more: false });
  expect(text.endsWith(`"checked_at":"${checked_at}"}`)).toBe(true);
  for (const query of [`since=${checked_at}`, `cursor=${cursor}`]) {
    const { status, body } = await world.anonymous.get(`${UPDATES}?${query}`);
    expect({ status, templates: body.templates, reset: body.reset }).toEqual({
      status: 200,
      templates: [],
      reset: false,
    });
  }
});

test('a large response has an entity tag with which it is not sent again, and HEAD takes no place', async () => {
  const held = [await open(organization), await open(organization)];
  const head = await world.as(organization).send({ method: 'HEAD', path: ALL });
  expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: undefined });
  const etag = held[0]?.headers.etag ?? '';
  expect(head.headers.etag).toBe(etag);
  const { status } = await world.as(organization).get(ALL, { 'If-None-Match': etag });
  expect(status).toBe(304);
});

test('a client that does not read has only a part of a large response in memory', async () => {
  const response = await open();
  expect(await stalled(response)).toBeLessThan(4 * MEGABYTE);
  expect(JSON.parse(await bodyOf(response)).templates).toHaveLength(LARGE);
});

test('templates withdrawn during a large response are not sent, and changes during it are in the next one', async () => {
  const ids = await catalogIds();
  const [first = ''] = ids;
  const [hidden = '', deleted = '', changed = ''] = ids.slice(-3);
  const response = await open(organization);
  await stalled(response);
  const added = await world.aTemplate({ category_id: category });
  await writeCatalog(database, async ({ template }) => {
    await template.update({ where: { id: first }, data: { description: 'new' } });
    await template.update({ where: { id: hidden }, data: { is_public: false, name: 'confidential' } });
    await template.delete({ where: { id: deleted } });
    await template.update({ where: { id: changed }, data: { description: 'new' } });
  });
  const text = await bodyOf(response);
  expect(text).not.toContain('confidential');
  const streamed = JSON.parse(text);
  expect(idsOf(streamed.templates)).toEqual(ids.slice(0, -3));
  expect(idsOf(streamed.removed).sort()).toEqual([hidden, deleted].sort());

  const next = (await world.as(organization).get(`${UPDATES}?since=${streamed.checked_at}`)).body;
  expect(idsOf(next.templates).sort()).toEqual([first, changed, added.id].sort());
  expect(idsOf(next.removed).sort()).toEqual([hidden, deleted].sort());
});

test('a template that cannot be presented closes the connection before the JSON is complete', async () => {
  const id = (await catalogIds()).at(-1) ?? '';
  const set = (env: object) =>
    writeCatalog(database, ({ template }) => template.update({ where: { id }, data: { env } }));
  await set({ not: 'a list' });
  const response = await open();
  expect(response.statusCode).toBe(200);
  let text = '';
  const received = async () => {
    for await (const chunk of response) text += chunk;
  };
  await expect(received()).rejects.toThrow('aborted');
  expect(text).toMatch(/^\{"templates":\[\{/);
  expect(text).not.toContain('checked_at');
  await set([]);
});

test('a response is closed before the JSON is complete if the history that it needs is pruned meanwhile', async () => {
  const { at } = await database.client.catalogClock.findFirstOrThrow();
  const response = await open();
  await stalled(response);
  const floor = (to: Date | null) => database.client.$executeRaw`UPDATE catalog_clock SET floor = ${to}`;
  await floor(at);
  await expect(bodyOf(response)).rejects.toThrow('aborted');
  await floor(null);
});

test('a caller with its share of large responses gets 503 overloaded, and other callers are served', async () => {
  const other = await world.anOrganization();
  const held = [await open(organization), await open(organization)];
  await Promise.all(held.map(stalled));
  const refused = await world.as(organization).get(ALL);
  expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded' }, headers: { 'retry-after': '10' } });
  expect(JSON.parse(await bodyOf(await open(other))).templates.length).toBeGreaterThan(LARGE - 3);
  held[0]?.destroy();
  const statusOfAnother = async () => {
    const again = await open(organization);
    again.destroy();
    return again.statusCode;
  };
  await eventually('another response is sent', statusOfAnother, { until: (status) => status === 200 });
});

test('anonymous networks share half of the large responses, and the last one is for a network without any', async () => {
  const statusOf = async (n: number) => (await open({ localAddress: `127.0.0.${n}` })).statusCode;
  for (const n of [2, 2, 3]) expect(await statusOf(n)).toBe(200);
  expect(await statusOf(3)).toBe(503);
  expect(await statusOf(4)).toBe(200);
  expect(await statusOf(5)).toBe(503);
  expect((await open(organization)).statusCode).toBe(200);
});

test('requests with few changes are served while slow readers hold all large responses', async () => {
  const { at } = await database.client.catalogClock.findFirstOrThrow();
  for (let n = 0; n < 8; n += 1) {
    const response = await open(await world.anOrganization());
    expect(response.statusCode).toBe(200);
    await stalled(response);
  }
  const { id } = await world.aTemplate({ category_id: category });
  const admin = await world.aUser('admin');
  for (const caller of [world.anonymous, world.as(organization), admin]) {
    expect((await caller.get(ALL)).body.code).toBe('overloaded');
    const { status, body } = await caller.get(`${UPDATES}?since=${at.toISOString()}`);
    expect(status).toBe(200);
    expect(idsOf(body.templates)).toEqual([id]);
  }
});

test('a walk over more templates than one statement examines has each once, whatever was pruned before it', async () => {
  const count = 1100;
  await writeCatalog(
    database,
    (catalog) => catalog.$executeRaw`
    INSERT INTO templates (id, name, slug, sort_name, search_text, category_id, documentation)
    SELECT gen_random_uuid(), 'small ' || number, 'small-' || number, '', '', ${category}::uuid, ''
    FROM generate_series(1, ${count}::int) number`,
  );
  const where = { category_id: category, is_public: true };
  const expected = idsOf(
    await database.client.template.findMany({ where, select: { id: true }, orderBy: { id: 'asc' } }),
  );
  expect(expected.length).toBeGreaterThan(count);
  const floor = (to: string | null) => database.client.$executeRaw`UPDATE catalog_clock SET floor = ${to}::timestamptz`;
  await floor('2000-01-02T00:00:00Z');
  for (const [since, reset] of [
    ['2000-01-03T00:00:00Z', false],
    ['2000-01-02T00:00:00Z', false],
    ['2000-01-01T00:00:00Z', true],
  ] as const) {
    const body = JSON.parse(await bodyOf(await open({}, `${UPDATES}?since=${since}`)));
    expect({ since, reset: body.reset, ids: idsOf(body.templates) }).toEqual({ since, reset, ids: expected });
  }
  await floor(null);
});
