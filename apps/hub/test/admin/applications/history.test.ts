// Revisions of applications, their restoration, and advisories about them. The rules are those of templates.

import { pruneHistory } from '../../../src/catalog/history.ts';
import { revisedApplications } from '../../../src/catalog/revisions/content.ts';
import { advise, history, restore, withdrawAdvisory } from '../../../src/commands/history.ts';
import { writeCatalog } from '../../../src/database/catalog-write.ts';
import { PARTS } from '../../objects.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
const me: { readonly id: string; readonly email: string } = (await admin.get('/api/v1/account/profile')).body.profile;
afterAll(() => world.stop());

const PATH = '/api/v1/admin/applications';
const ABSENT = '00000000-0000-4000-8000-000000000000';
const ADVISORY = { severity: 'critical', message: 'Anyone can read the data.', url: null, first_revision: 1 };

let count = 0;
async function anApplication(given: object = {}) {
  const { id: category_id } = await world.aCategory();
  const name = `Wiki ${++count}`;
  const { status, body } = await admin.post(PATH, { name, category_id, parts: PARTS, ...given });
  expect(status).toBe(201);
  return body.application;
}
const change = (id: string, body: object) => admin.put(PATH, { id, ...body });
const remove = (id: string, body?: object) => admin.delete(`${PATH}?id=${id}`, body);
const restoreRevision = (id: string, body: object, headers: Record<string, string> = {}) =>
  admin.send({ method: 'POST', path: `${PATH}/${id}/restore`, body, headers });
const revisionsOf = async (id: string) => (await admin.get(`${PATH}/${id}/revisions`)).body.revisions;

const withPassword = [
  { ...PARTS[0], env: [{ name: 'PASSWORD', value: `\${generated.password}` }] },
  { name: 'database', image_name: 'library/postgres' },
];

test('each change of the content leaves a revision with its author, message and members', async () => {
  const { id } = await anApplication({ message: 'first' });
  await change(id, { generated: [{ name: 'password' }], parts: withPassword, version: '2.0.0', message: 'A database' });
  await change(id, { status: 'deprecated', status_message: 'Use another one.' });
  await change(id, { documentation: '# New' });
  await remove(id, { message: 'retired' });
  const author = { author: me.email, author_id: me.id };
  expect(await revisionsOf(id)).toMatchObject([
    { ...author, revision: 5, deleted: true, version: null, changed: [], message: 'retired' },
    { ...author, revision: 4, version: '2.0.0', changed: ['documentation'], message: '' },
    { ...author, revision: 2, changed: ['generated', 'parts', 'version'], message: 'A database' },
    { ...author, revision: 1, version: '1.0.0', changed: ['name', 'slug', 'category_id', 'parts'], message: 'first' },
  ]);
  const { body } = await admin.get(`${PATH}/${id}/revisions/4`);
  expect(body.revision.application).toMatchObject({ documentation: '# New', generated: [{ name: 'password' }] });
  expect((await admin.get(`${PATH}/${id}/revisions/5`)).body.revision.application).toBeNull();
  const { changes } = (await admin.get(`${PATH}/${id}/revisions/4/changes?since=1`)).body;
  expect(changes.map(({ member }: { member: string }) => member)).toEqual([
    'generated',
    'parts',
    'version',
    'documentation',
  ]);
  const { deleted } = (await admin.get(`${PATH}/${id}/revisions?limit=1`)).body.revisions[0];
  expect(deleted).toBe(true);
});

test('the content of a revision has the members that a restoration accepts', async () => {
  const { id } = await anApplication();
  const { content } = await client.applicationRevision.findFirstOrThrow({ where: { application_id: id } });
  const { members, defaults } = revisedApplications;
  expect([...Object.keys(Object(content)), 'documentation'].sort()).toEqual([...members].sort());
  expect(members.filter((member) => !(member in defaults))).toEqual(['name', 'slug', 'category_id', 'parts']);
});

