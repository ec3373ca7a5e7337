import { aTemplate } from '../a-template.ts';
import { refuse } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';

const { hub, world } = await startSyncWorld();

beforeEach(async () => {
  hub.publish(aTemplate());
  await world.sync.run();
});

const organization = async () => (await world.asViewer.get(SYNC)).body.organization;

test('the organization of the key is shown as the hub knows it, with its tier', async () => {
  expect(await organization()).toEqual(hub.organization());
});

test('another tier is there after the next sync, though nothing else is new', async () => {
  hub.changeOrganization({ tier: 'enterprise' });
  expect((await world.asOperator.post(SYNC)).body).toMatchObject({
    last_sync: { updated: 0, removed: 0 },
    organization: { tier: 'enterprise' },
  });
  expect(await organization()).toEqual(hub.organization());
});

test('it is kept while the hub is away, also by a fleet that starts meanwhile', async () => {
  const known = await organization();
  await hub.goAway();
  expect((await world.asOperator.post(SYNC)).status).toBe(502);
  expect(await organization()).toEqual(known);
  const token = await world.aToken({ role: 'viewer' });
  const other = world.aReplica({ hub }).api(`Bearer ${token.secret}`);
  expect((await other.get(SYNC)).body.organization).toEqual(known);
  await hub.comeBack();
});

test('it is kept, and the mirror too, while the organization is suspended; then the sync goes on where it was', async () => {
  const known = await organization();
  for (const call of ['organization', 'updates', 'categories'] as const) {
    hub.behave(refuse('organization_suspended'), call);
  }
  const refused = await world.asOperator.post(SYNC);
  expect([refused.status, refused.body.detail]).toEqual([502, expect.stringContaining('suspended')]);
  expect((await world.asViewer.get(SYNC)).body).toMatchObject({ organization: known, counts: { templates: 1 } });
  hub.recover();
  hub.publish(aTemplate());
  expect((await world.asOperator.post(SYNC)).body).toMatchObject({ last_sync: { full: false, updated: 1 } });
});

test('a tier that this fleet does not know is shown as it is', async () => {
  hub.changeOrganization({ tier: 'galactic' });
  await world.sync.run();
  expect(await organization()).toMatchObject({ tier: 'galactic' });
});
