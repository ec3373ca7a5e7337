// Keys that are rotated and revoked while many deployments run, and a fleet that is restored from a backup.
import { type Backup, backUp, eventually } from '@svc/testing';
import { aPlainTemplate } from '../deployments/templates/advised.ts';
import { startDeploymentWorld } from '../deployments/world.ts';
import { aSimulatedHost } from '../reconciler/simulated-host.ts';
import { aPublisher, aSigner, keyringOf, signedBy } from './signed.ts';

const COUNT = 100;

const fleet = await startDeploymentWorld({ kept: true });
const { admin, client, hub, world } = fleet;
const { engineRuntime } = world.services;
const acme = await aPublisher(fleet);
const newKey = await aSigner();
const template = aPlainTemplate({ ports: [] });

let host: Awaited<ReturnType<typeof aSimulatedHost>>;
let backup: Backup | undefined;
const ids: string[] = [];

/** The publisher issues a keyring, which the fleet receives from its hub. */
const publishKeyring = async (version: number, keys: readonly object[], given: object = {}) => {
  const keyring = await keyringOf(acme.root, {
    version,
    keys: keys.map((key) => ({ ...acme.key.key, ...key })),
    ...given,
  });
  hub.setPublishers({ slug: 'acme', name: 'Acme', keyring, transitions: [] });
  await fleet.sync();
  const { body } = await admin.get('/api/v1/settings/publishers');
  expect(body.publishers).toMatchObject([{ keyring_version: version }]);
};
const show = async (serial: number, by = acme.key, given: object = {}) =>
  fleet.publish(await signedBy(by, { ...template, ...given }, { serial }));

/** All deployments pass once more, and none of their containers was ever removed. */
async function expectAllRun(): Promise<void> {
  await client.deployment.updateMany({ data: { due_at: new Date(0) } });
  await eventually(
    'all deployments have passed',
    async () => (await client.deployment.count({ where: { due_at: { lte: new Date() } } })) === 0,
  );
  const { body } = await fleet.operator.get('/api/v1/deployments?view=summary&limit=100&phase=running');
  expect(body.deployments).toHaveLength(COUNT);
  const creations = (await Promise.all(ids.map((id) => host.creationsOf(id)))).flat();
  expect(creations).toHaveLength(COUNT);
  expect(creations.filter(({ removedAt }) => removedAt !== null)).toEqual([]);
}

beforeAll(async () => {
  host = await aSimulatedHost();
  engineRuntime.start();
  await fleet.aHost({ endpoint: host.endpoint, cpus: 1000, gib: 10_000 });
  await acme.trust();
  await acme.policy({ mode: 'require', by_hand: 'refuse', overrides: 'none' });
  await show(5);
  for (let count = 0; count < COUNT; count += 1) ids.push((await fleet.deployed({ template: 'tool' })).id);
  await eventually('all run', async () => (await client.deployment.count({ where: { phase: 'running' } })) === COUNT, {
    withinMs: 60_000,
  });
});
afterAll(async () => {
  await engineRuntime.stop();
  await backup?.drop();
  await host?.stop();
});

const deploy = async () => {
  const { trust } = (await fleet.plan({ template: 'tool' })).body;
  return trust.reason ?? trust.state;
};

test('a retired key stops nothing, and what it signed before can still be deployed', async () => {
  await publishKeyring(2, [{ last_serial: 5 }, newKey.key]);
  expect(await deploy()).toBe('trusted');
  await show(6, newKey, { image_tag: '19' });
  expect(await deploy()).toBe('trusted');
  await show(7, acme.key, { image_tag: '20' });
  expect(await deploy()).toBe('key_retired');
  await expectAllRun();
});

test('a revoked key and an expired keyring stop nothing, and refuse what is new', async () => {
  await show(5);
  await publishKeyring(3, [{ revoked: true }, newKey.key]);
  expect(await deploy()).toBe('key_revoked');
  const [id = ''] = ids;
  expect((await fleet.change(id, { labels: { revoked: 'yes' } })).status).toBe(200);
  await client.trustPublisher.updateMany({ data: { extended_until: new Date(0) } });
  await show(8, newKey);
  expect(await deploy()).toBe('keyring_expired');
  await expectAllRun();
  await client.trustPublisher.updateMany({ data: { extended_until: null } });
});

test('a fleet that is restored from a backup accepts what it has forgotten, unless the publisher has withdrawn it', async () => {
  const isConnected = () => client.$queryRaw`SELECT 1`.then(() => true).catch(() => false);
  await show(8, newKey);
  backup = await backUp(world.databaseUrl);
  await eventually('the database accepts connections', isConnected);
  await show(9, newKey, { image_tag: '21' });
  expect((await fleet.operator.post('/api/v1/workloads', { name: 'newest', template: 'tool' })).status).toBe(201);
  await show(8, newKey);
  expect(await deploy()).toBe('rollback');
  await backup.restore();
  await eventually('the database accepts connections', isConnected);
  await show(8, newKey);
  expect(await deploy()).toBe('trusted');
  await publishKeyring(4, [newKey.key], { floors: { tool: 9 } });
  expect(await deploy()).toBe('revision_withdrawn');
  await expectAllRun();
});
