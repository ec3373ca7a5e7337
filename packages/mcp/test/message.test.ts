import { expect, test } from '@jest/globals';
import { describeMessage } from '../src/message.ts';

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
  expect(describeMessage(message)).toEqual(expected);
});

test('the log has short printable text without credentials', () => {
  const described = describeMessage({ method: `x\n${'ü'.repeat(100)}`, params: client(`svcm_${'a'.repeat(49)}`) });
  expect(described).toEqual({ method: `x?${'?'.repeat(38)}`, client: '[credential]' });
});
