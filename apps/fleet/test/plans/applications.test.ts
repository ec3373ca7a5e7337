// Applications as documents: planned, applied, changed, exported and removed with their parts.
import { stringify } from 'yaml';
import { catalogApplication } from '../applications/catalog.ts';
import { GHOST, startApplicationWorld } from '../applications/world.ts';
import { actionsOf, aDocument, plansOf } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;
const { create, plan, apply, applied, exported, forget, named } = plansOf(fleet);

beforeEach(async () => {
  await forget();
  await fleet.aMeshHost({ name: 'gpu-1' });
});

const aBlog = (given: object = {}): string =>
  stringify({ kind: 'application', name: 'blog', spec: GHOST, ...given }, { lineWidth: 0 });
const blog = async () => {
  const { id } = await client.application.findUniqueOrThrow({ where: { name: 'blog' } });
  return fleet.application(id);
};
const pathsOf = (values: readonly { readonly path: string }[]) => values.map(({ path }) => path);

test('a document creates an application with all its parts, and its generated values are in the response only', async () => {
  const made = await plan(aBlog({ inputs: { title: 'Notes' }, volumes: { 'database/data': { size: '20Gi' } } }));
  expect({ state: made.state, refusals: made.refusals }).toEqual({ state: 'ready', refusals: [] });
  expect(made.changes).toHaveLength(1);
  expect(made.changes[0]).toMatchObject({
    kind: 'application',
    name: 'blog',
    action: 'create',
    target: { name: 'gpu-1' },
    values: expect.arrayContaining([
      { path: 'parts.database.image', from: null, to: 'docker.io/library/mysql:8.4' },
      { path: 'parts.web.env.title', from: null, to: 'Notes of blog' },
    ]),
  });
  expect(await client.application.count()).toBe(0);
  const { status, body } = await apply(made);
  expect(status).toBe(200);
  expect(body.generated).toEqual([{ deployment: 'blog', name: 'db_password', value: expect.any(String) }]);
  expect(JSON.stringify(body.plan)).not.toContain(body.generated[0].value);
  expect(await blog()).toMatchObject({
    inputs: { title: 'Notes' },
    managed_by: { set: 'default', file: 'a.yaml', line: 1 },
    parts: [{ name: 'database' }, { name: 'web' }],
  });
  expect(await client.volume.findMany({ where: { size: '20Gi' } })).toHaveLength(1);
  expect((await apply(made)).body.generated).toEqual([]);
});

test('the plan of a change states what each part would run, and its application is one generation', async () => {
  await applied(aBlog({ inputs: { title: 'Notes' }, labels: { team: 'a' } }));
  expect((await plan(aBlog({ inputs: { title: 'Notes' }, labels: { team: 'a' } }))).state).toBe('unchanged');
  const [web, database] = GHOST.parts;
  const newer = { ...GHOST, parts: [{ ...web, image_tag: '7' }, database] };
  const made = await plan(aBlog({ spec: newer, on_failure: 'stop' }));
  expect(made.changes[0]).toMatchObject({ action: 'change', cause: 'file', replaces_instances: true });
  expect(made.changes[0].values).toEqual(
    expect.arrayContaining([
      { path: 'labels', from: '{"team":"a"}', to: '{}' },
      { path: 'on_failure', from: '"auto"', to: '"stop"' },
      { path: 'parts.web.image', from: 'docker.io/library/ghost:6', to: 'docker.io/library/ghost:7' },
      { path: 'parts.web.env.title', from: 'Notes of blog', to: 'My blog of blog' },
    ]),
  );
  expect(pathsOf(made.changes[0].values).filter((path) => path.startsWith('parts.database.'))).toEqual([]);
  expect((await apply(made)).status).toBe(200);
  expect(await blog()).toMatchObject({ generation: 2, inputs: {}, labels: {}, on_failure: 'stop' });
});

test('a changed application is deleted with its workloads, so that another one can have its name', async () => {
  await applied(aBlog());
  const [web, database] = GHOST.parts;
  await applied(aBlog({ spec: { ...GHOST, parts: [{ ...web, image_tag: '7' }, database] } }));
  expect((await operator.delete(`/api/v1/applications/${(await blog()).id}`)).status).toBe(200);
  expect(await client.workload.count()).toBe(0);
  expect((await plan(aBlog())).state).toBe('ready');
});

