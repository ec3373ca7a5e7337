import type { WorkloadSpec } from '@svc/contract/fleet';
import { specProblems } from '../../src/render/spec-problems.ts';
import { starterCatalog } from './catalog.ts';
import { aSpec } from './renderings.ts';

const paths = (...mountPaths: string[]) => ({
  volume_mounts: mountPaths.map((mountPath, index) => ({ name: `v${index}`, mountPath })),
});
const messages = (given: Partial<WorkloadSpec>) =>
  specProblems(aSpec(given)).map(({ path, message }) => `${path} ${message}`);

test.each<[string, Partial<WorkloadSpec>, string]>([
  ['no image', { image_name: '' }, 'image_name must be given'],
  ['a doubled slash', { image_name: 'team//app' }, 'image_name must have single separators'],
  ['doubled dots', { image_name: 'team/a..b' }, 'image_name must have single separators'],
  [
    'a name that is too long with its registry',
    { registry_url: `ghcr.io/${'a'.repeat(200)}`, image_name: 'b'.repeat(100) },
    'image_name is too long',
  ],
  ['a registry that reads as a user', { registry_url: 'registry' }, 'registry_url must have a dot or a port'],
  ['a registry with empty labels', { registry_url: 'a..b' }, 'registry_url must have a host name'],
  ['a port that can’t exist', { registry_url: 'ghcr.io:70000' }, 'registry_url must have a host name and a port'],
  ['a registry with a doubled slash', { registry_url: 'ghcr.io/a//b' }, 'registry_url must have single separators'],
  ['a comma in a mount path', paths('/data,type=bind'), 'volume_mounts.0.mountPath must not hold'],
  ['a comma that a path leaves again', paths('/x,type=bind/../data'), 'volume_mounts.0.mountPath must not hold'],
  ['a colon in a mount path', paths('/data:ro'), 'volume_mounts.0.mountPath must not hold'],
  ['a mount over everything', paths('/x/..'), 'volume_mounts.0.mountPath must not be the root'],
  ['two volumes at one path', paths('/data', '/other', '/x/../data/'), 'volume_mounts.2.mountPath is taken'],
  [
    'a variable of two secrets',
    {
      secret_refs: [
        { name: 'a', env: 'A' },
        { name: 'b', env: 'A' },
      ],
    },
    'secret_refs.1.env is filled',
  ],
  ['a toleration of nothing', { tolerations: [{ effect: 'NoSchedule' }] }, 'tolerations.0 must have a key'],
  [
    'a value of whatever exists',
    { tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] },
    'tolerations.0 must have no value',
  ],
  ['seconds without an end', { tolerations: [{ key: 'a', tolerationSeconds: 5 }] }, 'tolerations.0 has seconds'],
])('%s is refused', (_, given, expected) => {
  expect(messages(given)).toEqual([expect.stringContaining(expected)]);
});

test('everything is told at once', () => {
  expect(messages({ image_name: '', registry_url: 'registry', ...paths('/', '/a:b') })).toHaveLength(4);
});

test.each<[string, Partial<WorkloadSpec>]>([
  ['a registry on this machine', { registry_url: 'localhost/team' }],
  ['a registry by its address', { registry_url: '10.0.0.5:5000' }],
  ['an image with all separators', { image_name: 'a/b.c_d__e---f/g' }],
  ['a toleration of everything', { tolerations: [{ operator: 'Exists' }] }],
  ['seconds before an end', { tolerations: [{ key: 'a', effect: 'NoExecute', tolerationSeconds: 0 }] }],
  [
    'one volume at two paths',
    {
      volume_mounts: [
        { name: 'a', mountPath: '/a' },
        { name: 'a', mountPath: '/b' },
      ],
    },
  ],
])('%s is taken', (_, given) => {
  expect(messages(given)).toEqual([]);
});

test('the starter catalog has nothing that is refused', () => {
  expect(starterCatalog.flatMap(([slug, spec]) => specProblems(spec).map((problem) => [slug, problem]))).toEqual([]);
});
