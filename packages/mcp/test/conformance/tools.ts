// The tools that the conformance suite calls by name.
import { setTimeout as pause } from 'node:timers/promises';
import { fromJsonSchema, type McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { audio, embedded, image, says, text } from './content.ts';

type Run = Parameters<McpServer['registerTool']>[2];

/** Registers a tool, by default without arguments. */
export const toolsOf =
  (server: McpServer) =>
  (name: string, run: (given: never, context: ServerContext) => unknown, inputSchema: unknown = z.object({})): void => {
    const options = { description: name.replaceAll('_', ' '), inputSchema: inputSchema as z.ZodObject };
    // The suite sends the arguments that each tool declares.
    server.registerTool(name, options, run as Run);
  };

/** Tools whose results have each kind of content. */
export function registerContentTools(server: McpServer): void {
  const tool = toolsOf(server);
  tool('test_simple_text', () => says(text('This is a simple text response for testing.')));
  tool('test_image_content', () => says(image));
  tool('test_audio_content', () => says(audio));
  tool('test_embedded_resource', () =>
    says(embedded('test://embedded-resource', 'This is an embedded resource content.')),
  );
  tool('test_multiple_content_types', () => {
    const resource = embedded('test://mixed-content-resource', '{"test":"data","value":123}', 'application/json');
    return says(text('Multiple content types test:'), image, resource);
  });
  tool('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('test_streaming_elicitation', () => says(text('results only')));
}

/** Tools that send notifications before their result. */
export function registerNotifyingTools(server: McpServer): void {
  const tool = toolsOf(server);
  tool('test_tool_with_logging', async (_, { mcpReq }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
      await pause(50);
    }
    return says(text('done'));
  });
  tool('test_tool_with_progress', async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = {
        progressToken: progressToken ?? 0,
        progress,
        total: 100,
        message: `Completed ${progress} of 100`,
      };
      await mcpReq.notify({ method: 'notifications/progress', params });
      await pause(50);
    }
    return says(text(String(progressToken ?? 'none')));
  });
  tool('test_logging_tool', async (_, { mcpReq }) => {
    await mcpReq.log('info', 'only if the request has a level');
    return says(text('logged'));
  });
}

/** Tools whose arguments are declared in JSON Schema. */
export function registerSchemaTools(server: McpServer): void {
  const tool = toolsOf(server);
  tool(
    'test_x_mcp_header',
    ({ region = 'none' }: { region?: string }) => says(text(region)),
    fromJsonSchema({
      type: 'object',
      // The type of the SDK does not know the keyword of the protocol.
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } as object, level: { type: 'integer' } },
    }),
  );
  const requires = (member: string) => ({ required: [member] });
  const text16 = { type: 'string' };
  tool(
    'json_schema_2020_12_tool',
    (given: object) => says(text(JSON.stringify(given))),
    fromJsonSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: text16, city: text16 } } },
      properties: {
        name: text16,
        phone: text16,
        email: text16,
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
      },
      allOf: [{ anyOf: [requires('phone'), requires('email')] }],
      if: { properties: { contactMethod: { const: 'phone' } }, ...requires('contactMethod') },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: requires('phone'),
      else: requires('email'),
      additionalProperties: false,
    }),
  );
}

/**
 * The time limit of a request to the client, in milliseconds. Its response never arrives, and the
 * scenario ends first.
 */
const ANSWER_MS = 10_500;

/**
 * Tools of revision 2025-11-25 that send a request to the client during a call. Its response would
 * arrive in another HTTP request, which another replica can receive, so the endpoint does not
 * support them.
 */
export function registerPushingTools(server: McpServer): void {
  const pushes = (name: string, method: string, params: object) => {
    const push = async (_: never, { mcpReq }: ServerContext) => {
      const request = { method, params } as never; // a request by its name
      return says(text(JSON.stringify(await mcpReq.send(request, { timeout: ANSWER_MS }))));
    };
    toolsOf(server)(name, push, z.looseObject({}));
  };
  const requestedSchema = { type: 'object', properties: { response: { type: 'string' } } };
  const form = { message: 'Please fill in', requestedSchema };
  pushes('test_elicitation', 'elicitation/create', form);
  pushes('test_elicitation_sep1034_defaults', 'elicitation/create', form);
  pushes('test_elicitation_sep1330_enums', 'elicitation/create', form);
  const messages = [{ role: 'user', content: text('Hello') }];
  pushes('test_sampling', 'sampling/createMessage', { messages, maxTokens: 10 });
}
