// Each tool once with success. The client of the SDK validates the results against the output
// schemas.
import type { Advisory } from '@svc/contract';
import { fleetTools } from '@svc/contract/fleet';
import { openValue } from '../../src/resources/sealed-values.ts';
import { aTemplate } from '../a-template.ts';
import { anApplication } from '../an-application.ts';
import { catalogApplication } from '../applications/catalog.ts';
import { anAdvisory } from '../deployments/templates/advised.ts';
import { connect, type ToolResult } from './client.ts';
import { startMcpWorld } from './world.ts';

const fleet = await startMcpWorld();
const { url, tokens, publish, aHost, world } = fleet;
const { client: sql } = world.database;
const template = aTemplate({
  required_network_types: [],
  node_selector: {},
  secret_refs: [],
  registry_credentials: null,
  tolerations: [],
  slug: 'a-database',
  name: 'A database',
  documentation: 'How to use it.',
});
const agent = await connect(url, tokens.admin.secret);
afterAll(() => agent.close());
beforeAll(async () => {
  await publish(template);
  await aHost({ name: 'box' });
  await agent.listTools(); // it knows the schemas from now on
});

const called = new Set<string>();
const call = async (name: keyof typeof fleetTools, given: object = {}) => {
  // Of a tool.
  const result = (await agent.callTool({ name, arguments: { ...given } })) as ToolResult;
  expect(name).toEqual(name);
  expect(result.isError ? result.content : undefined).toBeUndefined();
  expect(result.content[0]?.text).toBe(JSON.stringify(result.structuredContent));
  called.add(name);
  return result.structuredContent;
};

test('tools read the catalog, and sync it', async () => {
  expect(await call('search_templates', { q: 'database', limit: 5 })).toMatchObject({
    total: 1,
    next_page: null,
    templates: [{ slug: 'a-database', required_env: ['NAME'] }],
  });
  expect(await call('get_template', { slug: 'a-database' })).toMatchObject({ ports: template.ports });
  expect(await call('sync_catalog', { full: true })).toMatchObject({ status: 'fresh', counts: { templates: 1 } });
});

test('tools list, check and change targets', async () => {
  const brief = await call('list_targets');
  expect(brief.targets).toEqual([expect.not.objectContaining({ taints: expect.anything() })]);
  const [{ id, version }] = brief.targets;
  expect((await call('list_targets', { full: true })).targets).toMatchObject([{ name: 'box', taints: [] }]);
  const { target } = await call('update_target', { kind: 'host', id, labels: { rack: 'a' }, version });
  expect(target).toMatchObject({ name: 'box', labels: { rack: 'a' }, version: version + 1 });
  expect((await call('check_target', { kind: 'host', id })).target).toMatchObject({ id, reachability: 'unreachable' });
  await sql.host.update({ where: { id }, data: { reachability: 'online' } });
});

test('tools create, read and change workloads', async () => {
  const { workload } = await call('save_workload', {
    name: 'web',
    image_name: 'team/web',
    ports: [{ containerPort: 80 }],
  });
  const { id, version } = workload;
  const changed = await call('save_workload', { id, cpu_request: '100m', version });
  expect(changed.workload).toMatchObject({ id, revision: 2 });
  const read = await call('get_workload', { id, include: ['revisions'] });
  expect(read).toMatchObject({ workload: { cpu_request: '100m' }, revisions: [{ revision: 2 }, { revision: 1 }] });
  expect(await call('list_resources', { kind: 'workload', search: 'web' })).toMatchObject({ workloads: [{ id }] });
  expect(await call('list_resources', { kind: 'volume' })).toMatchObject({ total: 0, volumes: [] });
  expect(await call('list_resources', { kind: 'secret' })).toMatchObject({ total: 0, secrets: [] });
});

