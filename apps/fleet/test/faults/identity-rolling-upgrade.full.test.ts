import { patientUrl, queryOn, upgradeUnderLoad } from '@svc/testing/faults';
import { openLedger } from './identity-ledger.ts';
import { anAdminToken, prepareFleetFaults } from './identity-world.ts';

const { aDatabase, aFleet } = prepareFleetFaults();

test('no request fails while the database is migrated and two fleet processes are replaced, if the client honors readiness', async () => {
  const databaseUrl = patientUrl(await aDatabase());
  const ledger = await upgradeUnderLoad({
    databaseUrl,
    start: (port) => aFleet({ databaseUrl, ...(port !== undefined && { port }), environment: { LOG_LEVEL: 'warn' } }),
    prepare: async (url) => {
      const ledger = openLedger({ url, secret: await anAdminToken(databaseUrl) });
      const readers = ['tokens', 'deployments', 'hosts'].map((plural) => ledger.reader(`/api/v1/${plural}`));
      return { ledger, lanes: [ledger.writer('a'), ledger.writer('b'), ...readers] };
    },
  });
  expect(await ledger.lost(queryOn(databaseUrl))).toEqual([]);
  expect(await ledger.misrecorded(queryOn(databaseUrl))).toEqual([]);
});
