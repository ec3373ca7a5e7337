import { startMcpWorld } from './world.ts';

const fleet = await startMcpWorld();
const { call, request, send, entriesOf, aHost, world } = fleet;
const { client } = world.database;

const READ = 'list_deployments';

test('a call has an entry for its request, and one for each operation, with the same request id', async () => {
  const token = await world.aToken({ role: 'viewer' });
  await call('get_fleet_status', {}, { token: token.secret, headers: { 'X-Request-Id': 'of-this-call' } });
  const { requests, parts } = await entriesOf(token);
  const common = {
    request_id: 'of-this-call',
    tool: 'get_fleet_status',
    status: 200,
    source: '127.0.0.1',
    aborted: false,
  };
  expect(requests).toEqual([expect.objectContaining({ ...common, method: 'POST', path: '/mcp' })]);
  expect(parts.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'GET /api/v1/applications',
    'GET /api/v1/auth/me',
    'GET /api/v1/catalog/sync',
    'GET /api/v1/clusters',
    'GET /api/v1/deployments',
    'GET /api/v1/deployments',
    'GET /api/v1/hosts',
  ]);
  for (const part of parts) expect(part).toMatchObject(common);
});

test.each([
  ['tools/list', {}, 200],
  ['server/discover', {}, 200],
  ['no/such-method', {}, 404],
  ['tools/call', { name: 'no_such_tool', arguments: {} }, 200],
])('%s without an operation has one entry', async (method, params, status) => {
  const token = await world.aToken({ role: 'viewer' });
  expect((await request(method, params, { token: token.secret })).status).toBe(status);
  const { requests, parts } = await entriesOf(token);
  expect(requests).toMatchObject([{ method: 'POST', path: '/mcp', status, tool: null }]);
  expect(parts).toEqual([]);
});

test('a change is committed with the entry of its operation', async () => {
  await aHost();
  const token = await world.aToken({ role: 'operator' });
  const { id } = await fleet.aWorkload();
  const { structuredContent } = await call(
    'create_deployment',
    { name: 'recorded', workload_id: id },
    { token: token.secret },
  );
  expect(structuredContent.deployment).toMatchObject({ name: 'recorded', phase: 'pending' });
  const { requests, parts } = await entriesOf(token);
  expect(requests).toMatchObject([{ path: '/mcp', status: 200, tool: 'create_deployment' }]);
  expect(parts).toMatchObject([
    { method: 'POST', path: '/api/v1/deployments', status: 201, tool: 'create_deployment' },
  ]);
});

test('a rejected operation has an entry with the status of its problem', async () => {
  const token = await world.aToken({ role: 'operator' });
  await call('create_deployment', { name: 'nothing', template: 'nothing' }, { token: token.secret });
  await call('delete_deployment', { deployment: 'nothing' }, { token: token.secret });
  const { requests, parts } = await entriesOf(token);
  expect(requests.map(({ status }) => status)).toEqual([200, 200]);
  expect(parts.map(({ method, path, status }) => [method, path, status])).toEqual([
    ['POST', '/api/v1/deployments', 404],
    ['GET', '/api/v1/deployments', 200],
    ['GET', '/api/v1/deployments', 200],
  ]);
});

test('a tool that the role does not admit has an entry for the operation that was refused', async () => {
  const token = await world.aToken({ role: 'viewer' });
  await call('sync_catalog', {}, { token: token.secret });
  const { requests, parts } = await entriesOf(token);
  expect(requests).toMatchObject([{ status: 200, tool: 'sync_catalog' }]);
  expect(parts).toMatchObject([{ method: 'POST', path: '/api/v1/catalog/sync', status: 403, tool: 'sync_catalog' }]);
});

const id = '0198c5a0-0000-7000-8000-000000000000';

