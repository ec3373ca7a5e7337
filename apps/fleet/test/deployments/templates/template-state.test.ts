import type { Template } from '@svc/contract';
import { aTemplate } from '../../a-template.ts';
import { startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

const other = aTemplate({ slug: 'other' });
const template = aTemplate({ slug: 'tool', volume_mounts: [] });

/**
 * A deployment of a template. The hub has another template too, so that its catalog is never empty.
 */
async function deployTool() {
  await fleet.aHost({ network_types: ['public'], labels: { disk: 'fast' } });
  await fleet.aSecret('password', { PASSWORD: 'hidden' });
  await fleet.aSecret('pull-secret', { username: 'me', password: 'hidden' }, { kind: 'registry', server: 'ghcr.io' });
  await fleet.publish(template, other);
  return fleet.deployed({ name: 'web', template: 'tool', env: { NAME: 'x' } });
}

const stateOf = async (id: string) => (await fleet.deployment(id)).template_state;

test('a deployment of a template creates a workload with its name, and is current', async () => {
  const { id, workload_id, workload_name, ...rest } = await deployTool();
  expect({ workload_name, ...rest }).toMatchObject({
    workload_name: 'web',
    revision: 1,
    template_state: 'current',
    template_id: template.id,
    template_slug: 'tool',
  });
  const { body } = await fleet.operator.get(`/api/v1/workloads/${workload_id}`);
  expect(body.workload).toMatchObject({ name: 'web', template_slug: 'tool', template_version: '1.0.0' });
  expect(await stateOf(id)).toBe('current');
});

test('a deployment of a workload without a template has no template state', async () => {
  await fleet.aHost();
  expect(await fleet.deployed()).toMatchObject({ template_state: null, template_id: null, template_slug: null });
});

const changes: [string, Partial<Template>, 'current' | 'outdated'][] = [
  ['another icon', { icon_url: 'https://example.test/icon.png' }, 'current'],
  ['another description', { description: 'better', documentation: '# New', tags: ['new'] }, 'current'],
  ['another version', { version: '2.0.0', min_tier: 'pro', is_featured: true }, 'current'],
  ['another name and slug', { name: 'A tool', slug: 'a-tool' }, 'current'],
  ['another image', { image_tag: '19' }, 'outdated'],
  ['more memory', { memory_request: '2Gi' }, 'outdated'],
  ['another command', { command: ['serve'] }, 'outdated'],
  ['another variable', { env: [] }, 'outdated'],
  ['another toleration', { tolerations: [] }, 'outdated'],
];

test.each(changes)('a deployment whose template has %s is %p', async (_, change, state) => {
  const { id } = await deployTool();
  await fleet.publish({ ...template, ...change });
  expect(await stateOf(id)).toBe(state);
  const listed = (await fleet.operator.get('/api/v1/deployments')).body.deployments[0];
  expect(listed.template_state).toBe(state);
});

test('a deployment is current again if a change of its template is reverted', async () => {
  const { id } = await deployTool();
  await fleet.publish({ ...template, image_tag: '19' });
  await fleet.publish(template);
  expect(await stateOf(id)).toBe('current');
});

test('the template state of a deployment depends on its revision, and an update makes it current', async () => {
  const { id, workload_id } = await deployTool();
  await fleet.publish({ ...template, image_tag: '19' });
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool' });
  expect(await stateOf(id)).toBe('outdated');
  expect((await fleet.change(id, { revision: 2 })).body.deployment.template_state).toBe('current');
});

test('a deployment of a withdrawn template can be operated, and a new deployment of it gets 404', async () => {
  const { id } = await deployTool();
  fleet.hub.withdraw(template);
  await fleet.sync();
  expect(await stateOf(id)).toBe('withdrawn');
  for (const operation of ['stop', 'start', 'restart']) expect((await fleet.ask(id, operation)).status).toBe(200);
  expect((await fleet.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  expect((await fleet.change(id, { env: { NAME: 'y' } })).status).toBe(200);
  expect((await fleet.ask(id, 'rollback', { generation: 1 })).status).toBe(200);
  const before = await fleet.contents();
  for (const ask of [fleet.deploy, fleet.plan])
    expect((await ask({ template: 'tool', env: { NAME: 'x' } })).status).toBe(404);
  expect(await fleet.contents()).toEqual(before);
});

test('a deployment is current again if its withdrawn template is published again', async () => {
  const { id } = await deployTool();
  fleet.hub.withdraw(template);
  await fleet.sync();
  await fleet.publish(template);
  expect(await stateOf(id)).toBe('current');
});

test('a deployment is withdrawn if another template takes over the slug of its template', async () => {
  const { id } = await deployTool();
  fleet.hub.withdraw(template);
  await fleet.publish(aTemplate({ slug: 'tool' }));
  expect(await stateOf(id)).toBe('withdrawn');
});
