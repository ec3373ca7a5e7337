// What each GET and each tool reads, with rows as large as they can be, and more rows than a page.
import { randomUUID } from 'node:crypto';
import { hasPages, MAX_PARTS, readBound } from '@svc/contract';
import { fleetEndpoints, fleetTools, MAX_RUN_ITEMS, planLimits } from '@svc/contract/fleet';
import { MAX_PERFORMED_BYTES } from '@svc/http';
import { countingReads } from '@svc/testing';
import { insertRun } from '../src/deployments/update-runs/runs.ts';
import { aTemplate } from './a-template.ts';
import { anApplication } from './an-application.ts';
import { messagesTo } from './mcp/client.ts';
import { listen } from './raw.ts';
import { startResources } from './resources/resources.ts';

/** The large rows of a kind, the rows of a page, and small rows besides. */
const LARGE = 6;
const PAGE = 3;
const SMALL = 40;

const fleet = await startResources();
const { client, asAdmin } = fleet;
const listening = await listen(fleet.app);
const { call } = messagesTo(listening.url);
const { secret: token } = await fleet.aToken({ role: 'admin' });
const reads = countingReads();
afterAll(async () => {
  reads.stop();
  await listening.close();
  await fleet.stop();
});

/** Texts of 900 KB, which a body of 1 MiB can contain. */
const NAMES = Array.from({ length: 45 }, (_, index) => `NAME_${index}`);
const TEXT = 'x'.repeat(20_000);
const command = NAMES.map(() => TEXT);
const env = Object.fromEntries(NAMES.map((name) => [name, TEXT]));

const ids: Record<string, string> = {};

beforeAll(async () => {
  await client.$executeRaw`
    INSERT INTO hosts (id, name, engine, endpoint, by_admin, created_by)
    SELECT gen_random_uuid(), 'small-' || n, 'docker', 'unix:///run/engine.sock', true, 'test' FROM generate_series(1, ${SMALL}) n`;
  await client.$executeRaw`
    INSERT INTO users (id, email, name, role, source)
    SELECT gen_random_uuid(), 'small-' || n || '@example.test', 'Small', 'viewer', 'local' FROM generate_series(1, ${SMALL}) n`;
  await client.$executeRaw`
    INSERT INTO events (id, at, kind, object_id, name, severity, reason, message)
    SELECT gen_random_uuid(), now(), 'hosts', gen_random_uuid(), 'small', 'normal', 'Small', 'small' FROM generate_series(1, ${SMALL}) n`;
  ids.hosts = (await fleet.aRoomyHost()).id;
  ids.clusters = (await fleet.aRoomyCluster()).id;
  ids.secrets = (await fleet.aSecret({ name: 'large' })).id;
  ids.storage = (await fleet.aVolume()).id;
  ids.users = (await fleet.aUser('viewer')).id;
  ids.tokens = (await fleet.aToken()).id;
  ids['update-runs'] = await aRun();
  ids.webhooks = await aWebhook();
  ids.plans = await aPlan();
  const source = { name: 'large', url: 'http://localhost:9/large.git' };
  ids.sources = (await asAdmin.post('/api/v1/sources', source)).body.source.id;
  for (let row = 0; row < LARGE; row++) {
    const bare = { secret_refs: [], registry_credentials: null, env_schema: [], required_network_types: [] };
    const document = aTemplate({ ...bare, slug: `large-${row}`, documentation: TEXT.repeat(25) });
    const { id, slug, category_id, category_slug, is_featured, updated_at } = document;
    const data = { id, slug, category_id, category_slug, is_featured, updated_at, search_text: slug, sort_name: slug };
    await client.catalogTemplate.create({ data: { ...data, document: document as object } });
    const application = anApplication({ slug: `large-${row}`, documentation: TEXT.repeat(25) });
    await client.catalogApplication.create({
      data: {
        ...data,
        id: application.id,
        document: application as object,
        summary: { ...application, documentation: '' } as object,
        document_bytes: JSON.stringify(application).length,
        summary_bytes: 1000,
      },
    });
    ids.workloads = (await fleet.aWorkload({ command })).id;
  }
  const env_schema = NAMES.map((name) => ({ name, required: false }));
  const { id: workload_id } = await fleet.aWorkload({ env_schema });
  for (let row = 0; row < LARGE; row++) {
    ids.deployments = (
      await fleet.aDeployment({ name: `large-${row}`, workload_id, env, desired_state: 'stopped' })
    ).id;
  }
  ids.applications = await aLargeApplication();
  for (let change = 1; change < LARGE; change++) {
    await asAdmin.put(`/api/v1/workloads/${ids.workloads}`, { command: [...command, `${change}`] });
    await asAdmin.put(`/api/v1/deployments/${ids.deployments}`, { env: { ...env, NAME_0: `${change}` } });
  }
});

