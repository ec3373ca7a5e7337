import type { WorkloadSpec } from '@svc/contract/fleet';
import { type DockerManifest, renderDocker } from '../../src/render/docker.ts';
import { pullCredentials } from '../../src/render/image.ts';
import { type KubernetesManifest, renderKubernetes } from '../../src/render/kubernetes.ts';
import { keyOf, PLACEHOLDER, redacted, revealed, secretVariables, withoutValues } from '../../src/render/secrets.ts';
import { aCluster, aHost, aRendering, aSpec } from './renderings.ts';

type Ref = WorkloadSpec['secret_refs'][number];

test.each<[string, Partial<Ref>, string[], string | undefined]>([
  ['the key that it names', { key: 'user' }, ['user', 'PASSWORD'], 'user'],
  ['nothing where there is no such key', { key: 'user' }, ['PASSWORD'], undefined],
  ['the key that is named like its variable', {}, ['user', 'PASSWORD'], 'PASSWORD'],
  ['the only key', {}, ['user'], 'user'],
  ['nothing where it could be either', {}, ['user', 'password'], undefined],
  ['nothing of a secret without keys', {}, [], undefined],
])('a reference takes %s', (_, ref, keys, expected) => {
  expect(keyOf({ name: 'database', env: 'PASSWORD', ...ref }, keys)).toBe(expected);
});

const spec = aSpec({ secret_refs: [{ name: 'database', env: 'PASSWORD' }], registry_credentials: 'registry' });
const rendering = aRendering(spec, {
  secrets: revealed([
    { name: 'database', version: 2, values: { password: 'hunter2' } },
    { name: 'registry', version: 1, values: { username: 'ada', password: 'hunter3' } },
  ]),
});

test('a reference without a key is filled with the only one', () => {
  expect(secretVariables(rendering)).toEqual([{ env: 'PASSWORD', value: 'hunter2' }]);
});

test('what is known without its values is shown with placeholders', () => {
  const rows = [
    { name: 'database', version: 2, keys: ['password'], values: { password: 'hunter2' } },
    { name: 'registry', version: 1, keys: ['username', 'password'] },
  ];
  const shown = { ...rendering, secrets: redacted(rows) };
  expect(secretVariables(shown)).toEqual([{ env: 'PASSWORD', value: PLACEHOLDER }]);
  expect(pullCredentials(shown)).toMatchObject({ username: PLACEHOLDER, password: PLACEHOLDER });
});

test('values can be taken out of a rendering, which is the same otherwise', () => {
  const without = withoutValues(rendering);
  expect(secretVariables(without)).toEqual([{ env: 'PASSWORD', value: PLACEHOLDER }]);
  expect({ ...without, secrets: rendering.secrets }).toEqual(rendering);
});

test.each<[string, ReturnType<typeof revealed>]>([
  ['a secret that isn’t there', revealed([])],
  ['a secret with another key only', revealed([{ name: 'registry', version: 1, values: { username: 'ada' } }])],
  ['what every object has by itself', revealed([{ name: 'registry', version: 1, values: {} }])],
])('%s is not rendered', (_, secrets) => {
  expect(() => secretVariables({ ...rendering, secrets })).toThrow('"database" has nothing for PASSWORD');
  expect(() => pullCredentials({ ...rendering, secrets })).toThrow('"registry" has no');
});

test('a key that every object has by itself is no key of a secret', () => {
  expect(() => revealed([{ name: 'database', version: 1, values: {} }]).value('database', 'constructor')).toThrow(
    'has no key "constructor"',
  );
});

test('what holds values can’t be shown, and what holds placeholders can’t be applied: the compiler sees to it', () => {
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
  // @ts-expect-error: it holds values
  show(renderKubernetes(rendering, aCluster()));
  // @ts-expect-error: it holds values
  show(renderDocker(rendering, aHost(rendering)));
  // @ts-expect-error: it holds placeholders
  apply(renderKubernetes(shown, aCluster()));
  // @ts-expect-error: it holds placeholders
  apply(renderDocker(shown, aHost(shown)));
});