test('an application and a deleted one have the content of an earlier revision again', async () => {
  const { id, slug } = await anApplication({ tags: ['one'] });
  await change(id, { generated: [{ name: 'password' }], parts: withPassword, tags: [] });
  expect((await restoreRevision(id, { revision: 1 }, { 'If-Match': '"1"' })).status).toBe(412);
  const restored = await restoreRevision(id, { revision: 1, message: 'It does not start' }, { 'If-Match': '"2"' });
  expect(restored.body.application).toMatchObject({ id, revision: 3, generated: [], parts: PARTS, tags: ['one'] });
  await admin.post(`${PATH}/${id}/advisories`, ADVISORY);
  await remove(id);
  const { applications } = (await admin.get('/api/v1/admin/deleted-applications')).body;
  expect(applications[0]).toMatchObject({ id, slug, last_revision: 3, revision: 5 });
  const { body } = await restoreRevision(id, { revision: 2 });
  expect(body.application).toMatchObject({ id, slug, revision: 6, advisories: [ADVISORY], parts: withPassword });
  expect((await admin.get('/api/v1/admin/deleted-applications')).body.applications).not.toContainEqual(
    expect.objectContaining({ id }),
  );
  expect((await world.anonymous.get(`/api/v1/catalog/applications/${slug}`)).body).toMatchObject({ revision: 6 });
});

test('a restoration is refused if its slug is taken, and names the members that a rule of today rejects', async () => {
  const { id, slug } = await anApplication();
  await remove(id);
  await anApplication({ slug });
  expect((await restoreRevision(id, { revision: 1 })).body.code).toBe('slug_taken');
  expect((await restoreRevision(id, { revision: 1, slug: 'free' })).status).toBe(200);
  expect((await restoreRevision(id, { revision: 3 })).body.errors).toMatchObject([{ path: 'revision' }]);
  expect((await restoreRevision(ABSENT, { revision: 1 })).status).toBe(404);
  const { id: old } = await anApplication();
  await writeCatalog(world.database, ({ application }) =>
    application.update({ where: { id: old }, data: { parts: [{ ...PARTS[0], needs: [{ part: 'absent' }] }] } }),
  );
  await change(old, { parts: PARTS });
  const { errors } = (await restoreRevision(old, { revision: 2 })).body;
  expect(errors).toMatchObject([{ path: 'revision.parts.0.needs.0.part' }]);
});

test('advisories reach the list, the application and the sync, and leave no revision', async () => {
  const { id, slug } = await anApplication();
  const since = (await world.anonymous.get('/api/v1/catalog/applications/updates?cursor=start')).body.cursor;
  const { status, body } = await admin.post(`${PATH}/${id}/advisories`, ADVISORY);
  expect(status).toBe(201);
  const { advisory } = body;
  const shown = async () => {
    const { applications } = (await world.anonymous.get('/api/v1/catalog/applications?limit=100&view=summary')).body;
    const synced = await world.anonymous.get(`/api/v1/catalog/applications/updates?cursor=${since}`);
    return [
      applications.find((each: { id: string }) => each.id === id).advisories,
      (await world.anonymous.get(`/api/v1/catalog/applications/${slug}`)).body.advisories,
      synced.body.applications[0].advisories,
    ];
  };
  expect(await shown()).toEqual(Array(3).fill([{ ...ADVISORY, id: advisory.id, last_revision: null }]));
  const path = `${PATH}/${id}/advisories/${advisory.id}`;
  const changed = await admin.put(path, { ...ADVISORY, severity: 'note', last_revision: 1 });
  expect(await shown()).toEqual(Array(3).fill([changed.body.advisory]));
  expect((await admin.delete(path)).status).toBe(204);
  expect(await shown()).toEqual(Array(3).fill([]));
  expect((await admin.delete(path)).body.code).toBe('advisory_withdrawn');
  expect(await revisionsOf(id)).toHaveLength(1);
  const later = await admin.post(`${PATH}/${id}/advisories`, { ...ADVISORY, first_revision: 2 });
  expect(later.body.errors).toMatchObject([{ path: 'first_revision' }]);
  const { id: template } = await world.aTemplate();
  expect((await admin.post(`${PATH}/${template}/advisories`, ADVISORY)).status).toBe(404);
  expect((await admin.put(`/api/v1/admin/templates/${id}/advisories/${advisory.id}`, ADVISORY)).status).toBe(404);
});

test('at most 16 advisories are open', async () => {
  const { id } = await anApplication();
  const publish = () => admin.post(`${PATH}/${id}/advisories`, ADVISORY);
  for (let published = 0; published < 16; published++) expect((await publish()).status).toBe(201);
  const { body } = await publish();
  expect(body).toMatchObject({ code: 'too_many_advisories', detail: expect.stringMatching(/^The application has 16/) });
});

