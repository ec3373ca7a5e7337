import { fromFull, LONG_TEST_MS } from '@svc/testing';
import { deliverThroughKills, patientUrl } from '@svc/testing/faults';
import { prepareFleetFaults } from './identity-world.ts';

const { aDatabase, aFolder, aFleet } = prepareFleetFaults();

test(
  'audit entries of a fleet arrive at a syslog receiver, each and in order per actor, although both are killed repeatedly',
  async () => {
    const databaseUrl = await aDatabase();
    await deliverThroughKills({
      ...{ databaseUrl, folder: aFolder(), actor: 'actor', entries: 10_000 },
      kills: fromFull({ full: 2, long: 10 }),
      start: (environment, port) =>
        aFleet({ databaseUrl: patientUrl(databaseUrl), environment, ...(port && { port }) }),
    });
  },
  LONG_TEST_MS,
);
