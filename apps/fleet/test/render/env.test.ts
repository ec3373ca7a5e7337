import type { WorkloadSpec } from '@svc/contract/fleet';
import { resolveEnv } from '../../src/render/env.ts';

const entry = (name: string, given: { required?: boolean; default_value?: string } = {}) => ({
  name,
  required: false,
  default_value: '',
  description: '',
  ...given,
});
const resolve = (
  spec: Partial<Pick<WorkloadSpec, 'env' | 'env_schema' | 'secret_refs'>>,
  given: Record<string, string> = {},
) => resolveEnv({ env: [], env_schema: [], secret_refs: [], ...spec }, given);

const values = (...given: Parameters<typeof resolve>) =>
  Object.fromEntries(resolve(...given).env.map(({ name, value }) => [name, value]));

test('a variable of a deployment overrides that of the workload, which overrides the default', () => {
  const spec = {
    env: [
      { name: 'FIXED', value: 'fixed' },
      { name: 'BOTH', value: 'of the workload' },
      { name: 'GIVEN', value: 'of the workload' },
    ],
    env_schema: [entry('BOTH', { default_value: 'default' }), entry('DEFAULT', { default_value: 'default' })],
  };
  expect(values(spec, { GIVEN: 'given' })).toEqual({
    FIXED: 'fixed',
    BOTH: 'of the workload',
    GIVEN: 'given',
    DEFAULT: 'default',
  });
});

test('a variable without a value is omitted, and an empty value is kept', () => {
  const spec = { env_schema: [entry('SILENT'), entry('EMPTY', { default_value: 'default' })] };
  expect(values(spec, { EMPTY: '' })).toEqual({ EMPTY: '' });
});

test('a fixed variable may be empty', () => {
  expect(values({ env: [{ name: 'EMPTY', value: '' }] })).toEqual({ EMPTY: '' });
});

test('the last of several values of a variable applies', () => {
  const spec = {
    env: [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ],
  };
  expect(resolve(spec)).toEqual({ env: [{ name: 'A', value: '2' }], bindings: [], problems: [] });
});

test('variables are in the order of the workload, regardless of the order of the given values', () => {
  const spec = { env: [{ name: 'B', value: '' }], env_schema: [entry('C'), entry('A')] };
  const names = (given: Record<string, string>) => resolve(spec, given).env.map(({ name }) => name);
  expect(names({ A: '1', B: '2', C: '3' })).toEqual(['C', 'A', 'B']);
  expect(names({ C: '3', B: '2', A: '1' })).toEqual(['C', 'A', 'B']);
});

test('all problems of variables are reported at once in a fixed order', () => {
  const spec = {
    env: [{ name: 'MODE', value: 'fast' }],
    env_schema: [entry('NAME', { required: true }), entry('TOKEN', { required: true })],
    secret_refs: [{ name: 'database', env: 'PASSWORD' }],
  };
  expect(resolve(spec, { ZONE: 'a', PASSWORD: 'b', NAME: '' }).problems).toEqual([
    { path: 'env.PASSWORD', message: 'is set by the secret "database" and cannot be overridden' },
    { path: 'env.ZONE', message: 'is not a variable of this workload, which has NAME, TOKEN, MODE' },
    { path: 'env.NAME', message: 'is required and has no value' },
    { path: 'env.TOKEN', message: 'is required and has no value' },
  ]);
});

test('if no variable can be set, the message says so', () => {
  expect(resolve({}, { A: 'b' }).problems).toEqual([
    { path: 'env.A', message: 'is not a variable of this workload, which has none' },
  ]);
});

test.each<[string, Parameters<typeof resolve>]>([
  ['its default', [{ env_schema: [entry('A', { required: true, default_value: 'b' })] }]],
  ['the workload', [{ env_schema: [entry('A', { required: true })], env: [{ name: 'A', value: 'b' }] }]],
  ['the deployment', [{ env_schema: [entry('A', { required: true })] }, { A: 'b' }]],
  ['a secret', [{ env_schema: [entry('A', { required: true })], secret_refs: [{ name: 'database', env: 'A' }] }]],
])('a required variable can have the value of %s', (_, given) => {
  expect(resolve(...given).problems).toEqual([]);
});

test('a variable that a secret sets is not among the others, even if the workload has a value for it', () => {
  const spec = { env: [{ name: 'A', value: 'b' }], secret_refs: [{ name: 'database', env: 'A' }] };
  expect(resolve(spec)).toEqual({ env: [], bindings: [], problems: [] });
});

test('variables cannot have the names of members that objects inherit', () => {
  const spec = { env_schema: [entry('constructor', { required: true }), entry('toString')] };
  expect(resolve(spec)).toEqual({
    env: [],
    bindings: [],
    problems: [{ path: 'env.constructor', message: 'is required and has no value' }],
  });
});
