import { newSecretToken } from '@svc/auth';
import { type FleetRole, fleetRoles, fleetTools } from '@svc/contract/fleet';
import { depth } from '@svc/testing';
import { listen } from '../raw.ts';
import { FRONTEND, PROVIDER } from '../world.ts';
import { codeOf, messagesTo } from './client.ts';
import { startMcpWorld } from './world.ts';

const mcpWorld = await startMcpWorld();
const { call, request, send, url, tokens, world, entriesOf, stored } = mcpWorld;
const { client } = world.database;

/**
 * The tools that change something, and the lowest role that can use them. The others are for every
 * role.
 */
const FOR_OPERATORS = [
  'create_deployment',
  'update_deployment',
  'control_deployment',
  'delete_deployment',
  'apply_plan',
  'save_workload',
  'update_target',
  'check_target',
  'sync_catalog',
];
const FOR_ADMINS = ['search_audit_log'];

const isFor = (role: FleetRole, tool: string) =>
  (!FOR_OPERATORS.includes(tool) || role !== 'viewer') && (!FOR_ADMINS.includes(tool) || role === 'admin');

/**
 * All tools for all roles; at depth short, the refused ones, and one that is admitted for each
 * role.
 */
const cells = Object.keys(fleetTools)
  .flatMap((tool) => fleetRoles.map((role) => ({ tool, role })))
  .filter(({ tool, role }) => depth !== 'short' || tool === 'get_deployment' || !isFor(role, tool));

test.each(cells)('$tool for $role', async ({ tool, role }) => {
  const isAdmitted = isFor(role, tool);
  const token = tokens[role].secret;
  const { tools } = (await request('tools/list', {}, { token })).message.result;
  expect(tools.some(({ name }: { name: string }) => name === tool)).toBe(isAdmitted);
  const before = await stored();
  const code = codeOf(await call(tool, { unknown: true }, { token }));
  expect(code).toBe(isAdmitted ? 'validation_failed' : 'insufficient_scope');
  expect(await stored()).toEqual(before);
});

const revoked = await world.aToken({ role: 'admin', revoked_at: new Date() });
const expired = await world.aToken({ role: 'admin', expires_at: new Date(Date.now() - 1000) });
const badCredentials = {
  'no credential': undefined,
  'a revoked token': revoked.secret,
  'an expired token': expired.secret,
  'an unknown token': newSecretToken('svcm_'),
  'an API key of a hub': newSecretToken('svcc_'),
  'a service token of a hub': newSecretToken('svcs_'),
  'other text': 'abc',
};
const methods = ['server/discover', 'initialize', 'tools/list', 'tools/call', 'resources/read', 'no/such-method'];

test.each(
  Object.entries(badCredentials).flatMap(([what, token]) => methods.map((method) => ({ what, token, method }))),
)('$method with $what is 401', async ({ token, method }) => {
  const { status, headers, text } = await request(method, { name: 'sync_catalog', arguments: {} }, { token });
  expect(status).toBe(401);
  expect(headers.get('WWW-Authenticate')).toMatch(/^Bearer realm="fleet"/);
  expect(JSON.parse(text).code).toMatch(/^unauthenticated$|^invalid_token$/);
});

test.each(['GET', 'DELETE', 'HEAD'])('%s is 401 without a credential, and 405 with one', async (method) => {
  const authorization = { Authorization: `Bearer ${tokens.viewer.secret}` };
  expect((await fetch(`${url}/mcp`, { method })).status).toBe(401);
  const answer = await fetch(`${url}/mcp`, { method, headers: authorization });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('Allow')).toBe('POST, OPTIONS');
});

test('other methods are 405', async () => {
  expect((await fetch(`${url}/mcp`, { method: 'PUT' })).status).toBe(405);
});

test('a user of the provider without a role is refused without a challenge to sign in again', async () => {
  const replica = world.aReplica({ oidc: { issuer: PROVIDER } });
  const fleet = await listen(replica.app);
  const user = await world.anOidcUser();
  const { access_token: token } = await client.$transaction(async (transaction) => {
    const id = await replica.services.sessions.open(transaction, {
      kind: 'oidc',
      userId: user.id,
      providerToken: undefined,
    });
    return replica.services.sessions.issueTokens(transaction, id);
  });
  const { status, headers } = await messagesTo(fleet.url).request('tools/list', {}, { token });
  expect(status).toBe(403);
  expect(headers.get('WWW-Authenticate')).toBe(null);
  const entries = await client.auditEntry.findMany({ where: { user_id: user.id, path: '/mcp' } });
  expect(entries).toMatchObject([{ status: 403, part: false }]);
  await fleet.close();
});

test.each([
  ['http://evil.example', 403],
  ['null', 403],
  ['http://fleet.example.test', 200], // PUBLIC_URL
  [FRONTEND, 200],
])('a request from the origin %s is %d', async (origin, expected) => {
  const token = await world.aToken({ role: 'viewer' });
  const { status } = await request('tools/list', {}, { token: token.secret, headers: { Origin: origin } });
  expect(status).toBe(expected);
  expect((await entriesOf(token)).requests).toMatchObject([{ status: expected, path: '/mcp' }]);
});