/** An application with as many parts as allowed, each with much configuration. */
async function aLargeApplication(): Promise<string> {
  const text = TEXT.slice(0, 12_000);
  const parts = Array.from({ length: MAX_PARTS }, (_, index) => ({
    name: `part-${index}`,
    image_name: 'team/app',
    ports: [{ containerPort: 80 }],
    env: [{ name: 'TEXT', value: text }],
  }));
  let id = '';
  for (let row = 0; row < PAGE; row++) {
    const body = { name: `large-application-${row}`, spec: { parts }, target: { host_id: ids.hosts } };
    const answer = await asAdmin.post('/api/v1/applications', body);
    if (answer.status !== 201) throw new Error(answer.text);
    id = answer.body.application.id;
  }
  return id;
}

/** A run with as many deployments as allowed. */
async function aRun(): Promise<string> {
  const items = Array.from({ length: MAX_RUN_ITEMS }, (_, index) => ({
    deployment_id: randomUUID(),
    application_id: null,
    name: `deployment-${index}`,
    wave: null,
    expected: null,
    skipped: 'No update is available.',
  }));
  const creator = { created_by: 'test', created_by_user: null, created_by_token: null };
  const run = { creator, selection: { template: 'any' }, wave: 1, stopAfter: 1, plan: { digest: '', items } };
  return client.$transaction((transaction) => insertRun(transaction, run));
}

/** A webhook with more deliveries than a page. */
async function aWebhook(): Promise<string> {
  const data = {
    name: 'of the test',
    url: 'https://hooks.example.test/',
    events: [],
    sealed: '',
    key_id: 'test',
    created_by: 'test',
  };
  const { id } = await client.webhook.create({ data });
  await client.$executeRaw`
    INSERT INTO webhook_deliveries (webhook_id, message_id, event, object_id, body)
    SELECT ${id}::uuid, gen_random_uuid(), 'webhook.test', gen_random_uuid(), '{}' FROM generate_series(1, ${SMALL})`;
  return id;
}

/** A plan with as many changes as allowed. */
async function aPlan(): Promise<string> {
  const files = Array.from({ length: planLimits.changes }, (_, index) => {
    const head = `kind: deployment\nname: planned-${index}\nspec:\n  image_name: team/app\n  command:\n`;
    return { path: `${index}.yaml`, text: `${head}${`    - ${'x'.repeat(100)}\n`.repeat(50)}` };
  });
  return (await asAdmin.post('/api/v1/plans', { files })).body.plan.id;
}

/** A stream does not end, and a log needs an engine. */
const { watchChanges, readDeploymentLogs, readApplicationLogs, ...others } = fleetEndpoints;
const gets = Object.values(others).filter(({ method }) => method === 'get');

/** Operations that this token, or a fleet without an identity provider, does not have. */
const REFUSED = ['startOidcLogin', 'endOidcLogin', 'getBrowserSession', 'listOwnSessions'];

