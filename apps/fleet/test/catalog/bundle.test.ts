// The catalog of a fleet without a hub, from bundles.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { aTemplate } from '../a-template.ts';
import { anApplication } from '../an-application.ts';
import { aPlainTemplate } from '../deployments/templates/advised.ts';
import { aCategory, startFakeHub } from '../fake-hub.ts';
import { aSigner, keyringOf, signedBy } from '../trust/signed.ts';
import { startWorld } from '../world.ts';
import { ACME, aBundle, importBundle, linesOf, packed } from './bundles.ts';
import { mirrorIn } from './mirror.ts';

const world = await startWorld();
const { asAdmin: admin, asOperator: operator } = world;
const { client } = world.database;
const mirror = mirrorIn((sql) => client.$queryRawUnsafe(sql));
const templates = [aTemplate({ slug: 'a' }), aTemplate({ slug: 'b' }), aTemplate({ slug: 'c' })];
const LATER = '2026-07-01T00:00:00.000Z';

const importing = (content: Parameters<typeof aBundle>[0], query?: string) =>
  importBundle(admin, aBundle(content), query);
const slugs = async () => (await mirror.templates()).map(({ slug }: { slug: string }) => slug).sort();

beforeEach(() => mirror.forget());
afterAll(() => world.stop());

test('a bundle replaces the mirror as a full walk does, and the state says where it comes from', async () => {
  const category = aCategory();
  const { status, body } = await importing({ templates, categories: [category] });
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      from_bundle: true,
      status: 'not_configured',
      checked_at: '2026-06-01T00:00:00.000Z',
      counts: { templates: 3, categories: 1 },
      last_sync: { full: true, updated: 3, removed: 0 },
      organization: { slug: 'acme' },
    },
  });
  expect(await slugs()).toEqual(['a', 'b', 'c']);
  const [first] = templates;
  const later = await importing({ templates: [{ ...first, version: '2' }], checked_at: LATER });
  expect(later.body).toMatchObject({ last_sync: { updated: 1, removed: 2 }, counts: { categories: 0 } });
  expect(await mirror.templates()).toMatchObject([{ slug: 'a', version: '2' }]);
});

test('a bundle replaces the applications of the mirror, unless it states none', async () => {
  const [wiki, blog] = [anApplication({ slug: 'wiki' }), anApplication({ slug: 'blog' })];
  const shown = async () => {
    const { body } = await operator.get('/api/v1/catalog/applications');
    return body.applications.map(({ slug }: { slug: string }) => slug).sort();
  };
  expect((await importing({ templates, applications: [wiki, blog] })).status).toBe(200);
  expect(await shown()).toEqual(['blog', 'wiki']);
  await importing({ templates });
  expect(await shown()).toEqual(['blog', 'wiki']);
  await importing({ templates, applications: [wiki] });
  expect(await shown()).toEqual(['wiki']);
});

const [header = {}, ...rest] = linesOf({ templates });
const application_page = { applications: [], removed: [], checked_at: LATER, cursor: 'x', reset: true, has_more: true };
const broken: [string, Buffer, RegExp][] = [
  ['is empty', Buffer.alloc(0), /cannot be unpacked/],
  ['is no archive', Buffer.from('{}'), /cannot be unpacked/],
  ['is truncated', aBundle({ templates }).subarray(0, -20), /cannot be unpacked/],
  ['has no end', packed([header, ...rest.slice(0, -1)]), /lines are missing/],
  ['lacks its last page', packed([header, ...rest.slice(0, 1), ...rest.slice(2)]), /lines are missing/],
  ['lacks its first page', packed([header, ...rest.slice(1)]), /do not follow/],
  ['has a page twice', packed([header, rest[0] ?? '', ...rest]), /do not follow/],
  [
    'lacks the last page of its applications',
    packed([header, ...rest.slice(0, -1), { application_page }, { end: true }]),
    /lines are missing/,
  ],
  ['has lines after its end', packed([header, ...rest, { end: true }]), /lines are missing/],
  ['has text that is not JSON', packed([header, '{', ...rest]), /not JSON/],
  ['has a line of another form', packed([header, { page: { templates: 'all' } }, ...rest]), /another form/],
  ['has another format', packed([{ ...header, format: 'x' }, ...rest]), /first line/],
  ['has a later version of the format', packed([{ ...header, version: 2 }, ...rest]), /reads the version 1/],
  ['has a line without an end', gzipSync(`${JSON.stringify(header)}\n{`), /no end/],
  ['has a line with many levels', packed([header, '['.repeat(100_000), ...rest]), /must not be nested/],
  ['has a line that is too long', gzipSync('a'.repeat(33 * 1024 * 1024), { level: 1 }), /a line has more than/],
];
test.each(broken)('a file that %s is refused, and the mirror is kept', async (_name, bytes, expected) => {
  await importing({ templates });
  const { status, body } = await importBundle(admin, bytes);
  expect([status, body.code]).toEqual([422, 'bundle_invalid']);
  expect(body.detail).toMatch(expected);
  expect(await slugs()).toEqual(['a', 'b', 'c']);
});

