import { type FleetRole, fleetTools } from '@svc/contract/fleet';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { connect } from './client.ts';
import { startMcpWorld } from './world.ts';

const { url, tokens, request } = await startMcpWorld();

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
}

const toolsFor = async (role: FleetRole): Promise<readonly Listed[]> =>
  (await request('tools/list', {}, { token: tokens[role].secret })).message.result.tools;

/** The tools as most clients show them to a model. */
const shownTo = (tools: readonly Listed[]) =>
  JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })));

test.each([
  ['viewer', 13, 2500],
  ['operator', 22, 4500],
  ['admin', 23, 4500],
] as const)('a model of a %s is shown %d tools in at most %d tokens', async (role, count, tokenLimit) => {
  const tools = await toolsFor(role);
  expect(tools).toHaveLength(count);
  expect(encode(shownTo(tools)).length).toBeLessThanOrEqual(tokenLimit);
});

test('the schemas of tools are objects without references, and their names are short', async () => {
  for (const { name, inputSchema, outputSchema } of await toolsFor('admin')) {
    expect(name).toMatch(/^[a-z_]{1,64}$/);
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(inputSchema).not.toHaveProperty('anyOf');
    if (outputSchema) expect(outputSchema).toMatchObject({ type: 'object' });
    expect(JSON.stringify([inputSchema, outputSchema])).not.toMatch(/"\$ref"|"\$defs"/);
  }
});

const marked = (hint: 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint') =>
  Object.entries(fleetTools).flatMap(([name, { hints }]) => (hints[hint] ? [name] : []));

test('the hints follow from the endpoints, with these exceptions', () => {
  expect(marked('destructiveHint')).toEqual([
    'update_deployment',
    'control_deployment', // interrupts
    'delete_deployment',
    'apply_plan', // deletes
    'update_target',
  ]);
  expect(marked('openWorldHint')).toEqual(['read_deployment_logs']); // the text of others
  expect(marked('readOnlyHint')).toHaveLength(13);
  expect(marked('idempotentHint').filter((name) => !marked('readOnlyHint').includes(name))).toEqual([
    'update_deployment',
    'delete_deployment',
    'update_target',
    'check_target', // can be repeated
    'sync_catalog', // as above
  ]);
});

test.each(['auto', 'legacy'] as const)(
  'a client of the SDK (%s) uses tools, resources, prompts and completion',
  async (mode) => {
    const client = await connect(url, tokens.viewer.secret, { versionNegotiation: { mode } });
    expect((await client.listTools()).tools).toHaveLength(13);
    const status = await client.callTool({ name: 'get_fleet_status', arguments: {} });
    expect(status.structuredContent).toMatchObject({ you: { name: tokens.viewer.name, role: 'viewer' } });
    expect(status.content).toEqual([{ type: 'text', text: JSON.stringify(status.structuredContent) }]);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
      'deploy_template',
      'diagnose_deployment',
    ]);
    const prompt = await client.getPrompt({ name: 'deploy_template', arguments: { template: 'redis' } });
    expect(JSON.stringify(prompt.messages)).toContain('redis');
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(3);
    expect((await client.listResources()).resources).toEqual([]);
    expect(client.getInstructions()).toContain('get_fleet_status');
    await client.close();
  },
);
