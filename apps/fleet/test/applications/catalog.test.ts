// Applications of the catalog of the hub: copies, their state, and upgrades.
import { catalogApplication } from './catalog.ts';
import { startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;
beforeEach(() => client.catalogApplication.deleteMany());

const create = (body: object) => operator.post('/api/v1/applications', body);

test('an application is a copy of one of the catalog, and is upgraded to the present one as planned', async () => {
  await fleet.aMeshHost();
  const { rows, changed } = catalogApplication('wiki');
  await client.catalogApplication.create({ data: rows });
  const { body, status } = await create({ name: 'notes', application: 'wiki' });
  expect({ status, slug: body.application?.slug }).toEqual({ status: 201, slug: 'wiki' });
  const { id } = body.application;
  expect(body.application).toMatchObject({ application_state: 'current', generated: ['password'] });
  await client.catalogApplication.update({ where: { id: rows.id }, data: { document: changed } });
  expect(await fleet.application(id)).toMatchObject({ application_state: 'outdated' });
  const { body: plan } = await operator.post('/api/v1/applications/plan', { application_id: id, upgrade: true });
  expect(plan.parts).toMatchObject([{ name: 'web', action: 'change', image: 'docker.io/team/web:2' }]);
  const upgrade = (expected: string) => operator.post(`/api/v1/applications/${id}/upgrade`, { expected });
  expect((await upgrade('another')).body.code).toBe('plan_outdated');
  const upgraded = await upgrade(plan.digest);
  expect(upgraded.body.application).toMatchObject({ generation: 2, application_state: 'current' });
  expect(upgraded.body.generated).toEqual([]);
  await client.catalogApplication.deleteMany();
  expect(await fleet.application(id)).toMatchObject({ application_state: 'withdrawn', slug: 'wiki' });
  expect((await upgrade(plan.digest)).body.code).toBe('no_template');
});

test.each([
  ['is blocked', { status: 'blocked', status_message: 'It loses data.' }, 'template_blocked', 'It loses data.'],
  ['requires a higher tier', { min_tier: 'enterprise' }, 'tier_too_low', 'requires the tier enterprise'],
])('an application of the catalog that %s is refused', async (_, given, code, message) => {
  await fleet.aMeshHost();
  await client.catalogApplication.create({ data: catalogApplication('wiki', given).rows });
  const answer = await create({ name: 'notes', application: 'wiki' });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code });
  expect(answer.body.errors).toEqual([{ path: 'application', message: expect.stringContaining(message) }]);
  expect(await client.deployment.count()).toBe(0);
});

test('a request names one application or has a specification, and the application exists', async () => {
  await fleet.aMeshHost();
  const neither = await create({ name: 'notes' });
  expect(neither.body.errors).toEqual([{ path: 'spec', message: expect.stringContaining('is required without') }]);
  expect((await create({ name: 'notes', application: 'missing' })).status).toBe(404);
});

test('the plan of an upgrade names each member that it cannot have', async () => {
  await fleet.aMeshHost();
  await client.catalogApplication.create({ data: catalogApplication('wiki').rows });
  const { id } = (await create({ name: 'notes', application: 'wiki' })).body.application;
  const given = { name: 'other', labels: { team: 'web' }, replicas: { web: 1 }, desired_state: 'stopped' };
  const { status, body } = await operator.post('/api/v1/applications/plan', {
    application_id: id,
    upgrade: true,
    ...given,
  });
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: ['name', 'replicas', 'labels', 'desired_state'].map((path) => ({
      path,
      message: 'must not be given with upgrade',
    })),
  });
});
