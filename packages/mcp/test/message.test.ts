import { expect, test } from '@jest/globals';
import { logEntryOf } from '../src/message.ts';

const client = (name: unknown) => ({ _meta: { 'io.modelcontextprotocol/clientInfo': { name } } });

test.each([
  [
    { method: 'tools/call', params: { name: 'get_template', ...client('agent') } },
    { method: 'tools/call', tool: 'get_template', client: 'agent' },
  ],
  [
    { method: 'initialize', params: { clientInfo: { name: 'older' } } },
    { method: 'initialize', client: 'older' },
  ],
  [{ method: 'prompts/get', params: { name: 'no tool' } }, { method: 'prompts/get' }],
  [{ method: 5, params: client({}) }, {}],
  ['text', {}],
  [null, {}],
])('the log has of %j what is known', (message, expected) => {
  expect(logEntryOf(message)).toEqual(expected);
});

test('the log has short printable text without credentials', () => {
  const entry = logEntryOf({ method: `x\n${'ü'.repeat(100)}`, params: client(`svcm_${'a'.repeat(49)}`) });
  expect(entry).toEqual({ method: `x?${'?'.repeat(38)}`, client: '[credential]' });
});
