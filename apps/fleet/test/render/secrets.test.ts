import type { WorkloadSpec } from '@svc/contract/fleet';
import { type DockerManifest, renderDocker } from '../../src/render/docker.ts';
import { pullCredentials } from '../../src/render/image.ts';
import { type KubernetesManifest, renderKubernetes } from '../../src/render/kubernetes.ts';
import {
  keyOf,
  PLACEHOLDER,
  secretsWithPlaceholders,
  secretsWithValues,
  secretVariables,
  withoutValues,
} from '../../src/render/secrets.ts';
import { aCluster, aHost, aRendering, aSpec } from './renderings.ts';

type Ref = WorkloadSpec['secret_refs'][number];

test.each<[string, Partial<Ref>, string[], string | undefined]>([
  ['the key that it names', { key: 'user' }, ['user', 'PASSWORD'], 'user'],
  ['nothing if the key does not exist', { key: 'user' }, ['PASSWORD'], undefined],
  ['the key with the name of its variable', {}, ['user', 'PASSWORD'], 'PASSWORD'],
  ['the only key', {}, ['user'], 'user'],
  ['nothing if several keys are possible', {}, ['user', 'password'], undefined],
  ['nothing of a secret without keys', {}, [], undefined],
])('a secret reference takes %s', (_, ref, keys, expected) => {
  expect(keyOf({ name: 'database', env: 'PASSWORD', ...ref }, keys)).toBe(expected);
});

const spec = aSpec({ secret_refs: [{ name: 'database', env: 'PASSWORD' }], registry_credentials: 'registry' });
const rendering = aRendering(spec, {
  secrets: secretsWithValues([
    { name: 'database', version: 2, values: { password: 'hunter2' } },
    { name: 'registry', version: 1, values: { username: 'ada', password: 'hunter3' } },
  ]),
});

test('a secret reference without a key takes the only key', () => {
  expect(secretVariables(rendering)).toEqual([{ env: 'PASSWORD', value: 'hunter2' }]);
});

test('a rendering without values has placeholders', () => {
  const rows = [
    { name: 'database', version: 2, keys: ['password'], values: { password: 'hunter2' } },
    { name: 'registry', version: 1, keys: ['username', 'password'] },
  ];
  const shown = { ...rendering, secrets: secretsWithPlaceholders(rows) };
  expect(secretVariables(shown)).toEqual([{ env: 'PASSWORD', value: PLACEHOLDER }]);
  expect(pullCredentials(shown)).toMatchObject({ username: PLACEHOLDER, password: PLACEHOLDER });
});

test('values can be removed from a rendering, which is otherwise the same', () => {
  const without = withoutValues(rendering);
  expect(secretVariables(without)).toEqual([{ env: 'PASSWORD', value: PLACEHOLDER }]);
  expect({ ...without, secrets: rendering.secrets }).toEqual(rendering);
});

test.each<[string, ReturnType<typeof secretsWithValues>]>([
  ['an unknown secret', secretsWithValues([])],
  [
    'a secret with another key only',
    secretsWithValues([{ name: 'registry', version: 1, values: { username: 'ada' } }]),
  ],
  ['only values that objects inherit', secretsWithValues([{ name: 'registry', version: 1, values: {} }])],
])('a deployment with %s is not rendered', (_, secrets) => {
  expect(() => secretVariables({ ...rendering, secrets })).toThrow('"database" has no key for PASSWORD');
  expect(() => pullCredentials({ ...rendering, secrets })).toThrow('"registry" has no');
});

test('a secret reference does not find a key that objects inherit', () => {
  expect(() =>
    secretsWithValues([{ name: 'database', version: 1, values: {} }]).value('database', 'constructor'),
  ).toThrow('has no key "constructor"');
});

test('the types prevent that a rendering with values is shown, and that one with placeholders is applied', () => {
  const show = (...manifests: (KubernetesManifest<'placeholders'> | DockerManifest<'placeholders'>)[]) =>
    manifests.map(({ secrecy }) => secrecy);
  const apply = (...manifests: (KubernetesManifest<'values'> | DockerManifest<'values'>)[]) =>
    manifests.map(({ secrecy }) => secrecy);
  const shown = withoutValues(rendering);

  expect(show(renderKubernetes(shown, aCluster()), renderDocker(shown, aHost(shown)))).toEqual([
    'placeholders',
    'placeholders',
  ]);
  expect(apply(renderKubernetes(rendering, aCluster()), renderDocker(rendering, aHost(rendering)))).toEqual([
    'values',
    'values',
  ]);
  // @ts-expect-error: the rendering contains values
  show(renderKubernetes(rendering, aCluster()));
  // @ts-expect-error: the rendering contains values
  show(renderDocker(rendering, aHost(rendering)));
  // @ts-expect-error: the rendering contains placeholders
  apply(renderKubernetes(shown, aCluster()));
  // @ts-expect-error: the rendering contains placeholders
  apply(renderDocker(shown, aHost(shown)));
});
