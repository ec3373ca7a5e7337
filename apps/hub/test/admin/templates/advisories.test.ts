import { advise, history, withdrawAdvisory } from '../../../src/commands/history.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const PATH = '/api/v1/admin/templates';
const ABSENT = '00000000-0000-4000-8000-000000000000';
const SINCE = '/api/v1/catalog/templates/updates?since=';

const given = {
  severity: 'critical',
  message: 'Anyone can read the data.',
  url: 'https://example.com/1',
  first_revision: 1,
  last_revision: 1,
};
const advisories = (id: string) => `${PATH}/${id}/advisories`;
const updatesSince = async (time: string) => (await world.anonymous.get(`${SINCE}${time}`)).body;

test('an advisory reaches the list, the template, the summary and the sync, and its change and its end as well', async () => {
  const { id, slug } = await world.aTemplate();
  const start = (await updatesSince('1970-01-01T00:00:00Z')).checked_at;
  const published = await admin.post(advisories(id), given);
  expect(published).toMatchObject({ status: 201, body: { advisory: given } });
  const { advisory } = published.body;
  const shown = async () => {
    const [listed, summary] = await Promise.all(
      ['full', 'summary'].map((view) => world.anonymous.get(`/api/v1/catalog/templates?limit=100&view=${view}`)),
    );
    const of = ({ body }: { body: { templates: { id: string; advisories: unknown }[] } }) =>
      body.templates.find((template) => template.id === id)?.advisories;
    const single = (await world.anonymous.get(`/api/v1/catalog/templates/${slug}`)).body.advisories;
    const [synced] = (await updatesSince(start)).templates;
    return [listed && of(listed), summary && of(summary), single, synced?.advisories];
  };
  expect(await shown()).toEqual(Array(4).fill([advisory]));
  const changed = { ...given, severity: 'warning', message: 'Less bad.', url: null, last_revision: null };
  const answer = await admin.put(`${advisories(id)}/${advisory.id}`, changed);
  expect(answer.body.advisory).toEqual({ ...changed, id: advisory.id });
  expect(await shown()).toEqual(Array(4).fill([answer.body.advisory]));
  expect((await admin.delete(`${advisories(id)}/${advisory.id}`)).status).toBe(204);
  expect(await shown()).toEqual(Array(4).fill([]));
});

test('the status reaches the sync', async () => {
  const { id } = await world.aTemplate();
  const start = (await updatesSince('1970-01-01T00:00:00Z')).checked_at;
  const status = { status: 'deprecated', status_message: 'Use another one.', replacement: 'another' };
  await admin.put(PATH, { id, ...status });
  expect((await updatesSince(start)).templates).toMatchObject([{ id, ...status, revision: 1 }]);
});

test.each([
  ['a range that ends before its start', { first_revision: 1, last_revision: 0 }, 'last_revision'],
  ['a first revision below 1', { first_revision: 0 }, 'first_revision'],
  ['a first revision above the newest', { first_revision: 2, last_revision: 2 }, 'first_revision'],
  ['an unknown severity', { severity: 'fatal' }, 'severity'],
  ['a blank message', { message: ' ' }, 'message'],
  ['a message of 2,001 characters', { message: 'x'.repeat(2001) }, 'message'],
  ['a URL without https', { url: 'http://example.com' }, 'url'],
  ['a URL with a user', { url: 'https://me@example.com' }, 'url'],
  ['a URL without a host', { url: 'https:///x' }, 'url'],
])('rejects %s', async (_, wrong, path) => {
  const { id } = await world.aTemplate();
  const { status, body } = await admin.post(advisories(id), { ...given, ...wrong });
  expect(status).toBe(400);
  expect(body.errors.map((error: { path: string }) => error.path)).toContain(path);
  expect(await client.templateAdvisory.count({ where: { template_id: id } })).toBe(0);
});

test('a template has at most 16 open advisories', async () => {
  const { id } = await world.aTemplate();
  const ids: string[] = [];
  for (let n = 0; n < 16; n++) ids.push((await admin.post(advisories(id), given)).body.advisory.id);
  expect(await admin.post(advisories(id), given)).toMatchObject({ status: 409, body: { code: 'too_many_advisories' } });
  await admin.delete(`${advisories(id)}/${ids[0]}`);
  expect((await admin.post(advisories(id), given)).status).toBe(201);
});