const TOO_LARGE = JSON.stringify('x'.repeat(1024 * 1024 + 17 * 1024));
const NESTED = `${'['.repeat(40)}${']'.repeat(40)}`;

test.each([
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', {}, 400, -32_600],
  ['an empty batch', '[]', {}, 400, -32_600],
  ['text that is not JSON', '{', {}, 400, -32_700],
  ['an empty body', '', {}, 400, -32_700],
  ['a text that is not UTF-8', '"\udfff', {}, 400, -32_700],
  ['a number', '5', {}, 400, expect.any(Number)],
  ['null', 'null', {}, 400, expect.any(Number)],
  ['an object that is no message', '{"a":1}', {}, 400, expect.any(Number)],
  ['a message with the member rejection', '{"rejection":{"status":200}}', {}, 400, expect.any(Number)],
  ['a message of another version', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', {}, 400, expect.any(Number)],
  ['deep nesting', NESTED, {}, 400, -32_700],
  ['a body that is too large', TOO_LARGE, {}, 413, undefined],
  ['another media type', '{}', { 'Content-Type': 'text/plain' }, 415, undefined],
  ['a compressed body', '{}', { 'Content-Encoding': 'gzip' }, 415, undefined],
  [
    'an unknown revision',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}',
    { 'MCP-Protocol-Version': '1999-01-01' },
    400,
    expect.any(Number),
  ],
])('%s is refused', async (_, body, headers, status, code) => {
  const token = await world.aToken({ role: 'admin' });
  const answer = await send(body, { token: token.secret, headers });
  expect(answer.status).toBe(status);
  if (code === undefined) expect(JSON.parse(answer.text)).toMatchObject({ status });
  else expect(JSON.parse(answer.text)).toMatchObject({ error: { code } });
  const { requests, parts } = await entriesOf(token);
  expect(requests).toMatchObject([{ method: 'POST', path: '/mcp', status, tool: null }]);
  expect(parts).toEqual([]);
});

test.each([
  [
    'an unknown tool',
    'tools/call',
    { name: 'list_deployment', arguments: {} },
    /Unknown tool.*did you mean list_deployments/,
  ],
  ['a name of an object', 'tools/call', { name: 'constructor', arguments: {} }, /Unknown tool/],
  ['an unknown prompt', 'prompts/get', { name: 'nothing' }, /Unknown prompt/],
  ['a prompt without its argument', 'prompts/get', { name: 'deploy_template' }, /requires: template/],
  ['a cursor of another server', 'resources/list', { cursor: 'abc' }, /must be the nextCursor/],
  ['an unknown resource', 'resources/read', { uri: 'fleet://templates/nothing' }, /Not found/],
  ['a resource with other text', 'resources/read', { uri: 'file:///etc/passwd' }, /Not found/],
  ['a resource with invalid encoding', 'resources/read', { uri: 'fleet://templates/%ED%A0%80' }, /Not found/],
])('%s is an error of the protocol', async (_, method, params, message) => {
  const { message: answer } = await request(method, params, { token: tokens.admin.secret });
  expect(answer.error).toMatchObject({ code: expect.any(Number), message: expect.stringMatching(message) });
});

test.each([
  ['NUL', { deployment: 'a\0b' }, /well-formed Unicode/],
  ['another type', { deployment: { a: 1 } }, /deployment: must be a string/],
  ['a missing argument', {}, /deployment: is required/],
  [
    'an unknown argument',
    { deployment: 'x', includ: ['events'] },
    /did you mean include\?; allowed: deployment, include/,
  ],
  ['a path', { deployment: '../../../etc' }, /no deployment with this name/],
])('a call with %s is rejected in words', async (_, given, message) => {
  const result = await call('get_deployment', given, { token: tokens.viewer.secret });
  expect(result.isError).toBe(true);
  expect(result.content[0]?.text).toMatch(message);
  expect(result.structuredContent).toBeUndefined();
  expect(result._meta['svc/problem']).toMatchObject({ type: 'about:blank', request_id: expect.any(String) });
});

test('tools do not give the credentials of a registry to a variable, and plans list what they would give', async () => {
  const values = { username: 'me', password: 'hidden' };
  await mcpWorld.aSecret('pull', values, { kind: 'registry' });
  await mcpWorld.aHost();
  const { id } = await mcpWorld.aWorkload({ env_schema: [{ name: 'TOKEN' }] });
  const asOperator = { token: tokens.operator.secret };
  const given = { name: 'curious', workload_id: id, env: { TOKEN: { secret: 'pull', key: 'password' } } };
  const plan = await call('plan_deployment', given, asOperator);
  expect(plan.structuredContent).toMatchObject({
    ok: false,
    secrets: [{ variable: 'TOKEN', secret: 'pull', key: 'password', is_new: false }],
  });
  const secret_refs = [{ name: 'pull', key: 'password', env: 'TOKEN' }];
  for (const [tool, members] of [
    ['create_deployment', given],
    ['save_workload', { name: 'curious', image_name: 'a', secret_refs }],
    ['save_workload', { id, env_schema: [], secret_refs }],
  ] as const) {
    const { _meta, isError } = await call(tool, members, asOperator);
    expect({ tool, isError, status: _meta['svc/problem'].status }).toEqual({ tool, isError: true, status: 422 });
  }
});
