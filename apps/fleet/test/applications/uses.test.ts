// Parts instead of which a deployment serves that runs already.
import { receivedBy, secretVariable } from '../deployments/values/variables.ts';
import type { Body } from '../deployments/world.ts';
import { GHOST, startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { operator } = fleet;
const put = (id: string, body: Body) => operator.put(`/api/v1/applications/${id}`, body);
const shown = ({ parts }: { parts: Body[] }) =>
  parts.map(({ name, action, deployment_name }) => [name, action, deployment_name]);

/** A database that runs already, at another port than the part of the specification. */
async function aDatabase(name = 'shared') {
  const { id: workload_id } = await fleet.aWorkload({
    image_name: 'library/mysql',
    ports: [{ containerPort: 3307 }],
    env_schema: [secretVariable('MYSQL_PASSWORD')],
  });
  return fleet.deployed({ name, workload_id, env: { MYSQL_PASSWORD: { generate: 32 } } });
}

const USE = { database: { deployment: 'shared', ports: { '3306': 3307 } } };
const VALUES = { db_password: { deployment: 'shared', variable: 'MYSQL_PASSWORD' } };

test('a plan names the deployment that serves, and the creation gives its address to the other parts', async () => {
  await fleet.aMeshHost();
  const database = await aDatabase();
  const password = (await receivedBy(fleet, database.id)).env.MYSQL_PASSWORD;
  const { body: plan } = await fleet.planApplication({ use: USE });
  expect({ refusals: plan.refusals, parts: shown(plan) }).toEqual({
    refusals: [],
    parts: [
      ['web', 'create', 'blog-web'],
      ['database', 'use', 'shared'],
    ],
  });
  const { application } = await fleet.created({ use: USE, values: VALUES, expected: plan.digest });
  expect(application.use).toEqual(USE);
  expect(application.parts.map(({ name, phase, reason }: Body) => [name, phase, reason])).toEqual([
    ['web', 'pending', null],
  ]);
  const { env } = await receivedBy(fleet, application.parts[0].deployment_id);
  expect(env).toMatchObject({
    database__connection__host: '10.213.0.2',
    database__connection__password: password,
    DATABASE_URL: `mysql://ghost:${password}@10.213.0.2:3307/ghost`,
  });
  const refused = await fleet.remove(database.id);
  expect({ status: refused.status, code: refused.body.code, errors: refused.body.errors }).toEqual({
    status: 409,
    code: 'in_use',
    errors: [{ path: 'deployment', message: 'blog-web' }],
  });
  expect((await operator.delete(`/api/v1/applications/${application.id}`)).status).toBe(200);
  expect((await fleet.deployment(database.id)).phase).not.toBe('deleting');
});

test('a part is replaced by a deployment as planned, and a rollback runs it again', async () => {
  await fleet.aMeshHost();
  await aDatabase();
  const { application } = await fleet.created();
  const { id } = application;
  const { body: plan } = await operator.post('/api/v1/applications/plan', { application_id: id, use: USE });
  expect(shown(plan)).toEqual([
    ['web', 'change', 'blog-web'],
    ['database', 'remove', 'blog-database'],
    ['database', 'use', 'shared'],
  ]);
  const changed = await put(id, { use: USE, expected: plan.digest });
  expect(changed.body.application).toMatchObject({ generation: 2, use: USE });
  expect(await fleet.part(id, 'database')).toMatchObject({ removed: true });
  const restored = await operator.post(`/api/v1/applications/${id}/rollback`, { generation: 1 });
  expect(restored.body.application).toMatchObject({ generation: 3, use: {} });
  expect(await fleet.part(id, 'database')).toMatchObject({ removed: false, deployment_name: 'blog-database' });
  await put(id, { use: USE });
  const { body } = await put(id, { use: { database: null } });
  expect(body.application).toMatchObject({ generation: 5, use: {} });
});

test.each([
  ['an unknown part', { databse: { deployment: 'shared' } }, {}, 'use.databse', 'is not a part'],
  ['an unknown deployment', { database: { deployment: 'none' } }, {}, 'use.database.deployment', 'none does not exist'],
  ['a stopped deployment', { database: { deployment: 'idle' } }, {}, 'use.database.deployment', 'idle is stopped'],
  [
    'a port that the part does not have',
    { database: { deployment: 'shared', ports: { '5432': 1 } } },
    {},
    'use.database.ports',
    'which has 3306, and not 5432',
  ],
  [
    'a part with overrides',
    USE,
    { overrides: { database: { image_tag: '9' } } },
    'overrides.database',
    'serves instead',
  ],
  ['a part with a volume', USE, { volumes: { 'database/data': {} } }, 'volumes.database/data', 'is not a volume mount'],
  ['all parts', { ...USE, web: { deployment: 'shared' } }, {}, 'use', 'at least one part'],
])('%s is refused with its path', async (_, use, given, path, message) => {
  const host = await fleet.aMeshHost();
  await aDatabase();
  await fleet.deployed({ name: 'idle', desired_state: 'stopped', target: { host_id: host.id } });
  const answer = await fleet.createApplication({ use, ...given });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: 'validation_failed' });
  expect(answer.body.errors).toEqual([{ path, message: expect.stringContaining(message) }]);
});

test('a deployment without the port of the part is refused by the part that needs its address', async () => {
  await fleet.aMeshHost();
  await aDatabase();
  const answer = await fleet.createApplication({ use: { database: { deployment: 'shared' } } });
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'invalid_env' });
  expect(answer.body.errors[0]).toEqual({
    path: expect.stringContaining('parts.web.env.'),
    message: expect.stringContaining('3306'),
  });
});

test('a part of the application itself cannot serve instead of another one', async () => {
  await fleet.aMeshHost();
  const { application } = await fleet.created({ spec: GHOST });
  const answer = await put(application.id, { use: { database: { deployment: 'blog-web' } } });
  expect(answer.body.errors).toEqual([
    { path: 'use.database.deployment', message: expect.stringContaining('is a part of this application') },
  ]);
});
