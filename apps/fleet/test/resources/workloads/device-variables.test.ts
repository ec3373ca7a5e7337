// Variables by which engines give devices to a container.
import { checkStoredValues } from '../../../src/commands/doctor-values.ts';
import { aTemplate } from '../../a-template.ts';
import { startDeploymentWorld } from '../../deployments/world.ts';

const fleet = await startDeploymentWorld();
const NAME = 'NVIDIA_VISIBLE_DEVICES';
const REFUSED = /engines give devices to a container by this variable/;
const refusedAt = (path: string) => ({ path, message: expect.stringMatching(REFUSED) });
const shapes = [
  ['env.0.name', { env: [{ name: NAME, value: 'all' }] }],
  ['env_schema.0.name', { env_schema: [{ name: 'HABANA_VISIBLE_DEVICES' }] }],
  ['secret_refs.0.env', { secret_refs: [{ name: 'gpus', env: 'AMD_VISIBLE_DEVICES' }] }],
] as const;

/** A workload that an earlier version has stored with the variable. */
async function aStoredWorkload() {
  const { id } = await fleet.aWorkload({ env: [{ name: 'MODE', value: 'all' }] });
  const { trust: _trust, ...row } = await fleet.client.workloadRevision.findFirstOrThrow({
    where: { workload_id: id },
  });
  const renamed = (document: unknown) => JSON.parse(JSON.stringify(document).replaceAll('MODE', NAME));
  const [spec, overrides] = [renamed(row.spec), renamed(row.overrides)];
  await fleet.client.workloadRevision.create({ data: { ...row, revision: 2, spec, overrides } });
  await fleet.client.workload.update({ where: { id }, data: { revision: 2 } });
  return id;
}

test.each(shapes)('a workload with such a variable in %s is neither created nor changed', async (path, members) => {
  const body = { name: `new-${path.replaceAll(/\W|_/g, '-')}`, image_name: 'team/app', ...members };
  const created = await fleet.operator.post('/api/v1/workloads', body);
  expect([created.status, created.body.errors]).toEqual([422, [refusedAt(path)]]);
  const { id } = await fleet.aWorkload();
  const changed = await fleet.operator.put(`/api/v1/workloads/${id}`, members);
  expect([changed.status, changed.body.errors]).toEqual([422, [refusedAt(path)]]);
});

test('a stored workload with such a variable is marked in the list, and counted by the command doctor', async () => {
  const id = await aStoredWorkload();
  const { body } = await fleet.operator.get('/api/v1/workloads?limit=100');
  const shown = body.workloads.find((workload: { id: string }) => workload.id === id);
  expect(shown.warnings).toEqual([refusedAt('env.0.name')]);
  const before = await checkStoredValues(fleet.world.database);
  expect(before).toMatchObject({ state: 'warning', found: expect.stringMatching(REFUSED) });
  await fleet.client.workload.delete({ where: { id } });
  expect(await checkStoredValues(fleet.world.database)).toMatchObject({ state: 'ok' });
});

test('a stored workload with such a variable can be changed in other members and deployed', async () => {
  await fleet.aHost();
  const id = await aStoredWorkload();
  const changed = await fleet.operator.put(`/api/v1/workloads/${id}`, { command: ['serve'] });
  expect(changed.status).toBe(200);
  expect(changed.body.workload.env).toEqual([{ name: NAME, value: 'all' }]);
  const { status, body } = await fleet.deploy({ workload_id: id });
  expect(status).toBe(201);
  const { body: shown } = await fleet.operator.get(`/api/v1/deployments/${body.deployment.id}/manifest`);
  const container = shown.manifest.find(({ kind }: { kind: string }) => kind === 'Container');
  expect(container.body.Env).toEqual([`${NAME}=void`]);
});

test('a deployment does not set such a variable of a stored workload', async () => {
  await fleet.aHost();
  const { status, body } = await fleet.deploy({ workload_id: await aStoredWorkload(), env: { [NAME]: '0' } });
  expect([status, body.errors]).toEqual([422, [refusedAt(`env.${NAME}`)]]);
});

test('a template with such a variable is neither deployed nor copied into a workload', async () => {
  await fleet.aHost();
  const template = aTemplate({ slug: 'monitor', env: [{ name: NAME, value: 'all' }] });
  await fleet.publish(template);
  const deployed = await fleet.deploy({ template: 'monitor' });
  expect([deployed.status, deployed.body.errors]).toEqual([422, expect.arrayContaining([refusedAt('env.0.name')])]);
  const copied = await fleet.operator.post('/api/v1/workloads', { name: 'copy', template: 'monitor' });
  expect([copied.status, copied.body.errors]).toEqual([422, [refusedAt('env.0.name')]]);
});