test('tools plan, create, read, change, control and delete a deployment', async () => {
  const wanted = { name: 'db', template: 'a-database', env: { NAME: 'agent' } };
  const plan = await call('plan_deployment', { ...wanted, manifest: true });
  expect(plan.ok).toBe(true);
  expect(plan.manifest.length).toBeGreaterThan(0);
  expect(await call('plan_deployment', wanted)).not.toHaveProperty('manifest');
  const created = await call('create_deployment', { ...wanted, idempotency_key: 'once' });
  expect(await call('create_deployment', { ...wanted, idempotency_key: 'once' })).toEqual(created);
  const { id } = created.deployment;
  await sql.deployment.update({ where: { id }, data: { phase: 'running', observed_generation: 1 } });
  expect(await call('wait_for_deployment', { deployment: 'db' })).toMatchObject({ reached: true });
  expect(await call('list_deployments', { phase: 'running' })).toMatchObject({ deployments: [{ id }] });
  const include = ['events', 'revisions', 'manifest'];
  expect(await call('get_deployment', { deployment: id, include })).toMatchObject({
    deployment: { env: { NAME: 'agent' } },
    revisions: [{ generation: 1 }],
    manifest: expect.any(Array),
  });
  const { deployment } = await call('update_deployment', { deployment: 'db', replicas: 1, labels: { team: 'ml' } });
  expect(deployment.name).toBe('db');
  await call('update_deployment', { deployment: 'db', env: { NAME: 'other' } });
  await call('control_deployment', { deployment: 'db', action: 'rollback' });
  await call('control_deployment', { deployment: 'db', action: 'restart' });
  expect(await call('control_deployment', { deployment: 'db', action: 'stop' })).toMatchObject({
    deployment: { desired_state: 'stopped' },
  });
  await call('control_deployment', { deployment: 'db', action: 'start' });
  const env_schema = [
    ...template.env_schema,
    { name: 'LOG_LEVEL', description: '', default_value: '', required: true },
  ];
  await publish({ ...template, version: '9.0.0', env_schema });
  expect(await call('list_deployments')).toMatchObject({
    deployments: [{ update: { to_version: '9.0.0', held: null }, rollout: null }],
  });
  const env = { NAME: 'other', LOG_LEVEL: 'new' };
  const upgrade = await call('plan_deployment', { deployment_id: id, upgrade: true, env });
  expect(upgrade).toMatchObject({ ok: true, outage: expect.any(Object), new_variables: [{ name: 'LOG_LEVEL' }] });
  expect(upgrade.values).toContainEqual({ path: 'env.LOG_LEVEL', from: null, to: 'new' });
  const planned = { deployment: 'db', action: 'upgrade', expected: upgrade.digest, env };
  expect(await call('control_deployment', planned)).toMatchObject({ deployment: { update: null } });
  expect(await call('get_fleet_status')).toMatchObject({
    you: { role: 'admin' },
    deployments: { total: 1, by_phase: { pending: 1 } },
    targets: [{ name: 'box' }],
  });
  expect(await call('delete_deployment', { deployment: 'db', confirm: 'db' })).toMatchObject({ deleted: true });
});

test('the status names applications that a warning is about', async () => {
  const application = anApplication({ slug: 'advised', revision: 1 });
  const publishWith = (...advisories: Advisory[]) => {
    fleet.hub.publishApplications({ ...application, advisories });
    return fleet.sync();
  };
  await publishWith();
  const created = await fleet.operator.post('/api/v1/applications', { name: 'advised-notes', application: 'advised' });
  expect(created.status).toBe(201);
  await publishWith(anAdvisory({ severity: 'warning' }), anAdvisory({ severity: 'note' }));
  const { applications } = await call('get_fleet_status');
  const about = [{ severity: 'warning', message: 'It deletes data.', acknowledged: false }];
  expect(applications).toMatchObject({
    with_advisories: [{ name: 'advised-notes', slug: 'advised', advisories: about }],
  });
  expect((await fleet.operator.delete(`/api/v1/applications/${created.body.application.id}`)).status).toBe(200);
});

