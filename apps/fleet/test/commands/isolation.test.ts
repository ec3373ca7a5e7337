// What doctor says about containers that are not isolated.
import { checkIsolation } from '../../src/commands/doctor-values.ts';
import { startDeploymentWorld } from '../deployments/world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const found = async () => checkIsolation(world.database);

test('doctor counts the deployments on default networks, and the engines that do not isolate', async () => {
  expect((await found()).state).toBe('ok');
  const host = await fleet.aHost({ name: 'machine' });
  const ids = [(await fleet.deployed({ name: 'old' })).id, (await fleet.deployed({ name: 'older' })).id];
  await client.network.updateMany({ data: { isolation: 'isolated' } });
  expect((await found()).state).toBe('ok');
  await client.host.update({ where: { id: host.id }, data: { default_network_ids: ids } });
  const shared = await found();
  expect(shared).toMatchObject({ state: 'warning', remedy: expect.stringContaining('Restart these deployments') });
  expect(shared.found).toBe(
    'Number of deployments on the default network of their host: 2.\nThe host machine has 2 of them.',
  );
  await client.network.updateMany({ data: { isolation: 'open' } });
  expect((await found()).found).toContain('The engine of the host machine does not isolate a network');
});

test('a host names some of the deployments that share its default network, and counts the others', async () => {
  const { id } = await fleet.aHost();
  const ids = Array.from({ length: 23 }, (_, index) => `019a0000-0000-7000-8000-0000000000${index + 10}`);
  await client.host.update({ where: { id }, data: { default_network_ids: ids } });
  const { conditions } = (await fleet.operator.get(`/api/v1/hosts/${id}`)).body.host;
  expect(conditions).toContainEqual(
    expect.objectContaining({
      type: 'SharesDefaultNetwork',
      message: expect.stringMatching(/isolated networks: (?:019a[0-9a-f-]+, ){20}and 3 more\.$/),
    }),
  );
  expect(conditions).toContainEqual(expect.objectContaining({ type: 'Isolated', status: 'False' }));
});