test('answers 404 for an unknown or deleted template, for an unknown advisory and for that of another template', async () => {
  const { id } = await world.aTemplate();
  const other = await world.aTemplate();
  const { advisory } = (await admin.post(advisories(id), given)).body;
  expect((await admin.post(advisories(ABSENT), given)).status).toBe(404);
  expect((await admin.put(`${advisories(id)}/${ABSENT}`, given)).status).toBe(404);
  expect((await admin.delete(`${advisories(other.id)}/${advisory.id}`)).status).toBe(404);
  await admin.delete(`${PATH}?id=${id}`);
  expect((await admin.post(advisories(id), given)).status).toBe(404);
  expect((await admin.delete(`${advisories(id)}/${advisory.id}`)).status).toBe(204);
});

test('a withdrawn advisory cannot be changed or withdrawn again', async () => {
  const { id } = await world.aTemplate();
  const { advisory } = (await admin.post(advisories(id), given)).body;
  await admin.delete(`${advisories(id)}/${advisory.id}`);
  const withdrawn = { status: 409, body: { code: 'advisory_withdrawn' } };
  expect(await admin.put(`${advisories(id)}/${advisory.id}`, given)).toMatchObject(withdrawn);
  expect(await admin.delete(`${advisories(id)}/${advisory.id}`)).toMatchObject(withdrawn);
});

test.each([
  ['blocked without a reason', { status: 'blocked' }, 'status_message'],
  ['an unknown status', { status: 'broken' }, 'status'],
  ['a replacement that is no slug', { replacement: 'Not a slug' }, 'replacement'],
  ['a reason of 501 characters', { status_message: 'x'.repeat(501) }, 'status_message'],
])('rejects %s, in a creation and in a change', async (_, wrong, path) => {
  const { id, category_id } = await world.aTemplate();
  expect((await admin.put(PATH, { id, ...wrong })).body.errors).toMatchObject([{ path }]);
  expect((await admin.post(PATH, { name: 'x', category_id, ...wrong })).body.errors).toMatchObject([{ path }]);
});

test('rejects the template itself as its replacement, and the removal of the reason of a blocked template', async () => {
  const { id, slug, category_id } = await world.aTemplate();
  expect((await admin.put(PATH, { id, replacement: slug })).body.errors).toMatchObject([{ path: 'replacement' }]);
  const itself = { name: 'Itself', category_id, replacement: 'itself' };
  expect((await admin.post(PATH, itself)).body.errors).toMatchObject([{ path: 'replacement' }]);
  expect((await admin.put(PATH, { id, status: 'blocked', status_message: 'Broken' })).status).toBe(200);
  expect((await admin.put(PATH, { id, status_message: '' })).body.errors).toMatchObject([{ path: 'status_message' }]);
});

test('a template can be sent back as it was read, with its advisories', async () => {
  const { id } = await world.aTemplate();
  await admin.post(advisories(id), given);
  const { template } = (await admin.get(`${PATH}/${id}`)).body;
  const { status, body } = await admin.put(PATH, { ...template, revision: 99, advisories: [] });
  expect(status).toBe(200);
  expect(body.template).toEqual(template);
});

test('the commands print the history of a template, publish advisories and withdraw them', async () => {
  const { id, slug } = await world.aTemplate();
  await admin.put(PATH, { id, description: 'x', message: 'two\nlines' });
  const lines = (await history(slug, {})(world.database)).split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^2 {2}\S+Z {2}\S+@example\.test {2}description {2}two lines$/);
  expect(JSON.parse(await history(slug, { json: true })(world.database))).toMatchObject([
    { revision: 2 },
    { revision: 1 },
  ]);
  const options = { severity: 'warning', message: 'Careful', from: '1', to: '2' };
  const advisory = await advise(slug, options)(world.database);
  const shown = async () => (await world.anonymous.get(`/api/v1/catalog/templates/${slug}`)).body.advisories;
  expect(await shown()).toMatchObject([{ id: advisory, first_revision: 1, last_revision: 2, url: null }]);
  await withdrawAdvisory(advisory)(world.database);
  expect(await shown()).toEqual([]);
  await expect(withdrawAdvisory('x')(world.database)).rejects.toThrow('No advisory has the id x.');
  await expect(history('absent', {})(world.database)).rejects.toThrow('No template has the slug absent');
  expect(() => advise(slug, { ...options, from: '3' })).toThrow('--to: must not be below --from');
  const entries = (await admin.get(`/api/v1/admin/audit?object_id=${id}&method=COMMAND`)).body.entries;
  expect(entries).toMatchObject([{ path: 'withdraw-advisory' }, { path: 'advise' }]);
});
