import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
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