test.each([
  ['control_deployment', { deployment: 'web', action: 'start' }, 'POST', 'deployments/web/start'],
  ['control_deployment', { deployment: 'web', action: 'stop' }, 'POST', 'deployments/web/stop'],
  ['control_deployment', { deployment: id, action: 'restart' }, 'POST', `deployments/${id}/restart`],
  ['control_deployment', { deployment: 'web', action: 'rollback' }, 'POST', 'deployments/web/rollback'],
  ['control_deployment', { deployment: 'web', action: 'upgrade' }, 'POST', 'deployments/web/upgrade'],
  ['control_deployment', { deployment: 'web', action: 'abort_rollout' }, 'POST', 'deployments/web/rollout/abort'],
  ['control_deployment', { deployment: 'web', action: 'constructor' }, 'POST', 'deployments/web/stop'],
  ['update_deployment', { deployment: 'a/b\ud800' }, 'PUT', 'deployments/a%2Fb%EF%BF%BD'],
  ['delete_deployment', { deployment: 'web' }, 'DELETE', 'deployments/web'],
  ['delete_deployment', { deployment: 5 }, 'DELETE', 'deployments/:id'],
  ['save_workload', { name: 'new' }, 'POST', 'workloads'],
  ['save_workload', { id, name: 'new' }, 'PUT', `workloads/${id}`],
  ['update_target', { kind: 'host', id }, 'PUT', `hosts/${id}`],
  ['update_target', { kind: 'cluster', id }, 'PUT', `clusters/${id}`],
  ['check_target', { kind: 'cluster', id }, 'POST', `clusters/${id}/check`],
])('a refused %s with %j is recorded as %s %s', async (tool, given, method, path) => {
  const token = await world.aToken({ role: 'viewer' });
  await call(tool, given, { token: token.secret });
  const { parts } = await entriesOf(token);
  expect(parts).toMatchObject([{ method, path: `/api/v1/${path}`, status: 403, tool }]);
});

test('the requests of a user are recorded, as those of tokens', async () => {
  const user = await world.aUser('viewer');
  const { access_token } = await user.signIn();
  await call(READ, {}, { token: access_token, headers: { 'X-Request-Id': 'of-a-user' } });
  const entries = await client.auditEntry.findMany({ where: { request_id: 'of-a-user' }, orderBy: { part: 'asc' } });
  expect(entries).toMatchObject([
    { method: 'POST', path: '/mcp', tool: READ, part: false, actor: user.email },
    { method: 'GET', path: '/api/v1/deployments', tool: READ, part: true, actor: user.email },
  ]);
});

test('the audit log can be searched by tool and by request id', async () => {
  const token = await world.aToken({ role: 'viewer' });
  await call(READ, {}, { token: token.secret, headers: { 'X-Request-Id': 'to-be-found' } });
  const byId = await world.asAdmin.get('/api/v1/audit?request_id=to-be-found');
  expect(byId.body.entries).toHaveLength(2);
  const byTool = await world.asAdmin.get(`/api/v1/audit?tool=${READ}&token_id=${token.id}`);
  expect(byTool.body.entries.map(({ part }: { part: boolean }) => part).sort()).toEqual([false, true]);
});

test('without the audit log, each response is 503 and nothing changes', async () => {
  const { id } = await fleet.aWorkload();
  const token = (await world.aToken({ role: 'operator' })).secret;
  const count = await client.deployment.count();
  await client.$executeRaw`ALTER TABLE audit_entries RENAME TO away`;
  try {
    const params = (name: string, given: object, more = {}) => ({ name, arguments: given, ...more });
    const responses = [
      await request('tools/list', {}, { token }),
      await request('tools/call', params(READ, {}), { token }),
      await request('tools/call', params('create_deployment', { name: 'unrecorded', workload_id: id }), { token }),
      await send('not JSON', { token }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  } finally {
    await client.$executeRaw`ALTER TABLE away RENAME TO audit_entries`;
  }
  expect(await client.deployment.count()).toBe(count);
});
