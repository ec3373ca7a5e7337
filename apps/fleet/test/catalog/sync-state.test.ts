import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { holding } from '@svc/testing/faults';
import { openDatabase } from '../../src/database/client.ts';
import { aTemplate } from '../a-template.ts';
import { refuse, startFakeHub } from '../fake-hub.ts';
import { IMPATIENT, startWorld } from '../world.ts';

const SYNC = '/api/v1/catalog/sync';

const hub = await startFakeHub();
const world = await startWorld({ hub });
afterEach(async () => {
  hub.recover();
  await world.asOperator.post(SYNC);
});
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

const state = async () => (await world.asViewer.get(SYNC)).body;

test('the sync state has the first failure of a sequence in stale_since, and the last one in last_failure', async () => {
  hub.behave(refuse('internal'));
  await world.asOperator.post(SYNC);
  const first = await state();
  hub.behave(refuse('unavailable'));
  await world.asOperator.post(SYNC);
  const second = await state();
  expect(second.stale_since).toBe(first.stale_since);
  expect(second.last_failure.reason).toMatch(/503/);
  expect(Date.parse(second.last_failure.at)).toBeGreaterThan(Date.parse(first.last_failure.at));
});

test('the sync state keeps the last failure after a success, and a new sequence of failures has a new stale_since', async () => {
  hub.behave(refuse('internal'));
  await world.asOperator.post(SYNC);
  const failed = await state();
  hub.recover();
  await world.asOperator.post(SYNC);
  expect(await state()).toMatchObject({ status: 'fresh', stale_since: null, last_failure: failed.last_failure });
  hub.behave(refuse('internal'));
  await world.asOperator.post(SYNC);
  expect(Date.parse((await state()).stale_since)).toBeGreaterThan(Date.parse(failed.stale_since));
});

test('after a failure of the first sync the state is stale, without a success', async () => {
  const fresh = await startWorld({ hub });
  hub.behave(refuse('internal'));
  await fresh.asOperator.post(SYNC);
  const { body } = await fresh.asViewer.get(SYNC);
  await fresh.stop();
  expect(body).toMatchObject({ status: 'stale', last_success_at: null, age_seconds: null, last_sync: null });
});

test('the age in the sync state is that of the last successful sync', async () => {
  await world.asOperator.post(SYNC);
  await world.database.client.$executeRaw`UPDATE catalog_sync SET last_success_at = now() - interval '1 hour'`;
  hub.behave(refuse('internal'));
  await world.asOperator.post(SYNC);
  expect((await state()).age_seconds).toBeGreaterThanOrEqual(3600);
  hub.recover();
  await world.asOperator.post(SYNC);
  expect((await state()).age_seconds).toBeLessThan(3600);
});

test.each([301, 302, 303, 307, 308])(
  'the sync does not follow a redirect (%d), and sends no credential to its target',
  async (status) => {
    const visits: string[] = [];
    const stranger = createServer((req, res) => {
      visits.push(`${req.method} ${req.headers.authorization}`);
      res.end('{}');
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    // A server that listens on a port has an AddressInfo.
    const { port } = stranger.address() as AddressInfo;
    hub.behave(({ res }) => void res.writeHead(status, { Location: `http://127.0.0.1:${port}/` }).end());
    const refused = await world.asOperator.post(SYNC);
    stranger.close();
    expect(refused).toMatchObject({ status: 502, body: { code: 'hub_unreachable' } });
    expect(refused.body.detail).toContain(`redirect (${status})`);
    expect(refused.text).not.toContain(`${port}`);
    expect(visits).toEqual([]);
  },
);

test('a read-only database is not a failure of the hub: the sync is answered 503, and the state stays', async () => {
  await world.asOperator.post(SYNC);
  const { last_failure } = await state();
  hub.publish(aTemplate());
  const database = openDatabase(world.databaseUrl, () => undefined, IMPATIENT);
  const { secret } = await world.aToken({ role: 'operator' });
  const { api } = world.aReplica({ hub, database });
  const refused = await holding(world.databaseUrl, 'LOCK TABLE catalog_templates IN SHARE MODE', async () =>
    api(`Bearer ${secret}`).post(SYNC),
  );
  await database.close();
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(await state()).toMatchObject({ status: 'fresh', last_failure });
});
