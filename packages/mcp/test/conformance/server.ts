// A server with what the conformance suite calls by name. `mountMcp` serves it, as it serves the
// tools of a service.
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  type McpServerFactory,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { askUser, embedded, image, PIXEL, text } from './content.ts';
import { registerInputTools } from './input-required.ts';
import { registerContentTools, registerNotifyingTools, registerPushingTools, registerSchemaTools } from './tools.ts';

const sealed = createRequestStateCodec<{ readonly round?: number; readonly nonce: string }>({
  key: crypto.getRandomValues(new Uint8Array(32)),
});

export const conformanceServer: McpServerFactory = () => {
  const server = new McpServer(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {} },
      requestState: { verify: sealed.verify },
    },
  );
  registerContentTools(server);
  registerNotifyingTools(server);
  registerSchemaTools(server);
  registerPushingTools(server);
  registerInputTools(server, sealed);
  registerResources(server);
  registerPrompts(server);
  const completion = { values: [], total: 0, hasMore: false };
  server.server.setRequestHandler('completion/complete', () => ({ completion }));
  server.server.setRequestHandler('logging/setLevel', () => ({}));
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  return server;
};

function registerResources(server: McpServer): void {
  const resource = (
    name: string,
    mimeType: string,
    contents: { readonly text: string } | { readonly blob: string },
  ) => {
    const uri = `test://${name}`;
    server.registerResource(name, uri, { title: name, mimeType }, async () => ({
      contents: [{ uri, mimeType, ...contents }],
    }));
  };
  resource('static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  resource('static-binary', 'image/png', { blob: PIXEL });
  resource('watched-resource', 'text/plain', { text: 'Watched' });
  const mimeType = 'application/json';
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { title: 'template', mimeType }, async (uri, { id }) => ({
    contents: [{ uri: String(uri), mimeType, text: JSON.stringify({ id, templateTest: true }) }],
  }));
}

function registerPrompts(server: McpServer): void {
  const user = <T>(content: T) => ({ role: 'user' as const, content });
  server.registerPrompt('test_simple_prompt', { description: 'simple' }, () => ({
    messages: [user(text('This is a simple prompt for testing.'))],
  }));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'arguments', argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user(embedded(resourceUri, 'Embedded resource content for testing.')),
        user(text('Please process it.')),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'image' }, () => ({
    messages: [user(image), user(text('Please analyze the image.'))],
  }));
  server.registerPrompt('test_input_required_result_prompt', { description: 'input' }, ({ mcpReq }) => {
    const { context } = acceptedContent(mcpReq.inputResponses, 'user_context') ?? {};
    if (typeof context === 'string') return { messages: [user(text(`Use the following context: ${context}`))] };
    return inputRequired({ inputRequests: { user_context: askUser('What context?', 'context') } });
  });
}
