import { connectionsBlocked } from '@svc/testing';
// Requests for pages of changes that wait, on a hub with the smallest number of connections.
import { startWorld } from '../world.ts';

const UPDATES = '/api/v1/catalog/templates/updates';

const world = await startWorld({ limits: { connections: 6 } });
const { client } = world.database;
afterAll(() => world.stop());

test.each([
  { query: 'cursor=start', running: 1 },
  { query: 'since=1970-01-01T00:00:00Z', running: 2 },
])('requests with $query leave database connections to other requests', async ({ query, running }) => {
  const organization = await world.anOrganization();
  await world.aTemplate();
  await world.anonymous.get(`${UPDATES}?${query}`); // the index is current
  const { all, others } = await world.database.catalogWriter.$transaction(async (lock) => {
    await lock.$executeRaw`LOCK TABLE templates IN ACCESS EXCLUSIVE MODE`;
    const pages = Array.from({ length: 8 }, () => world.anonymous.get(`${UPDATES}?${query}`));
    await connectionsBlocked(lock, running);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      statuses.push((await world.as(organization).get('/api/v1/catalog/organization')).status);
    }
    return { all: Promise.all(pages), others: statuses };
  });
  expect(others).toEqual([200, 200, 200, 200, 200]);
  for (const { body } of await all) expect(body.templates).toHaveLength(await client.template.count());
});
