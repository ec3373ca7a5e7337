// What `null` in a change means: a member that may be lacking is cleared, any other is not taken.
import { aPair } from './certificates.ts';
import { kindsIn } from './kinds.ts';
import { complainedOf, pathOf, singulars, startResources } from './resources.ts';

const world = await startResources();
const { asAdmin, make } = world;
const kinds = await kindsIn(world);
afterAll(() => world.stop());

test.each([
  ['clusters', { default_storage_class: 'fast' }],
  ['clusters', { ca_certificate: aPair().certificate }],
  ['workloads', { registry_url: 'ghcr.io' }],
  ['workloads', { registry_credentials: 'pull-secret' }],
] as const)('null clears what a thing of %s may lack, case %#', async (plural, given) => {
  const said = kinds.find((kind) => kind.plural === plural)?.said;
  const { id } = await make(plural, { ...said, ...given });
  const [member = ''] = Object.keys(given);
  expect((await asAdmin.put(pathOf(plural, id), { labels: {} })).body[singulars[plural]]).toMatchObject(given);
  expect((await asAdmin.put(pathOf(plural, id), { [member]: null })).body[singulars[plural]][member]).toBeNull();
});

test.each([
  ['hosts', ['engine', 'endpoint', 'network_types', 'taints', 'schedulable', 'gpus']],
  ['clusters', ['server', 'auth', 'namespace', 'network_types', 'gpu_resource_name']],
  ['workloads', ['template', 'kind', 'image_name', 'image_tag', 'command', 'env', 'gpu_count', 'cpu_request']],
  ['deployments', ['revision', 'replicas', 'env', 'volumes', 'desired_state']],
  ['storage', ['size', 'reclaim']],
  ['secrets', ['values']],
] as const)('null is nothing that others of %s can be', async (plural, members) => {
  const before = await make(plural, kinds.find((kind) => kind.plural === plural)?.said ?? {});
  const nulls = Object.fromEntries(members.map((member) => [member, null]));
  const answer = await asAdmin.put(pathOf(plural, before.id), nulls);
  expect([answer.status, complainedOf(answer)]).toEqual([400, [...members].sort()]);
  expect(await world.read(plural, before.id)).toEqual(before);
});
