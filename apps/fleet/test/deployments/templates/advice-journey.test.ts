// The story of a flawed revision, as the fleet sees it. At each step, the fleet lists exactly the affected deployments,
// refuses new ones, and can operate what runs.
import { startDeploymentWorld } from '../world.ts';
import { anAdvisory, namesIn, withTemplate } from './advised.ts';

const fleet = await startDeploymentWorld();
const { operator } = fleet;
const { publish, withdraw, deployed } = withTemplate(fleet);

test('a hub publishes a flawed revision, advises, repairs, blocks, deletes and restores the template', async () => {
  await fleet.aHost();
  const flawed = anAdvisory({ first_revision: 2, last_revision: 3 });
  const affected = () => namesIn(fleet, 'deployments', 'advisory=critical');
  const lasting = async () =>
    (await operator.get('/api/v1/events?reason=TemplateAdvisory&resolved=false')).body.pagination.total;
  const isRefused = async (code: string) => {
    const { status, body } = await fleet.deploy({ template: 'tool' });
    expect({ status, code: body.code }).toEqual({ status: 422, code });
  };
  const canBeOperated = async (id: string) => {
    const { replicas } = await fleet.deployment(id);
    for (const [operation, body] of [
      ['scale', { replicas: replicas + 1 }],
      ['rollback', {}],
      ['stop', {}],
      ['start', {}],
    ] as const)
      expect({ operation, status: (await fleet.ask(id, operation, body)).status }).toEqual({ operation, status: 200 });
  };

  await publish({ revision: 1, image_tag: '1.1' });
  const before = await deployed({ name: 'before' });
  await publish({ revision: 2, image_tag: '1.2' });
  const during = await deployed({ name: 'during' });
  expect(await affected()).toEqual([]);

  // The publisher learns of the flaw.
  await publish({ advisories: [flawed] });
  expect(await affected()).toEqual(['during']);
  expect(await lasting()).toBe(1);
  await isRefused('template_flawed');
  for (const { id } of [before, during]) await canBeOperated(id);
  const accepted = await deployed({ name: 'accepted', acknowledge: [flawed.id] });
  expect(await affected()).toEqual(['accepted', 'during']);

  // A change that does not repair it yet, and the repair.
  await publish({ revision: 3, description: 'better documented' });
  await isRefused('template_flawed');
  await publish({ revision: 4, image_tag: '1.3' });
  await deployed({ name: 'after' });
  expect(await affected()).toEqual(['accepted', 'during']);
  await operator.put(`/api/v1/workloads/${during.workload_id}`, { template: 'tool' });
  expect((await fleet.change(during.id, { revision: 2 })).status).toBe(200);
  expect(await affected()).toEqual(['accepted']);
  expect((await fleet.ask(during.id, 'rollback', {})).status).toBe(200);
  expect(await affected()).toEqual(['accepted', 'during']);

  // The template is blocked, deleted and restored with its advisories.
  await publish({ status: 'blocked', status_message: 'Until it is examined.' });
  await isRefused('template_blocked');
  await canBeOperated(during.id);
  await withdraw();
  expect(await affected()).toEqual(['accepted', 'during']);
  expect(await lasting()).toBe(1);
  expect((await fleet.deploy({ template: 'tool' })).status).toBe(404);
  await canBeOperated(accepted.id);
  await publish({ revision: 6, status: 'active', status_message: '' });
  expect(await affected()).toEqual(['accepted', 'during']);
  await deployed({ name: 'restored' });

  // The operator reacts.
  expect((await fleet.change(during.id, { revision: 2 })).status).toBe(200);
  expect((await fleet.ask(accepted.id, 'stop')).status).toBe(200);
  await fleet.sync();
  expect(await lasting()).toBe(0);
  expect(await affected()).toEqual(['accepted']);
});