const pathOf = (path: string) => {
  const [, , , kind = ''] = path.split('/');
  const query = kind === 'export' ? '?name=large-0' : ''; // all of them are more than an export has
  return `${path.replace(':id', ids[kind] ?? '').replace(':slug', 'large-0')}${query}`;
};

test.each(gets.map((endpoint) => [endpoint.operationId, endpoint] as const))(
  '%s reads as much as it declares at most',
  async (name, endpoint) => {
    const paged = hasPages(endpoint.query);
    const { result, rows, bytes } = await reads.of(() =>
      asAdmin.get(`${pathOf(endpoint.path)}${paged ? `?limit=${PAGE}` : ''}`),
    );
    if (!REFUSED.includes(name)) expect(result.status).toBe(200);
    const bound = readBound(endpoint, paged ? PAGE : SMALL);
    expect(rows).toBeLessThanOrEqual(bound.rows);
    expect(bytes).toBeLessThanOrEqual(bound.bytes);
    expect(result.text.length).toBeLessThanOrEqual(bound.bytes);
  },
);

const aDeployment = { deployment: 'large-0' };

/** The calls of each tool that read most. */
const calls: Readonly<Record<keyof typeof fleetTools, readonly object[]>> = {
  get_fleet_status: [{}],
  search_templates: [{ limit: 50 }],
  get_template: [{ slug: 'large-0' }],
  list_targets: [{ limit: 50, full: true }],
  list_deployments: [{ limit: 100 }],
  get_deployment: [{ ...aDeployment, include: ['events', 'revisions', 'manifest'] }],
  plan_deployment: [{ template: 'large-0', name: 'planned' }],
  wait_for_deployment: [{ ...aDeployment, until: 'stopped', timeout_seconds: 1 }],
  read_deployment_logs: [aDeployment],
  list_resources: ['workload', 'volume', 'secret'].map((kind) => ({ kind, limit: 100 })),
  get_workload: [],
  create_deployment: [{ template: 'large-0', name: 'created' }],
  update_deployment: [{ deployment: 'created', labels: { team: 'ml' } }],
  control_deployment: [{ ...aDeployment, action: 'start' }],
  delete_deployment: [{ deployment: 'created', confirm: 'created' }],
  plan_configuration: [{ text: 'kind: deployment\nname: planned\nspec: {image_name: team/app}\n' }],
  apply_plan: [],
  export_configuration: [{ name: 'large-0' }],
  save_workload: [{ name: 'saved', image_name: 'team/web' }],
  update_target: [],
  check_target: [],
  sync_catalog: [{}],
  search_audit_log: [{ limit: 100 }],
};

/** Calls that name a row of the tests by its id. */
const callsOfRows = (): Partial<typeof calls> => ({
  get_workload: [{ id: ids.workloads, include: ['revisions'] }],
  update_target: [{ kind: 'host', id: ids.hosts, labels: { rack: 'a' } }],
  check_target: [{ kind: 'host', id: ids.hosts }],
});

/** A tool performs each of its operations a few times, and receives at most this much of each. */
const PERFORMED = 2;

test.each(Object.entries(fleetTools))(
  'the tool %s reads as much as its operations declare at most',
  async (name, tool) => {
    const named = name as keyof typeof fleetTools; // a key of the tools
    for (const given of callsOfRows()[named] ?? calls[named]) {
      const { result, rows, bytes } = await reads.of(() => call(name, given, { token }));
      const bounds = tool.calls.map((endpoint) => readBound(endpoint));
      const most = bounds.reduce((sum, bound) => sum + PERFORMED * bound.rows, 0);
      const mostBytes = bounds.reduce((sum, bound) => sum + Math.min(bound.bytes, MAX_PERFORMED_BYTES), 0);
      expect(rows).toBeLessThanOrEqual(most);
      expect(bytes).toBeLessThanOrEqual(mostBytes);
      expect(JSON.stringify(result.structuredContent ?? null).length).toBeLessThanOrEqual(mostBytes);
    }
  },
);
