import { afterAll, expect, test } from '@jest/globals';
import { Server } from '@modelcontextprotocol/server';
import { startMounted } from './mounted.ts';

const mounted = await startMounted(() => new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } }));
afterAll(() => mounted.stop());

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

const post = (method: string, params: object = {}) =>
  fetch(`${mounted.url}/mcp`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
  });

test('a stream on which a client listens ends at once, because the server announces no changes', async () => {
  const answer = await post('subscriptions/listen', { notifications: { toolsListChanged: true } });
  expect(await answer.text()).toEqual(expect.any(String));
});

test('a response is not stored, and has a request id', async () => {
  const { status, headers } = await post('server/discover');
  expect(status).toBe(200);
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(headers.get('X-Request-Id')).toMatch(/./);
});
