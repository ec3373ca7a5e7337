import { queryOn, testDatabaseOutage, testTimeouts } from '@svc/testing/faults';
import { poolLimits } from '../../src/database/client.ts';
import { openLedger } from './identity-ledger.ts';
import { anAdminToken, prepareFleetFaults } from './identity-world.ts';

const { aPostgres, aFleet } = prepareFleetFaults();

testDatabaseOutage(async () => {
  const postgres = await aPostgres();
  const { databaseUrl } = postgres;
  const fleet = await aFleet({ databaseUrl });
  const ledger = openLedger({ url: () => fleet.url, secret: await anAdminToken(databaseUrl) });
  const query = queryOn(databaseUrl);
  const wrong = async () => [...(await ledger.lost(query)), ...(await ledger.misrecorded(query))];
  const readers = ['/api/v1/tokens', '/api/v1/catalog/templates', '/healthz'].map(ledger.reader);
  return { postgres, service: fleet, ledger, readers, wrong };
});

testTimeouts(poolLimits);
