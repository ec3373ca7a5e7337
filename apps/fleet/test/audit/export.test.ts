import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { eventually } from '@svc/testing';
import { requestText } from '../raw.ts';
import { bearer, startWireWorld } from './world.ts';

const { world, fleet, client, entriesOf } = await startWireWorld();

const EXPORT = '/api/v1/audit/export';
const START = Date.parse('2026-03-01T00:00:00.000Z');
/** More than two of the batches in which the export reads entries. */
const MANY = 2500;
const ours = randomUUID();

const written = Array.from({ length: MANY }, (_, index) => ({
  id: randomUUID(),
  at: new Date(START + Math.floor(index / 3)),
  token_id: index % 2 === 0 ? ours : null,
  user_id: index % 2 === 0 ? null : randomUUID(),
  actor: index % 2 === 0 ? 'token:ours' : 'ada@example.test',
  method: index % 3 === 0 ? 'POST' : 'GET',
  path: index % 4 === 0 ? '/a' : '/b \u2028"',
  status: index % 5 === 0 ? 404 : 200,
  aborted: index === 7,
  request_id: `r${index}`,
  source: index % 3 === 0 ? '198.18.0.1' : null,
  tool: index % 4 === 0 ? 'get_template' : null,
  part: index % 8 === 0,
  object_name: index % 3 === 0 ? 'web' : null,
  acknowledged: index % 4 === 0 ? [randomUUID()] : [],
}));
await client.auditEntry.createMany({ data: written });
const newestFirst = [...written].sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1));
/** Only the entries that this file has written. */
const span = `from=${new Date(START).toISOString()}&to=${new Date(START + MANY).toISOString()}`;

const exported = async (query: string) => {
  const { text } = await world.asAdmin.get(`${EXPORT}?${query}`);
  if (text !== '') expect(text.at(-1)).toBe('\n');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};

test('the export has one line for each audit entry, newest first, in the format of the list', async () => {
  const { status, headers } = await world.asAdmin.get(`${EXPORT}?${span}`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/x-ndjson');
  const lines = await exported(span);
  expect(lines).toEqual(newestFirst.map((entry) => ({ ...entry, at: entry.at.toISOString() })));
  const { body } = await world.asAdmin.get(`/api/v1/audit?${span}&limit=1000`);
  expect(lines.slice(0, 1000)).toEqual(body.entries);
});

test.each<[string, (entry: (typeof written)[number]) => boolean]>([
  [`token_id=${ours}`, ({ token_id }) => token_id === ours],
  ['actor=ada@example.test', ({ actor }) => actor === 'ada@example.test'],
  ['method=POST', ({ method }) => method === 'POST'],
  ['path=/a', ({ path }) => path === '/a'],
  ['status=404', ({ status }) => status === 404],
  ['status=500', () => false],
])('an export of the audit log can be filtered by %s', async (filter, isWanted) => {
  const lines = await exported(`${span}&${filter}`);
  expect(lines.map(({ id }) => id)).toEqual(newestFirst.filter(isWanted).map(({ id }) => id));
});

interface Line {
  readonly id: string;
  readonly path: string;
  readonly cursor: string;
}

test('with a cursor, the export has the entries in the order in which they were recorded, and each line continues', async () => {
  const lines: Line[] = await exported('cursor=start');
  const recorded = await client.$queryRaw<{ id: string }[]>`SELECT id FROM audit_entries ORDER BY seq`;
  expect(lines.map(({ id }) => id)).toEqual(recorded.slice(0, -1).map(({ id }) => id)); // without that of the export
  const rest: Line[] = await exported(`cursor=${lines.at(-3)?.cursor}`);
  expect(rest.map(({ id }) => id)).toEqual(recorded.slice(-3).map(({ id }) => id));
  expect(rest.slice(0, 2)).toEqual(lines.slice(-2));
});

test('an export with a cursor contains the entry of the export before it, and an entry that commits late in its order', async () => {
  const { cursor } = (await exported('cursor=start')).at(-1);
  const token = await world.aToken({ role: 'admin' });
  const { exporting, first } = await client.$transaction(async (transaction) => {
    const { id } = await transaction.auditEntry.create({
      data: { actor: 'late', method: 'POST', path: '/late', status: 200, request_id: '' },
    });
    expect((await world.as(token).get(`${EXPORT}?${span}`)).status).toBe(200);
    const exporting: Promise<Line[]> = exported(`cursor=${cursor}`);
    await eventually('the entry of a request is visible', () => entriesOf(token), {
      until: ({ length }) => length === 1,
    });
    return { exporting, first: id };
  });
  const lines = await exporting;
  expect(lines.map(({ path }) => path)).toEqual([EXPORT, '/late', EXPORT]);
  expect(lines[1]?.id).toBe(first);
});

test.each(['limit=5', 'cursor=x', 'status=99', 'from=yesterday', 'page=1'])(
  'an export of the audit log with %s is a 400 that names the parameter',
  async (query) => {
    const { status, body } = await world.asAdmin.get(`${EXPORT}?${query}`);
    expect({ status, path: body.errors?.[0].path }).toEqual({ status: 400, path: query.split('=')[0] });
  },
);

test('an export of the audit log has one entry', async () => {
  const token = await world.aToken({ role: 'admin' });
  await world.as(token).get(`${EXPORT}?${span}`);
  expect(await entriesOf(token)).toMatchObject([{ path: EXPORT, status: 200, aborted: false }]);
});

test('an export of the audit log has its entry before the first line is sent, also if the caller aborts it', async () => {
  const token = await world.aToken({ role: 'admin' });
  const socket = await fleet.open(requestText(`GET ${EXPORT}?${span}`, { headers: [bearer(token)] }));
  await once(socket, 'readable');
  socket.destroy();
  await fleet.deserted();
  expect(await entriesOf(token)).toMatchObject([{ path: EXPORT, status: 200 }]);
});

test('while audit entries cannot be stored, the export is answered 503 and sends no line', async () => {
  await client.$executeRaw`ALTER TABLE audit_entries ADD CONSTRAINT refused CHECK (status <> 200) NOT VALID`;
  const { status, body } = await world.asAdmin.get(`${EXPORT}?${span}`);
  await client.$executeRaw`ALTER TABLE audit_entries DROP CONSTRAINT refused`;
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
});
