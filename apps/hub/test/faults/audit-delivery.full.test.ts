import { fromFull, LONG_TEST_MS } from '@svc/testing';
import { deliverThroughKills, patientUrl } from '@svc/testing/faults';
import { prepareHubFaults } from './world.ts';

const { aDatabase, aFolder, anIssuer, aHub } = prepareHubFaults();

test(
  'audit entries of a hub arrive at a syslog receiver, each and in order per actor, although both are killed repeatedly',
  async () => {
    const databaseUrl = await aDatabase();
    const { issuer } = await anIssuer();
    await deliverThroughKills({
      ...{ databaseUrl, folder: aFolder(), actor: 'email', entries: 10_000 },
      kills: fromFull({ full: 2, long: 10 }),
      start: (environment, port) =>
        aHub({ databaseUrl: patientUrl(databaseUrl), issuer, environment, ...(port && { port }) }),
    });
  },
  LONG_TEST_MS,
);
