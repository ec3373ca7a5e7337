// Pages of lists whose rows are large.
import { aTemplate } from '../../a-template.ts';
import { startFakeHub } from '../../fake-hub.ts';
import { startResources } from '../resources.ts';

const ROWS = 4;
const SIZE = 200_000;

const hub = await startFakeHub();
const fleet = await startResources({ hub });
const { asViewer, asAdmin, aWorkload, aDeployment, client } = fleet;
afterAll(async () => {
  await fleet.stop();
  await hub.stop();
});

const NAMES = Array.from({ length: SIZE / 20_000 }, (_, index) => `NAME_${index}`);
const command = NAMES.map(() => 'x'.repeat(20_000));
const env = Object.fromEntries(NAMES.map((name) => [name, 'y'.repeat(20_000)]));

beforeAll(async () => {
  await fleet.aRoomyHost();
  for (let row = 0; row < ROWS; row++) {
    hub.publish(aTemplate({ slug: `large-${row}`, documentation: 'z'.repeat(SIZE) }));
    const env_schema = NAMES.map((name) => ({ name, required: false }));
    const { id } = await aWorkload({ name: `large-${row}`, command, env_schema });
    await aDeployment({ name: `large-${row}`, workload_id: id, env });
  }
  const [{ id }] = (await asViewer.get('/api/v1/workloads?name=large-0')).body.workloads;
  for (let revision = 2; revision <= ROWS; revision++) {
    await asAdmin.put(`/api/v1/workloads/${id}`, { command: [...command, `${revision}`] });
  }
  const [{ id: deployed }] = (await asViewer.get('/api/v1/deployments?name=large-0')).body.deployments;
  for (let generation = 2; generation <= ROWS; generation++) {
    await asAdmin.put(`/api/v1/deployments/${deployed}`, { env: { ...env, NAME_0: `${generation}` } });
  }
  await fleet.sync.run();
});

const pathOf = async (list: string) => {
  const [kind = '', part] = list.split('/');
  if (part === undefined) return `/api/v1/${kind}?search=large-&sort=name`;
  const { body } = await asViewer.get(`/api/v1/${kind}?name=large-0`);
  return `/api/v1/${kind}/${body[kind][0].id}/${part}?`;
};

test.each([
  ['workloads', 'workloads'],
  ['deployments', 'deployments'],
  ['workloads/revisions', 'revisions'],
  ['deployments/revisions', 'revisions'],
])('a large page of %s has the rows, order and total of small pages, and an entity tag', async (list, member) => {
  const path = await pathOf(list);
  const { status, body, headers } = await asViewer.get(path);
  expect(status).toBe(200);
  expect(JSON.stringify(body).length).toBeGreaterThan(ROWS * SIZE * 0.7);
  const pages = [];
  for (let page = 1; page <= ROWS; page++) pages.push((await asViewer.get(`${path}&limit=1&page=${page}`)).body);
  expect(body[member]).toEqual(pages.flatMap((each) => each[member]));
  expect(body.pagination).toEqual({ page: 1, limit: 50, total: ROWS, totalPages: 1 });
  expect(Object.keys(body)).toEqual([member, 'pagination']);
  expect((await asViewer.get(path, { 'If-None-Match': headers.etag ?? '' })).status).toBe(304);
});

test('a large page of templates has the rows, order and total of small pages', async () => {
  const path = '/api/v1/catalog/templates?';
  const { body } = await asViewer.get(path);
  const pages = [];
  for (let page = 1; page <= ROWS; page++) pages.push((await asViewer.get(`${path}&limit=1&page=${page}`)).body);
  expect(body.templates).toEqual(pages.flatMap(({ templates }) => templates));
  expect(body.templates).toHaveLength(ROWS);
});

test.each([
  ['deployments', { env: {}, instances: [] }],
  ['workloads', { command: [], env_schema: [], image_name: 'library/nginx' }],
])('summaries of %s have the same members without the large ones', async (kind, empty) => {
  const [full] = (await asViewer.get(`/api/v1/${kind}?name=large-0`)).body[kind];
  const [summary] = (await asViewer.get(`/api/v1/${kind}?name=large-0&view=summary`)).body[kind];
  expect(summary).toEqual({ ...full, ...empty });
});

test('the sizes of rows are stored with them', async () => {
  const wrong = await client.$queryRaw`
    SELECT workload_id FROM workload_revisions WHERE spec_bytes <> octet_length(spec::text) + octet_length(overrides::text)
    UNION ALL SELECT id FROM deployments WHERE env_bytes <> octet_length(env::text)
    UNION ALL SELECT deployment_id FROM deployment_revisions WHERE env_bytes <> octet_length(env::text)`;
  expect(wrong).toEqual([]);
});