test('tools plan documents, apply them, and export what exists', async () => {
  const text = `kind: deployment
name: planned
spec:
  image_name: team/app
  volume_mounts: [{ name: data, mountPath: /data }]
on_removal: delete_all
`;
  const { plan } = await call('plan_configuration', { text, set: 'agent' });
  expect(plan).toMatchObject({ state: 'ready', changes: [{ name: 'planned', action: 'create' }], losses: [] });
  const { id, digest } = plan;
  expect(await call('apply_plan', { id, digest })).toMatchObject({ applied: true, plan: { state: 'applied' } });
  expect((await call('export_configuration', { set: 'agent' })).text).toContain('name: planned');
  const other = text.replace('planned', 'other');
  const { plan: removal } = await call('plan_configuration', { text: other, set: 'agent', prune: true });
  expect(removal.losses).toEqual([{ deployment: 'planned', volume: 'planned-data', size: '10Gi' }]);
  const unconfirmed = { id: removal.id, digest: removal.digest };
  expect(await call('apply_plan', unconfirmed)).toMatchObject({ applied: false, plan: { state: 'ready' } });
  expect(await sql.deployment.count({ where: { name: 'planned' } })).toBe(1);
  expect(await call('apply_plan', { ...unconfirmed, confirm: removal.digest })).toMatchObject({ applied: true });
  expect(await sql.deployment.count({ where: { name: 'planned' } })).toBe(0);
});

test('tools read and control an application by its name', async () => {
  const spec = { parts: [{ name: 'web', image_name: 'team/web' }] };
  await world.asAdmin.post('/api/v1/applications', { name: 'shop', spec });
  const read = await call('get_deployment', { deployment: 'shop' });
  expect(read.application).toMatchObject({ name: 'shop', parts: [{ name: 'web', phase: 'pending' }] });
  const stopped = await call('control_deployment', { deployment: 'shop', action: 'stop' });
  expect(stopped.application).toMatchObject({ name: 'shop', phase: 'stopped' });
  const refused = await agent.callTool({
    name: 'control_deployment',
    arguments: { deployment: 'shop', action: 'upgrade' },
  });
  expect(JSON.stringify(refused)).toContain(
    'must be start, stop, restart, rollback or abort_rollout for an application',
  );
});

test('no result of a tool contains a generated value', async () => {
  const env_schema = [{ name: 'PASSWORD', description: '[secret]' }];
  const { workload } = await call('save_workload', { name: 'with-password', image_name: 'team/app', env_schema });
  const wanted = { name: 'with-password', workload_id: workload.id, env: { PASSWORD: { generate: 32 } } };
  const results = [
    await call('plan_deployment', { ...wanted, manifest: true }),
    await call('create_deployment', { ...wanted, idempotency_key: 'with-a-password' }),
    await call('create_deployment', { ...wanted, idempotency_key: 'with-a-password' }),
    await call('update_deployment', { deployment: 'with-password', env: { PASSWORD: { generate: 48 } } }),
    await call('get_deployment', { deployment: 'with-password', include: ['events', 'revisions', 'manifest'] }),
    await call('control_deployment', { deployment: 'with-password', action: 'rollback' }),
  ];
  const rows = await sql.sealedValue.findMany();
  const values = await Promise.all(rows.map((row) => openValue(world.sealer, row)));
  expect(values.map(({ length }) => length).sort()).toEqual([32, 48]);
  for (const value of values) expect(JSON.stringify(results)).not.toContain(value);
});

test('tools search the audit log', async () => {
  const { entries } = await call('search_audit_log', { tool: 'create_deployment', status: 201, limit: 1 });
  expect(entries).toMatchObject([{ method: 'POST', path: '/api/v1/deployments', part: true }]);
});