test('a bundle needs its media type and the role admin', async () => {
  expect((await admin.post('/api/v1/catalog/bundle', { a: 1 })).status).toBe(415);
  expect((await importBundle(operator, aBundle({ templates }))).status).toBe(403);
  expect(await slugs()).toEqual([]);
});

test('an older bundle and one of another organization are refused unless they are forced', async () => {
  await importing({ templates, checked_at: LATER });
  const older = await importing({ templates: [] });
  expect([older.status, older.body.code]).toEqual([409, 'bundle_outdated']);
  const other = { id: randomUUID(), name: 'Zeta', slug: 'zeta', tier: 'pro', status: 'active' };
  for (const organization of [other, null]) {
    const foreign = await importing({ templates: [], organization, checked_at: LATER });
    expect([foreign.status, foreign.body.code]).toEqual([409, 'other_organization']);
  }
  expect(await slugs()).toEqual(['a', 'b', 'c']);
  const forced = await importing({ templates: templates.slice(1), organization: other }, '?force=true');
  expect(forced.body).toMatchObject({ organization: { slug: 'zeta' }, counts: { templates: 2 } });
});

test('a bundle without templates empties the mirror only when it is imported once more', async () => {
  await importing({ templates });
  const empty = () => importing({ checked_at: LATER });
  expect((await empty()).body.code).toBe('found_empty');
  expect(await slugs()).toEqual(['a', 'b', 'c']);
  expect((await empty()).status).toBe(200);
  expect(await slugs()).toEqual([]);
});

test('a template that cannot be read is skipped, and its stored copy is kept', async () => {
  await importing({ templates });
  const [first, ...others] = templates;
  const { body } = await importing({ templates: [{ ...first, ports: 'none' }, ...others], checked_at: LATER });
  expect(body).toMatchObject({ skipped: { total: 1, entries: [{ slug: 'a' }] }, counts: { templates: 3 } });
});

test('a fleet with a hub refuses a bundle unless it is forced, and continues to sync with the hub', async () => {
  const hub = await startFakeHub();
  hub.changeOrganization(ACME as never); // the status is one of a literal type
  try {
    await admin.put('/api/v1/settings/hub', { url: hub.url, api_key: hub.key });
    expect((await importing({ templates })).body.code).toBe('hub_configured');
    expect((await importing({ templates }, '?force=true')).body).toMatchObject({ from_bundle: true });
  } finally {
    await admin.delete('/api/v1/settings/hub');
    await hub.stop();
  }
});

describe('in a fleet that requires signatures', () => {
  const template = aPlainTemplate();
  const reasonOf = async () =>
    (await operator.post('/api/v1/deployments/plan', { template: 'tool' })).body.trust.reason;

  test('what a bundle contains is verified with the root keys that the fleet trusts', async () => {
    const [root, key, stranger] = await Promise.all([aSigner(), aSigner(), aSigner()]);
    await admin.post('/api/v1/settings/publishers', { slug: 'acme', name: 'Acme', root: root.key, images: ['*'] });
    await admin.put('/api/v1/settings/trust', { mode: 'require' });
    const published = (keyring: string) => [{ slug: 'acme', name: 'Acme', keyring, transitions: [] }];
    const good = await signedBy(key, template, { serial: 2 });
    const own = published(await keyringOf(root, { version: 2, keys: [key.key] }));
    let time = Date.parse(LATER);
    const shows = async (shown: object, publishers = own) => {
      time += 1000;
      await importing({ templates: [shown], publishers, checked_at: new Date(time).toISOString() });
      return reasonOf();
    };
    expect(await shows(good, published(await keyringOf(stranger, { version: 9, keys: [key.key] })))).toBe(
      'keyring_missing',
    );
    expect(await shows(good)).toBeNull();
    expect((await operator.post('/api/v1/workloads', { name: 'remembered', template: 'tool' })).status).toBe(201);
    const old = published(await keyringOf(root, { version: 1, keys: [key.key, stranger.key] }));
    expect(await shows(await signedBy(stranger, template, { serial: 9 }), old)).toBe('unknown_key');
    expect(await shows({ ...good, image_name: 'evil/miner' })).toBe('content_changed');
    expect(await shows({ ...good, signatures: [] })).toBe('unsigned');
    expect(await shows(await signedBy(key, template, { serial: 1 }))).toBe('rollback');
    expect(await shows(await signedBy(key, { ...template, image_tag: '7' }, { serial: 2 }))).toBe('equivocation');
    expect(await shows({ ...good, category_slug: 'moved' })).toBeNull();
  });
});
