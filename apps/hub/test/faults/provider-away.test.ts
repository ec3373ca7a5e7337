import { ask } from '@svc/testing/faults';
import { adminOf, prepareHubFaults } from './world.ts';

const { aDatabase, anIssuer, aHub } = prepareHubFaults();

test('a hub without keys of the issuer answers 503 until the issuer is back, and then needs it no longer', async () => {
  const issuer = await anIssuer();
  const admin = await adminOf(issuer);
  await issuer.goAway();
  const hub = await aHub({ databaseUrl: await aDatabase(), issuer: issuer.issuer }); // ready: it has fetched no key yet
  const templates = (authorization?: string) =>
    ask(`${hub.url}/api/v1/admin/templates`, authorization === undefined ? {} : { authorization });

  expect(await templates(admin)).toMatchObject({ status: 503, retryAfter: '1', body: { code: 'unavailable' } });
  const health = { status: 'degraded', checks: [{ name: 'database', state: 'ok' }, { state: 'degraded' }] };
  expect(await ask(`${hub.url}/readyz`)).toMatchObject({ status: 200, body: health });
  expect((await ask(`${hub.url}/api/v1/catalog/templates`)).status).toBe(200);
  expect((await templates()).status).toBe(401);

  await issuer.comeBack();
  expect((await templates(admin)).status).toBe(200);
  expect(await ask(`${hub.url}/readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } });
  await issuer.goAway();
  expect((await templates(admin)).status).toBe(200);
}, 60_000);