test('the changelog of an application lists its changes without authors, and its feed links to its page', async () => {
  const { id, slug, name } = await anApplication();
  await change(id, { version: '1.1.0', message: 'A new image' });
  const { body } = await world.anonymous.get(`/api/v1/catalog/applications/${slug}/changelog`);
  expect(body.entries).toEqual([
    { revision: 2, version: '1.1.0', at: expect.any(String), message: 'A new image', changed: ['version'] },
    { revision: 1, version: '1.0.0', at: expect.any(String), message: '', changed: null },
  ]);
  const feed = await world.anonymous.get(`/api/v1/catalog/applications/${slug}/changelog/feed`);
  expect(feed.text).toContain(`<title>${name} 1.1.0</title>`);
  expect((await world.anonymous.get('/api/v1/catalog/applications/absent/changelog')).status).toBe(404);
});

test('the commands print the history, restore a revision, and publish and withdraw advisories', async () => {
  const { id, slug } = await anApplication();
  await world.aTemplate({ slug });
  await change(id, { description: 'x', message: 'two' });
  const kind = 'application';
  const lines = (await history(slug, { kind })(world.database)).split('\n');
  expect(lines[0]).toMatch(/^2 {2}\S+Z {2}\S+ {2}description {2}two$/);
  await restore(slug, { kind, revision: '1' })(world.database);
  const advisory = await advise(slug, { kind, severity: 'note', message: 'x', from: '3' })(world.database);
  const shown = async () => (await world.anonymous.get(`/api/v1/catalog/applications/${slug}`)).body;
  expect(await shown()).toMatchObject({ description: '', revision: 3, advisories: [{ id: advisory }] });
  await withdrawAdvisory(advisory)(world.database);
  expect((await shown()).advisories).toEqual([]);
  await expect(history('absent', { kind })(world.database)).rejects.toThrow('No application has the slug absent');
});

test.each([
  "UPDATE application_revisions SET message = 'x'",
  'DELETE FROM application_revisions',
  'TRUNCATE application_revisions',
  'DELETE FROM application_texts',
  'TRUNCATE application_texts CASCADE',
])('revisions are immutable: %s fails', async (statement) => {
  await anApplication();
  await expect(client.$executeRawUnsafe(statement)).rejects.toThrow('cannot be changed or deleted');
});

test('pruning keeps the newest 500 revisions, and forgets what was deleted before and not restored', async () => {
  const { id: changed } = await anApplication({ documentation: 'text 0' });
  await writeCatalog(
    world.database,
    (transaction) => transaction.$executeRaw`
      DO $$ BEGIN
        FOR n IN 1..505 LOOP
          UPDATE applications SET documentation = 'text ' || n WHERE documentation = 'text ' || n - 1;
        END LOOP;
      END $$`,
  );
  const [forgotten, lately, restored] = [await anApplication(), await anApplication(), await anApplication()];
  for (const { id } of [forgotten, lately, restored]) {
    await admin.post(`${PATH}/${id}/advisories`, ADVISORY);
    await remove(id);
  }
  await client.$executeRaw`ALTER TABLE application_revisions DISABLE TRIGGER application_history_refuse_change`;
  await client.$executeRaw`
    UPDATE application_revisions SET at = at - interval '10 days'
    WHERE application_id IN (${forgotten.id}::uuid, ${restored.id}::uuid)`;
  await client.$executeRaw`ALTER TABLE application_revisions ENABLE TRIGGER application_history_refuse_change`;
  await restoreRevision(restored.id, { revision: 1 });
  await pruneHistory(world.database, new Date(Date.now() - 9 * 24 * 3_600_000));
  const countOf = (id: string) => client.applicationRevision.count({ where: { application_id: id } });
  const counts = await Promise.all([changed, forgotten.id, lately.id, restored.id].map(countOf));
  expect(counts).toEqual([500, 0, 2, 3]);
  expect(await client.applicationText.count({ where: { text: { startsWith: 'text ' } } })).toBe(500);
  const advisories = await client.applicationAdvisory.findMany({ where: { application_id: forgotten.id } });
  expect(advisories).toEqual([]);
});
