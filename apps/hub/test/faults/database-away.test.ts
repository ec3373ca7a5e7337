import { ask, testDatabaseAway, testPatience } from '@svc/testing/faults';
import { poolLimits } from '../../src/database/client.ts';
import { openLedger } from './ledger.ts';
import { adminOf, makeCategory, prepareHubFaults } from './world.ts';

const { aPostgres, anIssuer, aHub } = prepareHubFaults();

testDatabaseAway(async () => {
  const issuer = await anIssuer();
  const postgres = await aPostgres();
  const hub = await aHub({ databaseUrl: postgres.databaseUrl, issuer: issuer.issuer });
  const admin = await adminOf(issuer);
  const ledger = openLedger({ url: () => hub.url, admin, categoryId: await makeCategory(hub, admin) });
  const get =
    (path: string, asked = {}) =>
    () =>
      ask(`${hub.url}${path}`, asked);
  const readers = [
    get('/api/v1/catalog/templates'),
    get('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z'),
    get('/api/v1/catalog/categories', { authorization: admin }),
    get('/api/v1/admin/templates', { authorization: admin }),
    get('/readyz'),
  ];
  return { postgres, service: hub, ledger, readers, wrong: ledger.lost };
});

testPatience(poolLimits);
