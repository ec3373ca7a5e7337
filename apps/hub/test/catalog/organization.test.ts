import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

test('shows the organization of a key with the tier of its subscription', async () => {
  const organization = await world.anOrganization({ slug: 'acme' });
  await world.database.client.subscription.update({ where: { org_id: organization.id }, data: { tier: 'pro' } });
  const { body } = await world.as(organization).get('/api/v1/catalog/organization');
  expect(body).toEqual({
    organization: { id: organization.id, name: 'acme', slug: 'acme', tier: 'pro', status: 'active' },
  });
});

test('records the last use of a valid key, and not of a revoked key', async () => {
  const used = await world.anOrganization();
  const revoked = await world.anOrganization({}, { revoked_at: new Date() });
  await world.as(used).get('/api/v1/catalog/organization');
  await world.as(revoked).get('/api/v1/catalog/organization');
  await world.usage.flush();
  const lastUse = async (id: string) =>
    (await world.database.client.apiKey.findUniqueOrThrow({ where: { id } })).last_used_at;
  expect(await lastUse(used.keyRow.id)).not.toBeNull();
  expect(await lastUse(revoked.keyRow.id)).toBeNull();
});

test('rejects a suspended organization and a revoked key from the next request on', async () => {
  const organization = await world.anOrganization();
  const status = async () => (await world.as(organization).get('/api/v1/catalog/organization')).status;
  expect(await status()).toBe(200);
  await world.database.client.organization.update({ where: { id: organization.id }, data: { status: 'suspended' } });
  expect(await status()).toBe(403);
  await world.database.client.apiKey.update({
    where: { id: organization.keyRow.id },
    data: { revoked_at: new Date() },
  });
  expect(await status()).toBe(401);
});
