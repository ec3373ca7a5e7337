import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { deployCommandOf } from '../src/hub/catalog/deploy-command.ts';

/** The arguments that a POSIX shell passes to curl. */
function argumentsOf(command: string, env: Readonly<Record<string, string>>): readonly string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }\n${command}`;
  const output = execFileSync('sh', ['-c', script], {
    env: { PATH: process.env.PATH ?? '', ...env },
    encoding: 'utf8',
  });
  return output.split('\0').slice(0, -1);
}

const variable = (name: string, description = '', required = true) => ({
  name,
  required,
  default_value: '',
  description,
});

test('the command sends what a template requires, with any text in its variables', () => {
  const command = deployCommandOf({
    slug: `it-s${'x'.repeat(62)}`,
    env_schema: [
      variable('PASSWORD', 'A password. [secret]'),
      variable('PATH', 'An address'),
      variable('A.B'),
      variable('A-B'),
      variable('OPTIONAL', '', false),
      { ...variable('DEFAULT'), default_value: 'x' },
    ],
    secret_refs: [{ name: 'token', key: 'value', env: 'TOKEN' }],
  });
  expect(command.variables).toEqual([
    { name: 'VALUE_PATH', description: 'An address' },
    { name: 'VALUE_A_B', description: '' },
    { name: 'VALUE_A_B_3', description: '' },
  ]);
  expect(command.generated).toEqual(['PASSWORD']);
  expect(command.secrets).toMatchObject([{ name: 'token', key: 'value' }]);
  const hostile = `it's "quoted" \\ $HOME \`id\` $(id) %s`;
  const [, method, url, , authorization, , type, , body = ''] = argumentsOf(command.text, {
    FLEET_URL: 'http://fleet',
    FLEET_TOKEN: 't',
    VALUE_PATH: hostile,
    VALUE_A_B: 'b',
    VALUE_A_B_3: 'c',
  });
  expect([method, url, authorization, type]).toEqual([
    'POST',
    'http://fleet/api/v1/deployments',
    'Authorization: Bearer t',
    'Content-Type: application/json',
  ]);
  expect(JSON.parse(body)).toEqual({
    name: `it-s${'x'.repeat(59)}`,
    template: `it-s${'x'.repeat(62)}`,
    env: { PASSWORD: { generate: 32 }, PATH: hostile, 'A.B': 'b', 'A-B': 'c' },
  });
});

test('a template of an earlier hub with a quotation mark in a name is one word of the shell', () => {
  const { text } = deployCommandOf({ slug: "a'b", env_schema: [variable("P'Q", '[secret]')], secret_refs: [] });
  const body = argumentsOf(text, { FLEET_URL: '', FLEET_TOKEN: '' }).at(-1) ?? '';
  expect(JSON.parse(body)).toEqual({ name: "a'b", template: "a'b", env: { "P'Q": { generate: 32 } } });
});