test('members that a file leaves out are not managed; a change by hand is a drift of those that it has', async () => {
  await applied(aBlog({ inputs: { title: 'Notes' } }));
  const { id } = await blog();
  const put = (body: object) => operator.put(`/api/v1/applications/${id}`, body);
  expect((await put({ labels: { by: 'hand' }, overrides: { web: { env: { MODE: 'x' } } } })).status).toBe(200);
  expect((await plan(aBlog({ inputs: { title: 'Notes' } }))).state).toBe('unchanged');
  expect((await put({ inputs: { title: 'Other' } })).status).toBe(200);
  const made = await plan(aBlog({ inputs: { title: 'Notes' } }));
  expect(made.changes).toMatchObject([{ action: 'change', cause: 'drift' }]);
  await apply(made);
  expect(await blog()).toMatchObject({ inputs: { title: 'Notes' }, labels: { by: 'hand' } });
});

test('the plan of an export is unchanged, and applies to nothing', async () => {
  await applied(
    aBlog({
      inputs: { title: 'Notes' },
      overrides: { web: { memory_limit: '1Gi' } },
      updates: { ready_seconds: 30 },
      labels: { team: 'a' },
    }),
  );
  await applied(aDocument('cache'), { set: 'other' });
  const text = await exported();
  expect(text).toContain('kind: application');
  expect(text.match(/^kind: /gm)).toHaveLength(2);
  const made = await plan(text, { set: 'copy', adopt: true });
  expect({ state: made.state, changes: made.changes }).toEqual({ state: 'unchanged', changes: [] });
  await forget();
  expect((await plan(await exported('?name=blog'))).state).toBe('unchanged');
});

test('a deployment is bound to a part of an application of the same plan, and the application uses a deployment of it', async () => {
  const database = aDocument(
    'shared',
    '  ports: [{containerPort: 3306}]\n  env_schema: [{name: PASSWORD, description: "[secret]"}]\nenv: {PASSWORD: {generate: 32}}\n',
  );
  const app = aDocument('app', '  env_schema: [{name: BLOG}]\nenv: {BLOG: {deployment: blog-web, port: 2368}}\n');
  const made = await plan([app, aBlog({ use: { database: { deployment: 'shared' } } }), database].join('---\n'));
  expect({ state: made.state, refusals: made.refusals }).toEqual({ state: 'ready', refusals: [] });
  expect(Object.keys(actionsOf(made))).toEqual(['shared', 'blog', 'app']);
  expect((await apply(made)).status).toBe(200);
  const { env } = (await named('app')) ?? {};
  expect(env).toMatchObject({ BLOG: { deployment: 'blog-web', port: 2368 } });
  expect((await blog()).parts.map(({ name }: { name: string }) => name)).toEqual(['web']);
});

test('a new value of a deployment and a change of an application that is bound to it are one generation of each part', async () => {
  const secret = (length: number) =>
    aDocument(
      'shared',
      `  ports: [{containerPort: 3306}]\n  env_schema: [{name: PASSWORD, description: "[secret]"}]\nenv: {PASSWORD: {generate: ${length}}}\n`,
    );
  const bound = (image_tag: string) =>
    aBlog({
      spec: {
        inputs: [{ name: 'password', type: 'secret' }],
        parts: [{ name: 'web', image_name: 'team/web', image_tag, env: [{ name: 'P', value: `\${inputs.password}` }] }],
      },
      inputs: { password: { deployment: 'shared', variable: 'PASSWORD' } },
    });
  await applied(`${secret(32)}---\n${bound('1')}`);
  await applied(`${secret(40)}---\n${bound('2')}`);
  const { generation, parts } = await blog();
  expect({ generation, part: parts[0].generation }).toEqual({ generation: 2, part: 2 });
});

test('an application of the catalog is named by its slug, and an upgrade is no difference', async () => {
  const { rows, changed } = catalogApplication('wiki');
  await client.catalogApplication.deleteMany();
  await client.catalogApplication.create({ data: rows });
  const text = 'kind: application\nname: notes\napplication: wiki\n';
  await applied(text);
  await client.catalogApplication.update({ where: { id: rows.id }, data: { document: changed } });
  expect((await plan(text)).state).toBe('unchanged');
  expect(await exported('?name=notes')).toContain('application: wiki');
  const other = await plan(aBlog({ name: 'notes' }));
  expect(other.refusals).toMatchObject([{ path: 'spec', message: expect.stringContaining('is a copy of wiki') }]);
  const unknown = await plan('kind: application\nname: new\napplication: wikki\n');
  expect(unknown.refusals[0].message).toContain('did you mean wiki?');
});

