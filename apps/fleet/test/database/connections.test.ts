// A fleet with the smallest permitted DATABASE_CONNECTIONS.
import { mostConnections } from '@svc/testing/faults';
import { openDatabase } from '../../src/database/client.ts';
import { PATIENT, startWorld } from '../world.ts';

const CONNECTIONS = 6;
const CONCURRENT = 12;
const ROUNDS = 5;

const world = await startWorld();
const database = openDatabase(world.databaseUrl, () => undefined, { ...PATIENT, connections: CONNECTIONS });
const replica = world.aReplica({ database });
afterAll(async () => {
  await database.close();
  await world.stop();
});

test('six connections serve twelve concurrent requests of all kinds, and are not exceeded', async () => {
  const { secret } = await world.aToken({ role: 'admin' });
  const api = replica.api(`Bearer ${secret}`);
  const { email, password } = await world.aUser('viewer');
  let count = 0;
  const aName = () => ({ name: `n-${++count}` });
  const image = { image_name: 'team/app' };
  const requests = [
    () => api.get('/api/v1/deployments'),
    () => api.get('/api/v1/catalog/templates'),
    () => api.post('/api/v1/secrets', { ...aName(), values: { KEY: 'value' } }),
    () => api.post('/api/v1/workloads', { ...aName(), ...image }),
    () => api.post('/api/v1/hosts', { ...aName(), engine: 'docker', endpoint: 'tcp://engine.example.test:2375' }),
    () => replica.api().post('/api/v1/auth/login', { email, password }),
  ];
  const statuses = new Set<number | undefined>();
  // Of the other pools of this test.
  const idle = await mostConnections(world.databaseUrl, async () => undefined);
  const most = await mostConnections(world.databaseUrl, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const sent = Array.from({ length: CONCURRENT }, (_, i) => requests[i % requests.length]?.());
      for (const response of await Promise.all(sent)) statuses.add(response?.status);
    }
  });
  expect([...statuses].sort()).toEqual([200, 201]);
  expect(most).toBeLessThanOrEqual(idle + CONNECTIONS);
});
