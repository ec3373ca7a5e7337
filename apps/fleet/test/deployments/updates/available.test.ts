import { aPlainTemplate, namesIn, withTemplate } from '../templates/advised.ts';
import { type Body, startDeploymentWorld } from '../world.ts';
import { observed, passesOf } from './passes.ts';

const fleet = await startDeploymentWorld();
const env_schema = [{ name: 'MODE', required: false, default_value: '', description: '' }];
const { publish, withdraw, reset, deployed } = withTemplate(fleet, aPlainTemplate({ env_schema }));
const { pass } = passesOf(fleet);

beforeEach(async () => {
  reset();
  await fleet.aHost();
  await publish();
});

const updateOf = async (id: string) => (await fleet.deployment(id)).update;
const available = { kinds: ['template'], to_version: '1.1.0', to_digest: null, held: null };
const publishNext = () => publish({ version: '1.1.0', image_tag: '19' });
const failing = { phase: 'failed', reason: 'ImageNotFound', message: 'No such image.' } as const;

/** Updates a deployment to the present template, and returns after a failure. */
async function failUpdate(id: string): Promise<void> {
  const { digest } = (await fleet.plan({ deployment_id: id, upgrade: true })).body;
  expect((await fleet.ask(id, 'upgrade', { expected: digest })).status).toBe(200);
  await pass(id, observed(failing, { ready: false }));
  await fleet.ask(id, 'rollback', { generation: 1 });
}

test('an update is available when the template has changed since the copy, and not after the update', async () => {
  const { id } = await deployed();
  expect(await updateOf(id)).toBeNull();
  await publish({ version: '1.0.1', description: 'Says more.' });
  expect(await updateOf(id)).toBeNull();
  await publishNext();
  expect(await updateOf(id)).toEqual(available);
  const { digest } = (await fleet.plan({ deployment_id: id, upgrade: true })).body;
  expect((await fleet.ask(id, 'upgrade', { expected: digest })).body.deployment.update).toBeNull();
});

test('no update is available without a template, and for a withdrawn one', async () => {
  const own = await fleet.deployed();
  const { id } = await deployed();
  await publishNext();
  await withdraw();
  expect(await updateOf(own.id)).toBeNull();
  expect(await updateOf(id)).toBeNull();
});

test('an update to a blocked template is held until the template is active again', async () => {
  const { id } = await deployed();
  await publish({ version: '1.1.0', image_tag: '19', status: 'blocked', status_message: 'It is harmful.' });
  const held = { reason: 'TemplateBlocked', message: 'The template is blocked by the hub: It is harmful.' };
  expect(await updateOf(id)).toEqual({ ...available, held: { ...held, at: null, generation: null } });
  await publish({ status: 'active', status_message: '' });
  expect(await updateOf(id)).toEqual(available);
});

test('an update that has failed is held until the template, the variables or the workload change', async () => {
  const { id, workload_id } = await deployed({ name: 'tool' });
  await publishNext();
  await failUpdate(id);
  const { update } = await fleet.deployment(id);
  expect(update.held).toMatchObject({ reason: 'ImageNotFound', generation: 2, at: expect.any(String) });
  expect(update.held.message).toBe(
    `Generation 2 with the same configuration failed on ${update.held.at.slice(0, 10)} (ImageNotFound).`,
  );
  expect((await fleet.plan({ deployment_id: id, upgrade: true })).body.held).toMatchObject({ generation: 2 });
  expect(await namesIn(fleet, 'deployments', 'update=held')).toEqual(['tool']);
  await fleet.change(id, { env: { MODE: 'careful' } });
  expect(await updateOf(id)).toEqual(available);
  await fleet.change(id, { env: {} });
  expect((await updateOf(id)).held).not.toBeNull();
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { command: ['serve'] });
  expect(await updateOf(id)).toEqual(available);
  await publish({ version: '1.2.0', image_tag: '20' });
  expect(await updateOf(id)).toEqual({ ...available, to_version: '1.2.0' });
});

test('lists show and filter the available updates', async () => {
  await deployed({ name: 'failed' });
  await deployed({ name: 'old' });
  await fleet.deployed({ name: 'own', workload: { name: 'own' } });
  await publishNext();
  await deployed({ name: 'new' });
  const [failed] = (await fleet.operator.get('/api/v1/deployments?name=failed')).body.deployments;
  await failUpdate(failed.id);
  expect(await namesIn(fleet, 'deployments', 'update=available')).toEqual(['old']);
  expect(await namesIn(fleet, 'deployments', 'update=held')).toEqual(['failed']);
  expect(await namesIn(fleet, 'deployments', 'update=available,held')).toEqual(['failed', 'old']);
  const { deployments } = (await fleet.operator.get('/api/v1/deployments?sort=name&view=summary')).body;
  expect(deployments.map(({ name, update }: Body) => [name, update])).toEqual([
    ['failed', { ...available, held: expect.objectContaining({ generation: 2 }) }],
    ['new', null],
    ['old', available],
    ['own', null],
  ]);
  expect((await fleet.operator.get('/api/v1/deployments?update=any')).status).toBe(400);
});
