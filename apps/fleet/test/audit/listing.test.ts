import { randomUUID } from 'node:crypto';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

const AUDIT = '/api/v1/audit';
const SIGN_IN = '/api/v1/auth/oidc/callback';
const START = Date.parse('2026-03-01T00:00:00.000Z');
/** Three entries in each millisecond, so that the order of these is the order of their IDs. */
const momentOf = (index: number) => new Date(START + Math.floor(index / 3));
const ours = randomUUID();
const others = randomUUID();

/** With one request of an agent, one plan, and one sign-in at the identity provider. */
function pathOf(index: number): string {
  if (index === 3) return SIGN_IN;
  if (index === 4) return '/mcp';
  if (index === 7) return '/api/v1/deployments/plan';
  return index % 4 === 0 ? '/api/v1/users/1' : '/api/v1/user_settings';
}

const written = Array.from({ length: 40 }, (_, index) => ({
  id: randomUUID(),
  at: momentOf(index),
  token_id: index % 2 === 0 ? ours : others,
  user_id: null,
  actor: `token:${index % 2 === 0 ? 'ours' : 'others'}`,
  method: ['GET', 'POST', 'DELETE'][index % 3] ?? '',
  path: pathOf(index),
  status: index % 5 === 0 ? 404 : 200,
  aborted: index === 7,
  request_id: `r${index}`,
  source: index % 2 === 0 ? '198.18.0.1' : null,
  tool: index % 4 === 0 ? 'get_template' : null,
  part: index % 8 === 0,
  object_name: index % 3 === 0 ? null : `object-${index}`,
  acknowledged: index % 4 === 0 ? [randomUUID()] : [],
}));
await client.auditEntry.createMany({ data: written });

/** Newest first, and by ID for entries of the same time. */
const newestFirst = [...written].sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1));
/** Only the entries that this file has written: each list request adds an entry. */
const span = `from=${new Date(START).toISOString()}&to=${new Date(START + 1000).toISOString()}`;
const list = async (query: string) => (await world.asAdmin.get(`${AUDIT}?${query}`)).body;
const idsOf = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);

test('the audit log lists complete entries, newest first', async () => {
  const { entries, next_cursor } = await list(span);
  expect(entries).toEqual(newestFirst.map((entry) => ({ ...entry, at: entry.at.toISOString() })));
  expect(next_cursor).toBeNull();
});

test.each([1, 7, 40, 41])(
  'pages of %i audit entries contain each entry once while entries are added',
  async (limit) => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await list(`${span}&limit=${limit}${cursor}`);
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      seen.push(...idsOf(page.entries));
      await client.auditEntry.create({ data: { ...newestFirst[0], id: randomUUID(), at: new Date() } as never });
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(idsOf(newestFirst));
  },
);

test('audit entries that are added during paging appear only on the first page', async () => {
  const first = await list('limit=5');
  await world.asViewer.get('/api/v1/catalog/templates');
  const second = await list(`limit=1000&cursor=${first.next_cursor}`);
  const all = await list('limit=1000');
  expect(idsOf(second.entries).filter((id) => idsOf(first.entries).includes(id))).toEqual([]);
  const late = idsOf(all.entries).filter((id) => !idsOf([...first.entries, ...second.entries]).includes(id));
  expect(late).toEqual(idsOf(all.entries).slice(0, late.length));
});

type Written = (typeof written)[number];
test.each<[string, (entry: Written) => boolean]>([
  [`token_id=${ours}`, ({ token_id }) => token_id === ours],
  [`token_id=${randomUUID()}`, () => false],
  ['actor=token%3Aothers', ({ actor }) => actor === 'token:others'],
  ['actor=token%3Aother', () => false],
  ['method=POST', ({ method }) => method === 'POST'],
  ['method=post', ({ method }) => method === 'POST'],
  [
    'changes=true',
    ({ method, path }) => path === SIGN_IN || (method !== 'GET' && path !== '/mcp' && !path.endsWith('/plan')),
  ],
  ['changes=false', () => true],
  ['path=/api/v1/users', ({ path }) => path === '/api/v1/users/1'],
  ['path=/api/v1/user_', ({ path }) => path === '/api/v1/user_settings'],
  ['path=/api/v1/%25', () => false],
  ['status=404', ({ status }) => status === 404],
  ['tool=get_template', ({ tool }) => tool === 'get_template'],
  ['request_id=r7', ({ request_id }) => request_id === 'r7'],
  [`from=${momentOf(20).toISOString()}`, ({ at }) => at >= momentOf(20)],
  [`to=${momentOf(20).toISOString()}`, ({ at }) => at < momentOf(20)],
  [
    `token_id=${ours}&status=200&method=GET&path=/api/v1/user`,
    ({ token_id, status, method }) => token_id === ours && status === 200 && method === 'GET',
  ],
])('a list of audit entries can be filtered by %s, on each page', async (filter, isWanted) => {
  const wide = span
    .split('&')
    .filter((bound) => !filter.startsWith(bound.split('=')[0] ?? ''))
    .join('&');
  const expected = idsOf(newestFirst.filter(isWanted));
  expect(idsOf((await list(`${wide}&${filter}`)).entries)).toEqual(expected);
  const first = await list(`${wide}&${filter}&limit=3`);
  expect(idsOf(first.entries)).toEqual(expected.slice(0, 3));
  expect(first.next_cursor === null).toBe(expected.length <= 3);
  if (first.next_cursor === null) return;
  const rest = await list(`${wide}&${filter}&cursor=${first.next_cursor}`);
  expect(idsOf(rest.entries)).toEqual(expected.slice(3));
});

const cursorOf = (text: string) => Buffer.from(text).toString('base64url');
test.each([
  'cursor=',
  'cursor=nonsense',
  'cursor=%00',
  `cursor=${cursorOf('2026-03-01T00:00:00.000Z')}`,
  `cursor=${cursorOf('2026-03-01T00:00:00.000Z|1')}`,
  `cursor=${cursorOf(`yesterday|${randomUUID()}`)}`,
  `cursor=${cursorOf(`2026-03-01T00:00:00.000Z|${randomUUID()}`)}=`,
  `cursor=${cursorOf(`2026-03-01T00:00:00.000Z|${randomUUID()}`)}&cursor=x`,
  'limit=0',
  'limit=1001',
  'limit=-1',
  'limit=1e2',
  'limit=ten',
  'status=99',
  'status=600',
  'token_id=1',
  'from=yesterday',
  'to=2026-13-01T00:00:00Z',
  'page=1',
])('a list of audit entries with %s is a 400 that names the parameter', async (query) => {
  const { status, body } = await world.asAdmin.get(`${AUDIT}?${query}`);
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'validation_failed' });
  expect(body.errors.map(({ path }: { path: string }) => path)).toContain(query.split('=')[0]);
});

test.each(['limit=1', 'limit=1000'])('a list of audit entries may have %s', async (query) => {
  expect((await world.asAdmin.get(`${AUDIT}?${query}`)).status).toBe(200);
});

test('the list shows no credential for the audit entry of a request with a credential in its path', async () => {
  const token = await world.aToken();
  await world.as(token).get(`/nothing/${token.secret}`);
  const { entries } = await list(`token_id=${token.id}`);
  expect(entries).toMatchObject([{ path: '/nothing/[credential]' }]);
});
