// Numbers of which there never are so many: whole, and more than a column of the database holds.
import { complainedOf, pathOf, startResources } from './resources.ts';

const world = await startResources();
const { asAdmin } = world;
const host = await world.aRoomyHost();
const workload = await world.aWorkload();
const target = { host_id: host.id };
afterAll(() => world.stop());

describe.each([2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER])('%s', (number) => {
  test('is no revision of a workload', async () => {
    const deployment = await world.aDeployment({ workload_id: workload.id, target });
    const said = { name: world.aName('large'), workload_id: workload.id, revision: number };
    const answers = [
      await asAdmin.post(pathOf('deployments'), said),
      await asAdmin.post(`${pathOf('deployments')}/plan`, said),
      await asAdmin.post(`${pathOf('deployments')}/plan`, { deployment_id: deployment.id, revision: number }),
      await asAdmin.put(pathOf('deployments', deployment.id), { revision: number }),
    ];
    for (const { status, body } of answers) expect([status, body.code]).toEqual([422, 'unknown_workload']);
  });

  test('is no generation of a deployment', async () => {
    const deployment = await world.aDeployment({ workload_id: workload.id, target });
    const answer = await asAdmin.post(`${pathOf('deployments', deployment.id)}/rollback`, { generation: number });
    expect([answer.status, complainedOf(answer)]).toEqual([400, ['generation']]);
    expect(await world.read('deployments', deployment.id)).toEqual(deployment);
  });

  test('of millions is a page that is empty, or none', async () => {
    const { status } = await asAdmin.get(`${pathOf('workloads', workload.id)}/revisions?page=${number}`);
    expect(status).toBe(400);
    expect((await asAdmin.get(`${pathOf('deployments')}?page=999999&limit=100`)).body.deployments).toEqual([]);
  });
});
