// The work of an agent from the first search to the deletion, on a real engine, with independent
// clients.
import { createMCPClient } from '@ai-sdk/mcp';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describeWithEngine, startEngine, type TestEngine } from '@svc/testing/engine';
import { aTemplate } from '../a-template.ts';
import { SERVE } from '../engines/world.ts';
import { connect, type ToolResult } from './client.ts';
import { startMcpWorld } from './world.ts';

/** A client with its own implementation of the protocol. */
interface AgentClient {
  call(name: string, given: object): Promise<ToolResult>;
  close(): Promise<unknown>;
}

type ConnectAgent = (url: string, token: string) => Promise<AgentClient>;

const clients: Readonly<Record<string, ConnectAgent>> = {
  'the SDK 2.x': async (url, token) => {
    const client = await connect(url, token);
    return {
      // Of a tool.
      call: async (name, given) => (await client.callTool({ name, arguments: { ...given } })) as ToolResult,
      close: () => client.close(),
    };
  },
  'the SDK 1.x': async (url, token) => {
    const client = new Client({ name: 'agent', version: '1' });
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    // Its types are stricter than its classes with exactOptionalPropertyTypes.
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }) as never);
    return {
      // As above.
      call: async (name, given) => (await client.callTool({ name, arguments: { ...given } })) as ToolResult,
      close: () => client.close(),
    };
  },
  'the AI SDK': async (url, token) => {
    const headers = { Authorization: `Bearer ${token}` };
    const client = await createMCPClient({ transport: { type: 'http', url: `${url}/mcp`, headers } });
    const tools = await client.tools();
    return {
      call: async (name, given) => {
        const result: unknown = await tools[name]?.execute?.(given, { toolCallId: name, messages: [] });
        return result as ToolResult; // the AI SDK returns results as they are
      },
      close: () => client.close(),
    };
  },
};

const served = aTemplate({
  slug: 'greeter',
  name: 'Greeter',
  documentation: 'Set GREETING.',
  registry_url: 'localhost',
  image_name: 'svc-test/busybox',
  image_tag: '1',
  command: ['/bin/sh', '-c', SERVE],
  env_schema: [{ name: 'GREETING', required: true, default_value: '', description: 'What it says' }],
  ports: [{ containerPort: 8080, protocol: 'TCP' }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
  cpu_request: '100m',
  memory_request: '64Mi',
  required_network_types: ['mesh'],
  env: [],
  secret_refs: [],
  registry_credentials: null,
  tolerations: [],
  node_selector: {},
});

const fleet = await startMcpWorld();

describeWithEngine('an agent on a real engine', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine();
    await fleet.publish(served);
    const { endpoint, kind } = engine;
    const { body } = await fleet.admin.post('/api/v1/hosts', { name: 'box', engine: kind, endpoint });
    await fleet.admin.post(`/api/v1/hosts/${body.host.id}/check`);
    fleet.world.services.engineRuntime.start();
  });
  afterAll(async () => {
    await fleet.world.services.engineRuntime.stop();
    await engine.stop();
  });

  test.each(Object.keys(clients))('%s deploys, changes, diagnoses and deletes', async (who) => {
    const name = `greeter-${Object.keys(clients).indexOf(who)}`;
    const agent = await (clients[who] as ConnectAgent)(fleet.url, fleet.tokens.operator.secret);
    const call = async (tool: string, given: object = {}) => {
      const result = await agent.call(tool, given);
      expect({ tool, error: result.isError ? result.content[0]?.text : undefined }).toEqual({ tool, error: undefined });
      return result.structuredContent;
    };
    const rejected = async (tool: string, given: object) => (await agent.call(tool, given)).content[0]?.text;
    const mesh = (networkTypes: readonly string[], id: string) =>
      call('update_target', { kind: 'host', id, network_types: networkTypes });

    expect((await call('get_fleet_status')).you.role).toBe('operator');
    const { templates } = await call('search_templates', { q: 'greeter' });
    expect(templates).toMatchObject([{ slug: 'greeter', required_env: ['GREETING'] }]);
    expect((await call('get_template', { slug: 'greeter' })).documentation).toBe('Set GREETING.');
    const { targets } = await call('list_targets');
    const [box] = targets;
    await mesh([], box.id);

    const wanted = { name, template: 'greeter', env: { GREETING: 'hello' } };
    const plan = await call('plan_deployment', wanted);
    expect(plan.ok).toBe(false);
    expect(plan.placement.candidates[0].reasons).toEqual([expect.stringContaining('mesh')]);
    expect(await rejected('create_deployment', wanted)).toMatch(/^no_placement \(422\): .*mesh/s);
    await mesh(['mesh'], box.id);
    expect((await call('plan_deployment', wanted)).ok).toBe(true);
    expect(await rejected('create_deployment', { ...wanted, env: {} })).toMatch(/^invalid_env \(422\): .*GREETING/s);

    await call('create_deployment', { ...wanted, idempotency_key: name });
    const up = await call('wait_for_deployment', { deployment: name, timeout_seconds: 50 });
    expect(up).toMatchObject({ reached: true, deployment: { phase: 'running' } });
    const logs = await agent.call('read_deployment_logs', { deployment: name, contains: 'READY' });
    expect(logs.content[0]?.text).toBe('1 of 1 lines\nready');
    const { deployment, events } = await call('get_deployment', { deployment: name, include: ['events'] });
    expect(events.length).toBeGreaterThan(0);

    const stale = { deployment: name, env: { GREETING: 'bye' }, version: deployment.version + 1 };
    expect(await rejected('update_deployment', stale)).toMatch(/^version_conflict \(412\)/);
    await call('update_deployment', { ...stale, version: deployment.version });
    expect((await call('wait_for_deployment', { deployment: name })).reached).toBe(true);
    await call('control_deployment', { deployment: name, action: 'rollback' });
    const back = await call('wait_for_deployment', { deployment: name });
    expect(back).toMatchObject({ reached: true, deployment: { endpoints: [{ container_port: 8080 }] } });
    const greeting = await fetch(`http://${back.deployment.endpoints[0].address}/`);
    expect(await greeting.text()).toContain('hello');

    const told = await call('delete_deployment', { deployment: name });
    expect(told).toMatchObject({ deleted: false, volumes_lost: [{ size: '10Gi' }] });
    expect((await call('delete_deployment', { deployment: name, confirm: name })).deleted).toBe(true);
    expect((await call('wait_for_deployment', { deployment: name, until: 'deleted' })).reached).toBe(true);
    await agent.close();
  });
});
