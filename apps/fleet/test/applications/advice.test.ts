// What the hub says about the applications of the catalog that the fleet has copied: advisories, their status, and changelogs.
import type { Application } from '@svc/contract';
import { checkAdvisories } from '../../src/commands/doctor-values.ts';
import { anApplication } from '../an-application.ts';
import { anAdvisory } from '../deployments/templates/advised.ts';
import { startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, hub, operator, world } = fleet;

const parts = (image_tag: string) => anApplication().parts.map((part) => ({ ...part, image_tag }));
let current: Application;

/** Publishes the application with changes of the last published one, and syncs. */
const publish = async (changes: Partial<Application> = {}) => {
  current = { ...current, ...changes };
  hub.publishApplications(current);
  await fleet.sync();
};

beforeEach(async () => {
  await client.$executeRaw`TRUNCATE events, catalog_application_advice`;
  current = anApplication({ slug: 'wiki', revision: 1, parts: parts('1') });
  await fleet.aMeshHost();
  await publish();
});

const create = (given: object = {}) =>
  operator.post('/api/v1/applications', { name: 'notes', application: 'wiki', ...given });
const created = async (given: object = {}) => {
  const { status, body } = await create(given);
  expect(status).toBe(201);
  return body.application;
};
const planUpgrade = async (id: string, given: object = {}) =>
  (await operator.post('/api/v1/applications/plan', { application_id: id, upgrade: true, ...given })).body;
const namesWith = async (query: string) => {
  const { status, body } = await operator.get(`/api/v1/applications?sort=name&${query}`);
  expect(status).toBe(200);
  return body.applications.map(({ name }: { name: string }) => name);
};
const lasting = async () =>
  (await operator.get('/api/v1/events?reason=TemplateAdvisory&resolved=false')).body.events.map(
    ({ message }: { message: string }) => message,
  );

test('an advisory marks the applications that run what it is about within one sync, until they are upgraded', async () => {
  const { id } = await created();
  await created({ name: 'own', application: undefined, spec: { parts: [{ name: 'web', image_name: 'team/web' }] } });
  expect(await fleet.application(id)).toMatchObject({
    application_revision: 1,
    advice: { status: 'active', advisories: [], certain: true },
  });
  const flaw = anAdvisory({ last_revision: 1 });
  await publish({ advisories: [flaw] });
  expect((await fleet.application(id)).advice.advisories).toEqual([{ ...flaw, acknowledged: false }]);
  expect(await namesWith('advisory=critical')).toEqual(['notes']);
  expect(await lasting()).toEqual(['A critical advisory is about 1 application made from this one: It deletes data.']);
  expect(await checkAdvisories(world.database)).toMatchObject({
    found: 'Critical advisories that nobody has acknowledged are about 0 deployments and 1 applications.',
  });
  await publish({ revision: 2, parts: parts('2') });
  expect(await namesWith('application_state=outdated')).toEqual(['notes']);
  const { digest, advice } = await planUpgrade(id);
  expect(advice).toMatchObject({ status: 'active', advisories: [], certain: true });
  const upgraded = await operator.post(`/api/v1/applications/${id}/upgrade`, { expected: digest });
  expect(upgraded.body.application).toMatchObject({ application_revision: 2, advice: { advisories: [] } });
  await fleet.sync();
  expect(await lasting()).toEqual([]);
  expect(await namesWith('advisory=note')).toEqual([]);
  expect(await checkAdvisories(world.database)).toMatchObject({ found: 'No critical advisory is about what runs.' });
});

test('an advisory stays known after the application has left the catalog, and ends with its withdrawal', async () => {
  const { id } = await created();
  await publish({ advisories: [anAdvisory()] });
  hub.withdrawApplications(current);
  await fleet.sync();
  expect(await fleet.application(id)).toMatchObject({ application_state: 'withdrawn', advice: { advisories: [{}] } });
  expect(await lasting()).toHaveLength(1);
  await publish({ advisories: [] });
  expect((await fleet.application(id)).advice.advisories).toEqual([]);
  expect(await lasting()).toEqual([]);
});