test('what is wrong is refused with file and line', async () => {
  const [web, database] = GHOST.parts;
  const spec = { ...GHOST, parts: [{ ...web, env: [{ name: 'A', value: `\${parts.nothing.host}` }] }, database] };
  const invalid = await create(aBlog({ spec }));
  expect(invalid).toMatchObject({ status: 400, body: { errors: [{ path: expect.stringMatching(/^a\.yaml:\d+$/) }] } });
  const made = await plan(
    aBlog({ target: { host: 'gpu-2' }, inputs: { subtitle: 'x' }, volumes: { 'web/none': { size: '1Gi' } } }),
  );
  expect(made.refusals).toMatchObject([{ path: 'target.host' }]);
  const problems = await plan(aBlog({ inputs: { subtitle: 'x' }, volumes: { 'web/none': { size: '1Gi' } } }));
  expect(problems.refusals.map(({ path }: { path: string }) => path).sort()).toEqual([
    'inputs.subtitle',
    'volumes.web/none',
  ]);
  const twice = await create(`${aBlog()}---\n${aDocument('blog')}`);
  expect(twice.body.errors[0].message).toContain('name must not be repeated: application blog is also in a.yaml:2');
});

test('text of a secret input or variable is refused before a plan is stored', async () => {
  const plans = await client.plan.count();
  const ofInput = await create(aBlog({ inputs: { mail_password: 'c4n4ry' } }));
  expect(ofInput).toMatchObject({
    status: 400,
    body: { errors: [{ message: expect.stringContaining('inputs.mail_password must be the name of a secret') }] },
  });
  const secret = '  env_schema: [{name: PASSWORD, description: "[secret]"}]\n';
  const ofVariable = await create(aDocument('web', `${secret}env: {PASSWORD: c4n4ry}\n`));
  expect(ofVariable).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'a.yaml:6', message: expect.stringContaining('env.PASSWORD must not be text') }] },
  });
  expect(await client.plan.count()).toBe(plans);
  expect(`${ofInput.text}${ofVariable.text}`).not.toContain('c4n4ry');
});

test.each([
  ['keep', 'release', 0],
  ['keep_data', 'delete', 0],
  ['delete_all', 'delete', 2],
])('with on_removal %s, pruning is a %s with %i volumes lost', async (on_removal, action, losses) => {
  await applied(`${aBlog({ on_removal })}---\n${aDocument('cache')}`);
  const made = await plan(aDocument('cache'), { prune: true });
  expect(made.changes).toMatchObject([{ kind: 'application', name: 'blog', action, cause: 'removed' }]);
  expect(made.losses).toHaveLength(losses);
  expect((await apply(made)).status).toBe(200);
  const row = await client.application.findUnique({ where: { name: 'blog' } });
  expect(row?.deleting ?? true).toBe(action === 'delete');
  const reclaims = new Set((await client.volume.findMany()).map(({ reclaim, phase }) => `${reclaim} ${phase}`));
  if (on_removal === 'keep_data') expect([...reclaims]).toEqual([expect.stringContaining('retain')]);
});

test('an application to which another deployment is bound is not pruned, and both are pruned together', async () => {
  const app = aDocument('app', '  env_schema: [{name: BLOG}]\nenv: {BLOG: {deployment: blog-web, port: 2368}}\n');
  await applied(`${aBlog()}---\n${app}`);
  const one = await plan(app, { prune: true });
  expect(one.refusals).toMatchObject([{ name: 'blog', path: 'on_removal' }]);
  const both = await plan(aDocument('other'), { prune: true });
  expect(both.state).toBe('ready');
  expect(Object.keys(actionsOf(both))).toEqual(['other', 'app', 'blog']);
  expect((await apply(both)).status).toBe(200);
});

test('what was decided about an application is applied, or refused with a new plan', async () => {
  await applied(aBlog());
  const made = await plan(aBlog({ labels: { team: 'b' } }));
  const { id } = await blog();
  expect((await operator.post(`/api/v1/applications/${id}/stop`, {})).status).toBe(200);
  const answer = await apply(made);
  expect(answer).toMatchObject({
    status: 409,
    body: { code: 'plan_outdated', errors: [{ path: 'application blog' }] },
  });
  expect((await blog()).labels).toEqual({});
});
