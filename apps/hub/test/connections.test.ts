// A hub with the smallest permitted DATABASE_CONNECTIONS.
import { mostConnections } from '@svc/testing/faults';
import { startWorld } from './world.ts';

const CONNECTIONS = 6;
const CONCURRENT = 12;
const ROUNDS = 5;

const world = await startWorld({ limits: { connections: CONNECTIONS } });
afterAll(world.stop);

test('six connections serve twelve concurrent requests of all kinds, and are not exceeded', async () => {
  const admin = await world.aUser('admin');
  const { id, slug, category_id } = await world.aTemplate();
  const organization = await world.anOrganization();
  const reader = world.as(organization);
  let created = 0;
  const requests = [
    () => reader.get(`/api/v1/catalog/templates/${slug}`),
    () => reader.get('/api/v1/catalog/templates'),
    () => reader.get('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z'),
    () => world.anonymous.get('/api/v1/catalog/categories'),
    () => admin.put('/api/v1/admin/templates', { id, description: `${created}` }),
    () => admin.post('/api/v1/admin/templates', { name: `Template ${++created}`, slug: `t-${created}`, category_id }),
  ];
  const statuses = new Set<number | undefined>();
  const most = await mostConnections(world.databaseUrl, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const sent = Array.from({ length: CONCURRENT }, (_, i) => requests[i % requests.length]?.());
      for (const response of await Promise.all(sent)) statuses.add(response?.status);
    }
  });
  expect([...statuses].sort()).toEqual([200, 201]);
  expect(most).toBeGreaterThan(2);
  expect(most).toBeLessThanOrEqual(CONNECTIONS);
});