test('a critical advisory refuses a creation and an upgrade that nobody acknowledges, and is then stored with the copy', async () => {
  const { id } = await created({ name: 'before' });
  const flaw = anAdvisory({ first_revision: 2 });
  await publish({ revision: 2, parts: parts('2'), advisories: [flaw] });
  const { status, body } = await create();
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'template_flawed' });
  expect(body.errors).toEqual([{ path: 'acknowledge', message: expect.stringContaining(flaw.id) }]);
  expect(await planUpgrade(id)).toMatchObject({ ok: false, refusals: [{ code: 'template_flawed' }] });
  const acknowledge = [flaw.id, current.id];
  const { ok, digest } = await planUpgrade(id, { acknowledge });
  expect(ok).toBe(true);
  const refused = await operator.post(`/api/v1/applications/${id}/upgrade`, { expected: digest });
  expect(refused.body.code).toBe('template_flawed');
  const upgraded = await operator.post(`/api/v1/applications/${id}/upgrade`, { expected: digest, acknowledge });
  expect(upgraded.body.application.advice.advisories).toMatchObject([{ id: flaw.id, acknowledged: true }]);
  await fleet.sync();
  expect(await lasting()).toEqual([]);
  const [entry] = (await world.asAdmin.get('/api/v1/audit?limit=1&method=POST')).body.entries;
  expect(entry).toMatchObject({ acknowledged: [flaw.id] });
});

test('an advisory about what runs already can be acknowledged, and refuses no rollback', async () => {
  const { id } = await created();
  const flaw = anAdvisory({ last_revision: 1 });
  await publish({ revision: 2, parts: parts('2'), advisories: [flaw] });
  const { digest } = await planUpgrade(id);
  await operator.post(`/api/v1/applications/${id}/upgrade`, { expected: digest });
  expect(await namesWith('advisory=critical')).toEqual([]);
  const back = await operator.post(`/api/v1/applications/${id}/rollback`, { generation: 1 });
  expect(back.body.application).toMatchObject({ application_revision: 1, advice: { advisories: [{ id: flaw.id }] } });
  expect(await namesWith('advisory=warning')).toEqual(['notes']);
  await fleet.sync();
  expect(await lasting()).toHaveLength(1);
  const { body } = await operator.put(`/api/v1/applications/${id}`, { acknowledge: [flaw.id] });
  expect(body.application).toMatchObject({ generation: 3, advice: { advisories: [{ acknowledged: true }] } });
  await fleet.sync();
  expect(await lasting()).toEqual([]);
});

test('the status of the application of the catalog is shown, filters the list, and refuses new copies only', async () => {
  const { id } = await created();
  await publish({ status: 'blocked', status_message: 'It loses data.', replacement: 'other' });
  expect((await fleet.application(id)).advice).toMatchObject({ status: 'blocked', replacement: 'other' });
  expect(await namesWith('application_status=blocked')).toEqual(['notes']);
  expect(await namesWith('application_status=active,deprecated')).toEqual([]);
  const refused = await create({ name: 'second' });
  expect(refused.body).toMatchObject({ code: 'template_blocked', errors: [{ path: 'application' }] });
  expect((await operator.post(`/api/v1/applications/${id}/restart`, {})).status).toBe(200);
});

test('the plan of an upgrade states what the publisher says about the changes since the copy', async () => {
  const { id } = await created();
  const aChange = (revision: number) => ({
    revision,
    version: `1.${revision}.0`,
    at: `2026-11-0${revision}T00:00:00.000Z`,
    message: `Change ${revision}`,
    changed: ['parts'],
  });
  await publish({ revision: 2, parts: parts('2') });
  expect((await planUpgrade(id)).changelog).toBeNull(); // a hub of an earlier version answers 404
  hub.setChangelog('wiki', aChange(4), aChange(3), aChange(2), aChange(1));
  await publish({ revision: 3, parts: parts('3') });
  // The hub already has a fourth revision, which the mirror does not have.
  expect((await planUpgrade(id)).changelog).toEqual({ entries: [aChange(3), aChange(2)], complete: true });
  const plan = await operator.post('/api/v1/applications/plan', { name: 'another', application: 'wiki' });
  expect(plan.body.changelog).toBeNull();
});

test('a copy from before has the revision of the catalog if it is like it', async () => {
  const { id } = await created();
  await client.applicationSpec.updateMany({ data: { catalog_revision: null } });
  expect(await fleet.application(id)).toMatchObject({ application_revision: null, advice: { certain: false } });
  await publish({ description: 'better documented' });
  expect(await fleet.application(id)).toMatchObject({ application_revision: 1, advice: { certain: true } });
});
