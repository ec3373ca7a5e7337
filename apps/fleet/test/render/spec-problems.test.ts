import type { WorkloadSpec } from '@svc/contract/fleet';
import { specProblems } from '../../src/render/spec-problems.ts';
import { starterCatalog } from './catalog.ts';
import { aSpec } from './renderings.ts';

const paths = (...mountPaths: string[]) => ({
  volume_mounts: mountPaths.map((mountPath, index) => ({ name: `v${index}`, mountPath })),
});
const aFile = (path: string) => ({ path, content: '', mode: '0444' });
const messages = (given: Partial<WorkloadSpec>) =>
  specProblems(aSpec(given)).map(({ path, message }) => `${path} ${message}`);

test.each<[string, Partial<WorkloadSpec>, string]>([
  ['no image', { image_name: '' }, 'image_name is required'],
  ['a double slash', { image_name: 'team//app' }, 'image_name must be an image name in lower case'],
  ['double dots', { image_name: 'team/a..b' }, 'image_name must be an image name in lower case'],
  [
    'a name that is too long with its registry',
    { registry_url: `ghcr.io/${'a'.repeat(200)}`, image_name: 'b'.repeat(100) },
    'image_name is too long',
  ],
  ['a registry that could be a user name', { registry_url: 'registry' }, 'registry_url must have a dot or a port'],
  ['a registry with empty labels', { registry_url: 'a..b' }, 'registry_url must start with a valid host name'],
  [
    'a port that is out of range',
    { registry_url: 'ghcr.io:70000' },
    'registry_url must start with a valid host name, optionally with a port',
  ],
  ['a registry with a double slash', { registry_url: 'ghcr.io/a//b' }, 'registry_url must have a path in lower case'],
  ['a comma in a mount path', paths('/data,type=bind'), 'volume_mounts.0.mountPath must not contain'],
  [
    'a comma in a part of a path that `..` removes',
    paths('/x,type=bind/../data'),
    'volume_mounts.0.mountPath must not contain',
  ],
  ['a colon in a mount path', paths('/data:ro'), 'volume_mounts.0.mountPath must not contain'],
  ['a mount at the root', paths('/x/..'), 'volume_mounts.0.mountPath must not be the root'],
  ['two volumes at one path', paths('/data', '/other', '/x/../data/'), 'volume_mounts.2.mountPath is already the path'],
  [
    'a temporary directory at the path of a volume',
    { ...paths('/data/'), tmpfs: [{ path: '/data', size: '1Mi' }] },
    'tmpfs.0.path is already the path of another mount',
  ],
  ['a file in a volume', { ...paths('/data'), files: [aFile('/data/a')] }, 'files.0.path must not be in the volume v0'],
  [
    'a variable with two secrets',
    {
      secret_refs: [
        { name: 'a', env: 'A' },
        { name: 'b', env: 'A' },
      ],
    },
    'secret_refs.1.env is already set',
  ],
  ['a toleration without a key', { tolerations: [{ effect: 'NoSchedule' }] }, 'tolerations.0 must have a key'],
  [
    'a toleration with Exists and a value',
    { tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] },
    'tolerations.0 must not have a value',
  ],
  [
    'tolerationSeconds without NoExecute',
    { tolerations: [{ key: 'a', tolerationSeconds: 5 }] },
    'tolerations.0 must not have tolerationSeconds',
  ],
])('a spec with %s is rejected', (_, given, expected) => {
  expect(messages(given)).toEqual([expect.stringContaining(expected)]);
});

test('all problems of a spec are reported at once', () => {
  expect(messages({ image_name: '', registry_url: 'registry', ...paths('/', '/a:b') })).toHaveLength(4);
});

test.each<[string, Partial<WorkloadSpec>]>([
  ['a registry on localhost', { registry_url: 'localhost/team' }],
  ['a registry with an IP address', { registry_url: '10.0.0.5:5000' }],
  ['an image with all separators', { image_name: 'a/b.c_d__e---f/g' }],
  ['a toleration of everything', { tolerations: [{ operator: 'Exists' }] }],
  ['tolerationSeconds with NoExecute', { tolerations: [{ key: 'a', effect: 'NoExecute', tolerationSeconds: 0 }] }],
  [
    'one volume at two paths',
    {
      volume_mounts: [
        { name: 'a', mountPath: '/a' },
        { name: 'a', mountPath: '/b' },
      ],
    },
  ],
])('a spec with %s is accepted', (_, given) => {
  expect(messages(given)).toEqual([]);
});

test('all specs of the starter catalog are accepted', () => {
  expect(starterCatalog.flatMap(([slug, spec]) => specProblems(spec).map((problem) => [slug, problem]))).toEqual([]);
});