test('tools find, plan and create an application of the catalog, without its generated values', async () => {
  const inputs = [{ name: 'title' }];
  await sql.catalogApplication.create({
    data: catalogApplication('wiki', { documentation: 'Two parts.', inputs }).rows,
  });
  expect(await call('search_templates', { kind: 'application' })).toMatchObject({
    total: 2,
    applications: [{ slug: 'advised' }, { slug: 'wiki' }],
  });
  const found = await call('get_template', { kind: 'application', slug: 'wiki' });
  expect(found).toMatchObject({ documentation: 'Two parts.', inputs: [{ name: 'title' }], parts: [{ name: 'web' }] });
  const wanted = { name: 'notes', application: 'wiki', inputs: { title: 'Notes' }, labels: { team: 'ml' } };
  const plan = await call('plan_deployment', { ...wanted, manifest: true });
  expect(plan).toMatchObject({
    ok: true,
    generated: ['password'],
    parts: [{ name: 'web', action: 'create' }],
    placement: { target: { host_id: expect.any(String) } },
    manifest: expect.any(Array),
  });
  const created = await call('create_deployment', { ...wanted, idempotency_key: 'notes' });
  expect(created.application).toMatchObject({ name: 'notes', parts: [{ name: 'web' }] });
  expect(await call('create_deployment', { ...wanted, idempotency_key: 'notes' })).toEqual(created);
  const [row] = await sql.sealedValue.findMany({ where: { application_id: created.application.id } });
  const value = row && (await openValue(world.sealer, row));
  expect(value).toHaveLength(32);
  expect(JSON.stringify([plan, created])).not.toContain(value);
  const entries = await sql.auditEntry.findMany({ where: { path: '/api/v1/applications', part: true } });
  expect(entries.filter(({ tool }) => tool === 'create_deployment')).toMatchObject([
    { status: 201, object_name: 'notes' },
    { status: 201 },
  ]);
});

test.each([
  [{ application: 'wiki', template: 'a-database' }, 'template: must not be given with application, which takes name'],
  [{ application: 'wiki', replicas: 2 }, 'replicas: must not be given with application'],
  [{ application: 'wiki', env: { NAME: 'x' } }, 'env: must not be given with application'],
  [{ template: 'a-database', inputs: { title: 'x' } }, 'inputs: must be given only with application'],
])('arguments that contradict each other are refused with what is allowed: %j', async (given, message) => {
  for (const name of ['plan_deployment', 'create_deployment'])
    expect(JSON.stringify(await agent.callTool({ name, arguments: { name: 'never', ...given } }))).toContain(message);
  expect(await sql.deployment.count({ where: { name: { startsWith: 'never' } } })).toBe(0);
});

test('each tool was called, except that for logs, which needs an engine', () => {
  const missing = Object.keys(fleetTools).filter((name) => !called.has(name));
  expect(missing).toEqual(['read_deployment_logs']);
});

test('resources are read with the same operations, and completed', async () => {
  const { resources } = await agent.listResources();
  expect(resources).toMatchObject([{ uri: 'fleet://templates/a-database', title: 'A database' }]);
  const { contents } = await agent.readResource({ uri: 'fleet://templates/a-database' });
  expect(contents).toMatchObject([{ mimeType: 'text/markdown', text: expect.stringContaining('How to use it.') }]);
  await fleet.deployed({ name: 'served', desired_state: 'stopped' });
  const deployment = await agent.readResource({ uri: 'fleet://deployments/served' });
  expect(deployment.contents).toMatchObject([
    { mimeType: 'application/json', text: expect.stringContaining('"served"') },
  ]);
  await expect(agent.readResource({ uri: 'fleet://deployments/served/logs' })).rejects.toThrow(
    /not_found|no log|stopped/,
  );
  const prompt = { type: 'ref/prompt', name: 'deploy_template' } as const;
  const slugs = await agent.complete({ ref: prompt, argument: { name: 'template', value: 'database' } });
  expect(slugs.completion.values).toEqual(['a-database']);
  const ref = { type: 'ref/resource', uri: 'fleet://deployments/{name}' } as const;
  const names = await agent.complete({ ref, argument: { name: 'name', value: 'serv' } });
  expect(names.completion.values).toEqual(['served']);
});

test('calls are counted by tool and code', async () => {
  await agent.callTool({ name: 'get_workload', arguments: { id: 'nothing' } });
  const { text } = await world.nobody.get('/metrics');
  expect(text).toMatch(/^mcp_tool_calls_total\{tool="create_deployment",code="ok"\} [1-9]/m);
  expect(text).toMatch(/^mcp_tool_calls_total\{tool="get_workload",code="not_found"\} [1-9]/m);
  expect(text).toMatch(/^mcp_tool_call_duration_seconds_count\{tool="create_deployment"\} [1-9]/m);
});
