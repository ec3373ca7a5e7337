import { phases } from '@svc/contract/fleet';
import { startDeploymentWorld } from '../deployments/world.ts';
import { listenFor, type Watch } from './client.ts';

const deploymentWorld = await startDeploymentWorld();
const { client } = deploymentWorld.world.database;
const fleet = await listenFor(deploymentWorld.world.app);
afterAll(() => fleet.close());

const countsOf = ({ received }: Watch): Record<string, number>[] =>
  received.flatMap(({ event, data }) => (event === 'counts' ? [Object(data).deployments] : []));

test('with counts, a stream states the number of deployments in each phase, at first and when it has changed', async () => {
  const { secret } = await deploymentWorld.world.aToken();
  const plain = await fleet.watch(secret);
  const counting = await fleet.watch(secret, 'counts=true');
  await counting.until('the stream has the first counts', (watch) => countsOf(watch).length === 1);
  expect(countsOf(counting)).toEqual([Object.fromEntries(phases.map((phase) => [phase, 0]))]);
  await deploymentWorld.aHost();
  const { id } = await deploymentWorld.deployed();
  const observe = (phase: string, message: string) =>
    client.deployment.update({ where: { id }, data: { phase, message } });
  await observe('running', '');
  await counting.until('the counts contain the running deployment', (watch) => countsOf(watch).at(-1)?.running === 1);
  const later = await fleet.watch(secret, 'counts=true&kinds=deployments');
  await later.until('the later stream has its first counts', (watch) => countsOf(watch).length === 1);
  expect(countsOf(later)[0]?.running).toBe(1);

  await observe('running', 'the same phase');
  await later.until('the later stream has the change', ({ changes }) => changes.length === 1);
  await observe('failed', '');
  await later.until('the later stream has the second counts', (watch) => countsOf(watch).length === 2);
  expect(countsOf(later)[1]).toMatchObject({ running: 0, failed: 1 });
  expect(later.received.filter(({ event, id: position }) => event === 'counts' && position !== undefined)).toEqual([]);
  expect(countsOf(plain)).toEqual([]);
  for (const watch of [plain, counting, later]) watch.end();
});

test('a stream without the kind deployments has no counts', async () => {
  const { secret } = await deploymentWorld.world.aToken();
  const storage = await fleet.watch(secret, 'counts=true&kinds=storage,tokens');
  await deploymentWorld.world.aToken();
  await storage.until('the stream has a change', ({ changes }) => changes.length > 0);
  expect(countsOf(storage)).toEqual([]);
  storage.end();
});
