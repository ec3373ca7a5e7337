import { ask, patientUrl, upgradeUnderLoad } from '@svc/testing/faults';
import { openLedger } from './ledger.ts';
import { adminOf, createCategory, prepareHubFaults } from './world.ts';

const { aDatabase, anIssuer, aHub } = prepareHubFaults();

test('no request fails while the database is migrated and two hubs are replaced, if the client honors readiness', async () => {
  const databaseUrl = patientUrl(await aDatabase());
  const issuer = await anIssuer();
  const admin = await adminOf(issuer);
  const ledger = await upgradeUnderLoad({
    databaseUrl,
    start: (port) =>
      aHub({
        databaseUrl,
        issuer: issuer.issuer,
        ...(port !== undefined && { port }),
        environment: { LOG_LEVEL: 'warn' },
      }),
    prepare: async (url, first) => {
      const ledger = openLedger({ url, admin, categoryId: await createCategory(first, admin) });
      const reader = (path: string) => () => ask(() => `${url()}/api/v1/${path}`, { authorization: admin });
      const readers = ['catalog/templates', 'catalog/categories', 'admin/templates'].map(reader);
      return { ledger, lanes: [ledger.writer('a'), ledger.writer('b'), ...readers] };
    },
  });
  expect(await ledger.lost()).toEqual([]);
});
